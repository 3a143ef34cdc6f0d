"""poly64: the default hash of a token, defined so that numpy hashes every window of a text in a few passes.

A token is read as UTF-16 code units, little-endian, zero-padded to 64-bit words of four units each. With L the
number of its units and w1 … wm its words, all arithmetic modulo 2**64::

    p = L
    for w in words:
        p = p * BASE + w
    h = fmix64(p)

`fmix64` is the finaliser of MurmurHash3 (Appleby, 2010), a bijection: two tokens have the same hash only if their
polynomials p collide, which tokens of up to four units of the same length never do. The 32-bit hash is the upper half
of h. The 128-bit hash has h as its upper half and ``fmix64(p ^ SECOND)`` as its lower half.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from es_simhash.text.units import Units, encode

Words = npt.NDArray[np.uint64]
Positions = npt.NDArray[np.int64]

BASE = 0x9E3779B97F4A7C15
SECOND = 0x6A09E667F3BCC909

_BASE = np.uint64(BASE)
_SECOND = np.uint64(SECOND)
# Of fmix64.
SHIFT = np.uint64(33)
FACTORS = (np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53))

_UNITS_A_WORD = 4
# _MASKS[k] keeps the first k units of a word.
_MASKS = np.array([(1 << 16 * k) - 1 for k in range(_UNITS_A_WORD + 1)], dtype=np.uint64)

# Temporaries of this many words stay below the allocator's threshold for fresh, unmapped pages (128 KiB).
_BLOCK = 1 << 14
_LONG_TOKEN = 256


def fmix64(x: Words) -> Words:
    """Mix each 64-bit word so that every bit of the result depends on every bit of ``x`` (a bijection)."""
    mixed = x.copy()
    _fmix64_in_place(mixed, np.empty_like(mixed))
    return mixed


def finish(p: Words, bits: int) -> Words:
    """Return the hashes of 32, 64 or 128 bits of polynomials ``p``, as codes (see `es_simhash._core.bit_codes`)."""
    if bits == 128:
        return np.stack((fmix64(p), fmix64(p ^ _SECOND)), axis=1)
    high = fmix64(p)
    return high >> np.uint64(32) if bits == 32 else high


def hash_windows(units: Units, n: int, bits: int = 64) -> Words:
    """Hash all ``len(units) - n + 1`` windows of ``n`` units."""
    count = max(len(units) - n + 1, 0)
    words = _words_from_each_unit(units)
    p = np.empty(count, dtype=np.uint64)
    scratch = np.empty(min(count, _BLOCK), dtype=np.uint64)
    for start in range(0, count, _BLOCK):
        block = p[start : start + _BLOCK]
        room = scratch[: len(block)]
        _window_polynomials(block, room, words[start:], n)
        if bits == 64:
            _fmix64_in_place(block, room)
    return p if bits == 64 else finish(p, bits)


def hash_spans(units: Units, starts: Positions, ends: Positions, bits: int = 64) -> Words:
    """Hash the tokens ``units[start:end]``."""
    hashes = np.empty((len(starts), 2) if bits == 128 else len(starts), dtype=np.uint64)
    words = _words_from_each_unit(units)
    for start in range(0, len(starts), _BLOCK):
        block = slice(start, start + _BLOCK)
        hashes[block] = finish(_span_polynomials(words, starts[block], ends[block]), bits)
    return hashes


def hash_tokens(tokens: Sequence[str], bits: int = 64) -> Words:
    """Hash tokens given as strings."""
    units, offsets = encode(tokens)
    return hash_spans(units, offsets[:-1], offsets[1:], bits)


def _words_from_each_unit(units: Units) -> Words:
    """Return the 64-bit words that begin at each unit: a view with a stride of one unit over a zero-padded copy."""
    padded = np.zeros(len(units) + _UNITS_A_WORD, dtype="<u2")
    padded[: len(units)] = units
    return np.ndarray(len(units) + 1, dtype="<u8", buffer=padded, strides=(2,))


def _fmix64_in_place(x: Words, scratch: Words) -> None:
    for factor in (None, *FACTORS):
        if factor is not None:
            np.multiply(x, factor, out=x)
        np.right_shift(x, SHIFT, out=scratch)
        np.bitwise_xor(x, scratch, out=x)


def _window_polynomials(p: Words, scratch: Words, words: Words, n: int) -> None:
    """Write the polynomials of the windows of ``n`` units that begin at ``words[0]``, ``words[1]`` … to ``p``."""
    np.copyto(p, words[: len(p)])
    if n < _UNITS_A_WORD:
        p &= _MASKS[n]
    p += np.uint64(n * BASE % 2**64)
    for done in range(_UNITS_A_WORD, n, _UNITS_A_WORD):
        p *= _BASE
        np.copyto(scratch, words[done : done + len(p)])
        if n - done < _UNITS_A_WORD:
            scratch &= _MASKS[n - done]
        p += scratch


def _span_polynomials(words: Words, starts: Positions, ends: Positions) -> Words:
    lengths = ends - starts
    p = lengths.astype(np.uint64)
    longest = int(lengths.max())
    p *= _BASE
    p += words[starts] & _MASKS.take(np.minimum(lengths, _UNITS_A_WORD))
    for done in range(_UNITS_A_WORD, min(longest, _LONG_TOKEN), _UNITS_A_WORD):
        going = np.flatnonzero(lengths > done)
        kept = _MASKS.take(np.minimum(lengths[going] - done, _UNITS_A_WORD))
        p[going] = p[going] * _BASE + (words[starts[going] + done] & kept)
    for token in np.flatnonzero(lengths > _LONG_TOKEN):
        p[token] = _long_polynomial(p[token], words, int(starts[token]) + _LONG_TOKEN, int(ends[token]))
    return p


def _long_polynomial(p: np.uint64, words: Words, start: int, end: int) -> np.uint64:
    """Go on from ``p`` with the units from ``start``: the sum of word times power of BASE, vectorised."""
    terms = words[start:end:_UNITS_A_WORD].astype(np.uint64)
    terms[-1] &= _MASKS[(end - start - 1) % _UNITS_A_WORD + 1]
    powers = np.full(len(terms) + 1, _BASE)
    powers[0] = 1
    np.multiply.accumulate(powers, out=powers)
    terms *= powers[-2::-1]
    terms[:1] += p * powers[-1:]
    return np.uint64(terms.sum(dtype=np.uint64))
