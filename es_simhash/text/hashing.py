"""The hash functions of features: their registry, and those that are ours."""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

import numpy as np

from es_simhash._core import arrays
from es_simhash._core.arrays import Codes, Integers
from es_simhash._core.environment import by_kernels
from es_simhash.errors import HashError, MissingExtraError, SchemeError
from es_simhash.text.features import Units, encode

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


def fmix64(x: Codes) -> Codes:
    """Mix each 64-bit word so that every bit of the result depends on every bit of ``x`` (a bijection)."""
    mixed = x.copy()
    _fmix64_in_place(mixed, np.empty_like(mixed))
    return mixed


def finish(p: Codes, bits: int) -> Codes:
    """Return the hashes of 32, 64 or 128 bits of polynomials ``p``, as codes (see `es_simhash._core.arrays`)."""
    if bits == 128:
        return np.stack((fmix64(p), fmix64(p ^ _SECOND)), axis=1)
    high = fmix64(p)
    return high >> np.uint64(32) if bits == 32 else high


def hash_windows(units: Units, n: int, bits: int = 64) -> Codes:
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


def hash_spans(units: Units, starts: Integers, ends: Integers, bits: int = 64) -> Codes:
    """Hash the tokens ``units[start:end]``."""
    hashes = np.empty((len(starts), 2) if bits == 128 else len(starts), dtype=np.uint64)
    words = _words_from_each_unit(units)
    for start in range(0, len(starts), _BLOCK):
        block = slice(start, start + _BLOCK)
        hashes[block] = finish(_span_polynomials(words, starts[block], ends[block]), bits)
    return hashes


def hash_tokens(tokens: Sequence[str], bits: int = 64) -> Codes:
    """Hash tokens given as strings."""
    units, offsets = encode(tokens)
    return hash_spans(units, offsets[:-1], offsets[1:], bits)


def _words_from_each_unit(units: Units) -> Codes:
    """Return the 64-bit words that begin at each unit: a view with a stride of one unit over a zero-padded copy."""
    padded = np.zeros(len(units) + _UNITS_A_WORD, dtype="<u2")
    padded[: len(units)] = units
    return np.ndarray(len(units) + 1, dtype="<u8", buffer=padded, strides=(2,))


def _fmix64_in_place(x: Codes, scratch: Codes) -> None:
    for factor in (None, *FACTORS):
        if factor is not None:
            np.multiply(x, factor, out=x)
        np.right_shift(x, SHIFT, out=scratch)
        np.bitwise_xor(x, scratch, out=x)


def _window_polynomials(p: Codes, scratch: Codes, words: Codes, n: int) -> None:
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


def _span_polynomials(words: Codes, starts: Integers, ends: Integers) -> Codes:
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


def _long_polynomial(p: np.uint64, words: Codes, start: int, end: int) -> np.uint64:
    """Go on from ``p`` with the units from ``start``: the sum of word times power of BASE, vectorised."""
    terms = words[start:end:_UNITS_A_WORD].astype(np.uint64)
    terms[-1] &= _MASKS[(end - start - 1) % _UNITS_A_WORD + 1]
    powers = np.full(len(terms) + 1, _BASE)
    powers[0] = 1
    np.multiply.accumulate(powers, out=powers)
    terms *= powers[-2::-1]
    terms[:1] += p * powers[-1:]
    return np.uint64(terms.sum(dtype=np.uint64))


_MASK = 0xFFFFFFFF
_MIX_ROTATIONS = (4, 6, 8, 16, 19, 4)
_FINAL_ROTATIONS = (14, 11, 25, 16, 4, 14, 24)


def lookup3(data: bytes, bits: int) -> int:
    """Return the hash of ``data``."""
    c, b = _hashlittle2(data, 0, 0)
    if bits == 32:
        return c
    high = c << 32 | b
    if bits == 64:
        return high
    second_c, second_b = _hashlittle2(data, c, b)
    return high << 64 | second_c << 32 | second_b


def _rotate(x: int, k: int) -> int:
    return (x << k | x >> (32 - k)) & _MASK


def _hashlittle2(data: bytes, seed_c: int, seed_b: int) -> tuple[int, int]:
    a = b = c = (0xDEADBEEF + len(data) + seed_c) & _MASK
    c = (c + seed_b) & _MASK
    if not data:
        return c, b
    full = (len(data) - 1) // 12 * 12
    for start in range(0, full, 12):
        a, b, c = _add_block(data[start : start + 12], a, b, c)
        a, b, c = _mix(a, b, c)
    a, b, c = _add_block(data[full:].ljust(12, b"\0"), a, b, c)
    return _final(a, b, c)


def _add_block(block: bytes, a: int, b: int, c: int) -> tuple[int, int, int]:
    x, y, z = (int.from_bytes(block[i : i + 4], "little") for i in (0, 4, 8))
    return (a + x) & _MASK, (b + y) & _MASK, (c + z) & _MASK


def _mix(a: int, b: int, c: int) -> tuple[int, int, int]:
    for k in _MIX_ROTATIONS:
        a, b, c = b, (c + b) & _MASK, ((a - c) & _MASK) ^ _rotate(c, k)
    return a, b, c


def _final(a: int, b: int, c: int) -> tuple[int, int]:
    """Mix the last block; the two results are c and b."""
    for k in _FINAL_ROTATIONS:
        a, b, c = b, c, a
        b = ((b ^ a) - _rotate(a, k)) & _MASK
    return b, a


WIDTHS = (32, 64, 128)
DEFAULT = "poly64"

BytesHash = Callable[[bytes, int], int]
TokenHash = Callable[[str], int]

# Prime and offset basis of FNV-1a by width.
_FNV1A = {
    32: (0x01000193, 0x811C9DC5),
    64: (0x00000100000001B3, 0xCBF29CE484222325),
    128: (0x0000000001000000000000000000013B, 0x6C62272E07BB014262B821756295C58D),
}


@dataclass(frozen=True)
class HashFunction:
    """A named hash function; ``hash_tokens`` returns the codes of tokens, of the given number of bits.

    ``bits`` is the only width that a caller's own function has; the functions of this package have all `WIDTHS`.
    ``is_mixed`` means that every bit of a hash depends on all of the token, as MinHash requires: the high bits of
    FNV-1a hardly depend on the ends of short tokens, and a caller's function may be anything.
    """

    name: str
    hash_tokens: Callable[[Sequence[str], int], Codes]
    bits: int | None = None
    is_mixed: bool = True


def hash_function(name: str) -> HashFunction:
    """Return the hash function of that name; an unknown one is a `SchemeError`."""
    try:
        return HASH_FUNCTIONS[name]
    except (KeyError, TypeError):
        raise SchemeError(f"Unknown hash function {name!r}. Choose from: {', '.join(HASH_FUNCTIONS)}.") from None


def custom_hash(name: str, function: TokenHash, bits: int = 64) -> HashFunction:
    """Wrap a caller's function from a token to an unsigned integer of ``bits`` bits (1 to 128).

    The name represents the function in a scheme's id: give a changed function another name.
    """
    if name in HASH_FUNCTIONS:
        raise SchemeError(f"{name!r} is the name of a built-in hash function. Choose another name for your own.")
    return HashFunction(name, _OfTokens(name, function, arrays.check_bits(bits)), bits, is_mixed=False)


@dataclass(frozen=True)
class _OfTokens:
    """A caller's function, whose values are moved to the most significant bits of whole words."""

    name: str
    function: TokenHash
    bits: int

    def __call__(self, tokens: Sequence[str], _: int) -> Codes:
        width = 64 * arrays.words_per_code(self.bits)
        return arrays.from_ints((value << (width - self.bits) for value in _memoised(tokens, self._value)), width)

    def _value(self, token: str) -> int:
        value = self.function(token)
        try:
            number = operator.index(value)
        except TypeError:
            number = -1
        if 0 <= number < 1 << self.bits and not isinstance(value, bool):
            return number
        raise HashError(
            f"The hash function {self.name!r} returned {value!r} for the token {token!r}. "
            f"It must return an integer from 0 to 2**{self.bits} - 1."
        )


@dataclass(frozen=True)
class _OfBytes:
    """The function of a token's UTF-8 bytes that has this name."""

    name: str

    def __call__(self, tokens: Sequence[str], bits: int) -> Codes:
        made = by_kernels(lambda kernels: cast("Codes", kernels.hash_tokens(list(tokens), self.name, bits)))
        if made is not None:
            return made
        function = _OF_BYTES[self.name]
        return arrays.from_ints(_memoised(tokens, lambda token: function(token.encode(), bits)), bits)


def _memoised(tokens: Sequence[str], function: Callable[[str], int]) -> list[int]:
    """Call the function once for each distinct token: texts repeat their tokens."""
    known = {token: function(token) for token in dict.fromkeys(tokens)}
    return [known[token] for token in tokens]


def _fnv1a(data: bytes, bits: int) -> int:
    prime, value = _FNV1A[bits]
    for byte in data:
        value = (value ^ byte) * prime % (1 << bits)
    return value


def _digest(algorithm: str, data: bytes, bits: int) -> int:
    """Return the first bits of a cryptographic digest."""
    digest = hashlib.new(algorithm, data, usedforsecurity=False).digest()
    return int.from_bytes(digest[: bits // 8], "big")


def _murmur3(data: bytes, bits: int) -> int:
    try:
        import mmh3
    except ImportError:
        raise MissingExtraError("mmh3, which computes MurmurHash3,", "murmur3") from None
    if bits == 32:
        return int(mmh3.hash(data, signed=False))
    first, second = mmh3.hash64(data, signed=False)
    return int(first) if bits == 64 else int(first) << 64 | int(second)


_OF_BYTES: dict[str, BytesHash] = {
    "murmur3": _murmur3,
    "fnv1a": _fnv1a,
    **{name: partial(_digest, name) for name in ("md5", "sha1", "sha256")},
    "jenkins": lookup3,
}

HASH_FUNCTIONS: dict[str, HashFunction] = {
    DEFAULT: HashFunction(DEFAULT, hash_tokens),
    **{name: HashFunction(name, _OfBytes(name), is_mixed=name != "fnv1a") for name in _OF_BYTES},
}
