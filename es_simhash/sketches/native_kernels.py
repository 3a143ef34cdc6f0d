"""Loops for numba to compile; see `es_simhash._core.native`. Importing this module needs numba."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from es_simhash.sketches.minhash.common import EMPTY
from es_simhash.text.hashing import poly64

Words = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]
Units = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]
Number = Any  # a scalar of the compiled code


def _compile(loop: Any) -> Any:
    """Compile when first called; keep what was compiled on disk, if there is a folder to write to."""
    try:
        return njit(cache=True, nogil=True)(loop)
    except RuntimeError:
        return njit(nogil=True)(loop)


_inline = njit(inline="always")

_BASE = np.uint64(poly64.BASE)
_SHIFT, (_FACTOR_1, _FACTOR_2) = poly64.SHIFT, poly64.FACTORS
_ALL, _EVERY_8TH, _BYTE = np.uint64(2**64 - 1), np.uint64(0x0101010101010101), np.uint64(0xFF)
_0, _1, _2, _3, _4, _5, _6, _7, _8, _16, _32, _48 = (np.uint64(i) for i in (*range(9), 16, 32, 48))
# A byte can count this many hashes.
_RUN = 255


@_compile
def look_up(table: npt.NDArray[np.uint16], units: Units) -> npt.NDArray[np.uint16]:
    """Return ``table.take(units)``, without making indices of 64 bits first."""
    found = np.empty(len(units), np.uint16)
    for i in range(len(units)):
        found[i] = table[units[i]]
    return found


@_compile
def map_ascii(data: npt.NDArray[np.uint8], casefold: bool, whitespace: bool) -> npt.NDArray[np.uint8]:
    """See `es_simhash.text.normalise_batch`: letters in lower case, and all white space as spaces."""
    mapped = np.empty(len(data), np.uint8)
    for i in range(len(data)):
        c = data[i]
        is_upper = casefold & (c >= 65) & (c <= 90)
        is_space = whitespace & ((c >= 9) & (c <= 13) | (c >= 28) & (c <= 31))
        mapped[i] = 32 if is_space else c + 32 * is_upper
    return mapped


@_inline
def _fmix64(x: Number) -> Number:
    x = (x ^ (x >> _SHIFT)) * _FACTOR_1
    x = (x ^ (x >> _SHIFT)) * _FACTOR_2
    return x ^ (x >> _SHIFT)


@_inline
def _hash_span(units: Units, start: Number, end: Number) -> Number:
    """Hash one token. Indices are unsigned, because numba lets signed ones count from the end."""
    p = end - start
    i = start
    while i < end:
        word = np.uint64(units[i])
        if i + _3 < np.uint64(len(units)):
            word |= _unit(units, i + _1, _16) | _unit(units, i + _2, _32) | _unit(units, i + _3, _48)
        else:
            for later in range(i + _1, end):
                word |= _unit(units, later, (later - i) * _16)
        p = p * _BASE + (word & _first_units(end - i))
        i += _4
    return _fmix64(p)


@_inline
def _unit(units: Units, i: Number, shift: Number) -> Number:
    return np.uint64(units[i]) << shift


@_inline
def _first_units(n: Number) -> Number:
    """Return the mask of the first n units of a word, of at most four."""
    return _ALL >> (_16 * (_4 - min(n, _4)))


@_compile
def hash_spans(units: Units, starts: Integers, ends: Integers) -> Words:
    """See `es_simhash.text.hashing.poly64.hash_spans`, for 64 bits."""
    hashes = np.empty(len(starts), np.uint64)
    for i in range(len(starts)):
        hashes[i] = _hash_span(units, np.uint64(starts[i]), np.uint64(ends[i]))
    return hashes


@_compile
def hash_windows(units: Units, offsets: Integers, counts: Integers, n: int) -> Words:
    """Hash the first ``counts`` windows of ``n`` units of each text; a shorter text is its only window."""
    hashes = np.empty(counts.sum(), np.uint64)
    longest, at = 0, 0
    for text in range(len(counts)):
        longest = max(longest, offsets[text + 1] - offsets[text])
    words = np.zeros(longest + min(n, longest) + 4, np.uint64)
    for text in range(len(counts)):
        start, end, count = offsets[text], offsets[text + 1], counts[text]
        if end - start < n and count:
            hashes[at] = _hash_span(units, np.uint64(start), np.uint64(end))
        elif count:
            _words_from_each_unit(units[start:end], words)
            _hash_words(words, n, hashes[at : at + count])
        at += count
    return hashes


@_compile
def _words_from_each_unit(units: Units, words: Words) -> None:
    """Return the words of four units that begin at each unit, by simple loops that become vector instructions."""
    length = len(units)
    for i in range(length):
        words[i] = np.uint64(units[i])
    words[length : length + 4] = _0
    for i in range(length):
        words[i] |= words[i + 1] << _16
    for i in range(length):
        words[i] |= words[i + 2] << _32


@_compile
def _hash_words(words: Words, n: int, hashes: Words) -> None:
    count = len(hashes)
    length, kept = np.uint64(n) * _BASE, _first_units(np.uint64(n))
    for i in range(count):
        hashes[i] = length + (words[i] & kept)
    for done in range(4, n, 4):
        later, kept = words[done : done + count], _first_units(np.uint64(n - done))
        for i in range(count):
            hashes[i] = hashes[i] * _BASE + (later[i] & kept)
    for i in range(count):
        hashes[i] = _fmix64(hashes[i])


@_compile
def distinct(hashes: Words, offsets: Integers) -> tuple[Words, Integers]:
    """See `es_simhash.text.features.distinct`: open addressing, with one table for all documents."""
    most = 1
    for document in range(len(offsets) - 1):
        most = max(most, offsets[document + 1] - offsets[document])
    bits = 2
    while (1 << bits) < 2 * most:
        bits += 1
    mask, shift = (1 << bits) - 1, np.uint64(64 - bits)
    # Where in `kept` the feature of each place stands. One before the document's own is a leftover: a free place.
    table = np.full(1 << bits, -1, np.int32)
    kept = np.empty_like(hashes)
    kept_offsets = np.zeros_like(offsets)
    at = 0
    for document in range(len(offsets) - 1):
        first = at
        for i in range(offsets[document], offsets[document + 1]):
            h = hashes[i]
            place = np.int64((h * _BASE) >> shift)  # a caller's hashes may differ in their low bits only
            while table[place] >= first and kept[table[place]] != h:
                place = (place + 1) & mask
            if table[place] < first:
                table[place] = at
                kept[at] = h
                at += 1
        kept_offsets[document + 1] = at
    return kept[:at].copy(), kept_offsets


@_inline
def _add(a: Number, b: Number, c: Number) -> Number:
    """Add three words bit by bit: sums and carries."""
    both = a ^ b
    return both ^ c, (a & b) | (both & c)


@_compile
def bit_counts(hashes: Words, offsets: Integers) -> Integers:
    """See `es_simhash.sketches.bit_counts.bit_counts`."""
    counts = np.zeros((len(offsets) - 1, 64), np.int64)
    for document in range(len(offsets) - 1):
        for start in range(offsets[document], offsets[document + 1], _RUN):
            _count_run(counts[document], hashes, start, min(start + _RUN, offsets[document + 1]))
    return counts


@_compile
def _count_run(row: Integers, hashes: Words, start: int, end: int) -> None:
    """Count up to `_RUN` hashes: eight are added up before their eights are counted, in the bytes of words."""
    ones, twos, fours = _0, _0, _0
    lanes = (_0, _0, _0, _0, _0, _0, _0, _0)
    i = start
    while i + 8 <= end:
        ones, two_a = _add(ones, hashes[i], hashes[i + 1])
        ones, two_b = _add(ones, hashes[i + 2], hashes[i + 3])
        ones, two_c = _add(ones, hashes[i + 4], hashes[i + 5])
        ones, two_d = _add(ones, hashes[i + 6], hashes[i + 7])
        twos, four_a = _add(twos, two_a, two_b)
        twos, four_b = _add(twos, two_c, two_d)
        fours, eight = _add(fours, four_a, four_b)
        lanes = _count_in_lanes(lanes, eight)
        i += 8
    lanes = _doubled(lanes)
    lanes = _doubled(_count_in_lanes(lanes, fours))
    lanes = _doubled(_count_in_lanes(lanes, twos))
    lanes = _count_in_lanes(lanes, ones)
    while i < end:
        lanes = _count_in_lanes(lanes, hashes[i])
        i += 1
    for lane in range(8):
        for byte in range(8):
            row[8 * byte + lane] += np.int64((lanes[lane] >> (np.uint64(byte) * _8)) & _BYTE)


@_inline
def _doubled(lanes: Number) -> Number:
    a, b, c, d, e, f, g, h = lanes
    return a << _1, b << _1, c << _1, d << _1, e << _1, f << _1, g << _1, h << _1


@_inline
def _count_in_lanes(lanes: Number, h: Number) -> Number:
    """Count every eighth bit in the bytes of one word: lane j has the bits j, j + 8, j + 16, …"""
    a, b, c, d, e, f, g, i = lanes
    return (
        a + (h & _EVERY_8TH),
        b + ((h >> _1) & _EVERY_8TH),
        c + ((h >> _2) & _EVERY_8TH),
        d + ((h >> _3) & _EVERY_8TH),
        e + ((h >> _4) & _EVERY_8TH),
        f + ((h >> _5) & _EVERY_8TH),
        g + ((h >> _6) & _EVERY_8TH),
        i + ((h >> _7) & _EVERY_8TH),
    )


@_compile
def simple_words(
    units: Units, offsets: Integers, traits_of: npt.NDArray[np.uint8], joins: int, middles: int, in_word: int
) -> tuple[Integers, Integers, int]:
    """See `text.tokens.words`: the starts and ends of words by the simple rules, and all traits that were met.

    Simple loops over bytes, so that they become vector instructions, and no branches, which processors could not
    foresee: every unit writes a start and an end, and the next one overwrites them unless they were one.
    """
    traits, met = _traits_with_joined_middles(units, offsets, traits_of, np.uint8(joins), np.uint8(joins | middles))
    is_start, is_end = _edges(traits, offsets, np.uint8(joins), np.uint8(in_word))
    starts, ends = np.empty(is_start.sum() + 1, np.int64), np.empty(is_end.sum() + 1, np.int64)
    started, ended = _0, _0
    for i in range(len(is_start)):
        starts[started] = i
        started += np.uint64(is_start[np.uint64(i)])
        ends[ended] = i
        ended += np.uint64(is_end[np.uint64(i)])
    return starts[:-1], ends[:-1], met


@_compile
def _traits_with_joined_middles(
    units: Units, offsets: Integers, traits_of: npt.NDArray[np.uint8], joins: Number, common: Number
) -> Any:
    count = len(units)
    padded = np.zeros(count + 2, np.uint8)
    for i in range(count):
        padded[i + 1] = traits_of[units[i]]
    before, here, after = padded[:count], padded[1 : count + 1], padded[2:]
    met = np.uint8(0)
    for i in range(count):
        met |= here[i]
    joined = np.empty(count, np.uint8)
    for i in range(count):
        joined[i] = joins * np.uint8((before[i] & after[i] & (here[i] | joins) & common) > joins)
    for text in range(len(offsets) - 1):
        if offsets[text] < offsets[text + 1]:
            joined[offsets[text]] = joined[offsets[text + 1] - 1] = 0
    for i in range(count):
        joined[i] |= here[i]
    return joined, np.int64(met)


@_compile
def _edges(traits: npt.NDArray[np.uint8], offsets: Integers, joins: Number, in_word: Number) -> Any:
    """Return whether a word starts at each unit, and whether one ends before it."""
    count = len(traits)
    is_start, is_end = np.zeros(count + 1, np.uint8), np.zeros(count + 1, np.uint8)
    before, here, inner_start, inner_end = traits[:-1], traits[1:], is_start[1:-1], is_end[1:-1]
    for i in range(count - 1):
        apart = before[i] & here[i] < joins
        inner_start[i] = apart & (here[i] >= in_word)
        inner_end[i] = apart & (before[i] >= in_word)
    for text in range(len(offsets) - 1):
        first, end = offsets[text], offsets[text + 1]
        if first < end:
            is_start[first] = traits[first] >= in_word
            is_end[end] = traits[end - 1] >= in_word
    return is_start, is_end


@_compile
def fill_bins(rows: npt.NDArray[np.uint32], hashes: Words, offsets: Integers) -> None:
    """See `es_simhash.sketches.minhash.one_permutation`: the smallest value of each bin."""
    size = np.uint64(rows.shape[1])
    for document in range(len(offsets) - 1):
        for i in range(offsets[document], offsets[document + 1]):
            h = hashes[i]
            place = np.int64((h >> _32) * size >> _32)
            value = np.uint32(h)
            rows[document, place] = min(rows[document, place], value)


@_compile
def densify(rows: npt.NDArray[np.uint32], sequences: npt.NDArray[np.uint16], sparse: int) -> None:
    """See `sketches.minhash.one_permutation`: fill the empty bins of rows without too many of them."""
    size = rows.shape[1]
    before = np.empty(size, np.uint32)
    for document in range(len(rows)):
        row, empty = rows[document], 0
        for i in range(size):
            before[i] = row[i]
            empty += row[i] == EMPTY
        if empty == 0 or (size - empty) * sparse < size:
            continue
        for i in range(size):
            step = 1
            while row[i] == EMPTY:
                row[i] = before[sequences[i, step]]
                step += 1
