"""Arrays of numbers: their types, conversions, and the groups that pairs of rows connect.

A group has at least two documents. Its first document, by position, stands for it.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from es_simhash._core.environment import native
from es_simhash.errors import FormatError, HashError, SchemeError

Integers = npt.NDArray[np.int64]
Scalar = TypeVar("Scalar", bound=np.generic)

# glibc's threshold rises to 32 MiB at most.
_KEPT_BYTES = 31 << 20


@cache
def keep_freed_memory() -> None:
    """Let the C library keep up to 62 MiB of freed memory for the next arrays, instead of returning it each time.

    glibc maps new pages for each large array, and the system clears them, which takes longer than most of what is done
    with them here. Once a mapped block is freed, glibc keeps blocks of up to its size, and twice as much in all
    (mallopt(3), M_MMAP_THRESHOLD). This block is never touched, so it costs nothing; elsewhere it has no effect.
    """
    np.empty(_KEPT_BYTES, dtype=np.uint8)


def offsets_from_counts(counts: Integers) -> Integers:
    """Return where each row begins and ends: 0, and the running totals of the rows' lengths."""
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def spread(counts: Integers) -> tuple[Integers, Integers]:
    """Return, for rows of ``counts`` elements, each element's row and its position in it, from 0."""
    rows = np.repeat(np.arange(len(counts)), counts)
    return rows, np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)


def spread_chunks(counts: Integers, limit: int) -> Iterator[tuple[Integers, Integers]]:
    """Yield what `spread` returns, in chunks of at most ``limit`` elements, so that the memory stays bounded."""
    ends = np.cumsum(counts)
    starts = ends - counts
    total = int(ends[-1]) if len(ends) else 0
    for start in range(0, total, limit):
        stop = min(start + limit, total)
        first, last = np.searchsorted(ends, (start, stop - 1), side="right")
        here = slice(first, last + 1)
        sizes = np.minimum(ends[here], stop) - np.maximum(starts[here], start)
        rows = np.repeat(np.arange(first, last + 1), sizes)
        yield rows, np.arange(start, stop) - starts[rows]


def positions_in_rows(counts: Integers) -> Integers:
    """Count up from 0 in each row."""
    return spread(counts)[1]


def rows_of(offsets: Integers) -> Integers:
    """Return the row of each element."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def select(
    values: npt.NDArray[Scalar], offsets: Integers, kept: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[Scalar], Integers]:
    """Return the kept values, and the offsets of what is left of each row."""
    positions = np.flatnonzero(kept)
    return values[positions], np.searchsorted(positions, offsets)


def distinct_numbers(numbers: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """Return each number once, in ascending order. numpy's `unique` would first import what takes long to load."""
    return distinct_sorted(np.sort(numbers, axis=None))


def distinct_sorted(ordered: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """Return each of sorted numbers once."""
    return ordered[are_new(ordered)]


def are_new(*columns: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which rows, given as columns, differ from the one before; the first does."""
    found = np.ones(len(columns[0]), dtype=np.bool_)
    np.not_equal(columns[0][1:], columns[0][:-1], out=found[1:])
    for column in columns[1:]:
        found[1:] |= column[1:] != column[:-1]
    return found


Codes = npt.NDArray[np.uint64]

MAX_BITS = 128
_WORD = 64
_WORD_MASK = (1 << _WORD) - 1


def check_bits(bits: int) -> int:
    """Return ``bits`` if it is a width that codes can have."""
    if not isinstance(bits, int) or isinstance(bits, bool) or not 1 <= bits <= MAX_BITS:
        raise SchemeError(f"A fingerprint cannot have {bits!r} bits. Choose a whole number from 1 to {MAX_BITS}.")
    return bits


def words_per_code(bits: int) -> int:
    """Return the number of 64-bit words in a code of ``bits`` bits."""
    return 1 if bits <= _WORD else 2


def check_codes(codes: Codes, bits: int) -> Codes:
    """Return ``codes`` if it is an array of codes of ``bits`` bits."""
    check_bits(bits)
    wide = words_per_code(bits) == 2
    if codes.dtype != np.uint64 or codes.ndim != 1 + wide or (wide and codes.shape[1] != 2):
        raise HashError(
            f"An array of {codes.dtype} of shape {codes.shape} does not hold codes of {bits} bits. "
            f"Give a uint64 array of shape {'(N, 2)' if wide else '(N,)'}."
        )
    top = codes[:, 0] if wide else codes
    top_bits = bits - 64 if wide else bits
    if len(top) and int(top.max()).bit_length() > top_bits:
        raise HashError(f"A code has more than {bits} bits. Give codes whose unused high bits are zero.")
    return codes


def from_ints(values: Iterable[int], bits: int) -> Codes:
    """Convert Python integers, which must fit into ``bits`` bits, to codes."""
    check_bits(bits)
    try:
        listed = [operator.index(value) for value in values]
    except TypeError:
        raise HashError("A code is not a whole number. Give integers.") from None
    for value in listed:
        if not 0 <= value < 1 << bits:
            raise HashError(f"{value} is not an unsigned integer of {bits} bits. Give values from 0 to 2**{bits} - 1.")
    if words_per_code(bits) == 1:
        return np.array(listed, dtype=np.uint64)
    halves = [(value >> _WORD, value & _WORD_MASK) for value in listed]
    return np.array(halves, dtype=np.uint64).reshape(-1, 2)


def to_ints(codes: Codes) -> list[int]:
    """Convert codes to Python integers."""
    listed: list[Any] = codes.tolist()
    return listed if codes.ndim == 1 else [high << _WORD | low for high, low in listed]


def extract(codes: Codes, bits: int, start: int, width: int) -> Codes:
    """Return ``width`` (1 to 64) bits of each code from position ``start``, as an array of shape ``(N,)``."""
    after = bits - start - width
    mask = np.uint64((1 << width) - 1)
    if codes.ndim == 1:
        return (codes >> np.uint64(after)) & mask
    high, low = codes[:, 0], codes[:, 1]
    if after >= _WORD:
        return (high >> np.uint64(after - _WORD)) & mask
    part = low >> np.uint64(after)
    if after and after + width > _WORD:
        part = part | (high << np.uint64(_WORD - after))
    return part & mask


HEX = "0123456789abcdef"
BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def code_points(values: npt.NDArray[np.uint64], digits: int, alphabet: str) -> npt.NDArray[np.uint32]:
    """Write the last ``digits`` digits of each value, most significant first, as code points on a new last axis.

    The alphabet's length is a power of two (`HEX` or `BASE64URL`).
    """
    places = (values[..., np.newaxis] >> _shifts(digits, len(alphabet))) & np.uint64(len(alphabet) - 1)
    return _points(alphabet)[places.view(np.intp)]


def values_of(text: str, digits: int, alphabet: str) -> npt.NDArray[np.uint64]:
    """Read the numbers that `code_points` wrote with ``digits`` digits each, one after the other."""
    # Anything not ASCII becomes a question mark, which is not a digit.
    read = _places(alphabet)[np.frombuffer(text.encode("ascii", "replace"), dtype=np.uint8)]
    if len(read) % digits or (len(read) and read.max() == len(alphabet)):
        raise FormatError(f"Not numbers of {digits} digits of {alphabet!r}. Read them again.")
    return np.bitwise_or.reduce(read.reshape(-1, digits) << _shifts(digits, len(alphabet)), axis=1)


@cache
def _shifts(digits: int, base: int) -> npt.NDArray[np.uint64]:
    """Return how far to shift a number so that each of its digits comes last."""
    bits = base.bit_length() - 1
    return np.arange((digits - 1) * bits, -1, -bits, dtype=np.uint64)


@cache
def _points(alphabet: str) -> npt.NDArray[np.uint32]:
    """Return the code point of each digit."""
    return np.array([ord(digit) for digit in alphabet], dtype=np.uint32)


@cache
def _places(alphabet: str) -> npt.NDArray[np.uint64]:
    """Return the value of each byte as a digit; of no digit, one more than the largest."""
    places = np.full(256, len(alphabet), dtype=np.uint64)
    places[_points(alphabet)] = np.arange(len(alphabet), dtype=np.uint64)
    return places


def strings(points: npt.NDArray[np.uint32]) -> npt.NDArray[np.str_]:
    """Return the texts whose code points lie along the last axis."""
    texts: npt.NDArray[np.str_] = np.ascontiguousarray(points).view(f"U{points.shape[-1]}")[..., 0]
    return texts


def joined(points: npt.NDArray[np.uint32]) -> list[str]:
    """Join each row of texts, whose code points lie along the last axis, with spaces."""
    spaced = np.insert(points, 0, ord(" "), axis=-1)
    rows: list[str] = strings(spaced.reshape(len(points), -1)[:, 1:]).tolist()
    return rows


def base36(value: int, digits: int) -> str:
    """Write ``value`` in lower-case base 36, padded with zeros to ``digits`` digits."""
    return np.base_repr(value, 36).lower().zfill(digits)


Positions = npt.NDArray[Any]


class UnionFind:
    """The groups of ``count`` documents, to which pairs are added in arrays; it takes 4 bytes a document.

    Every document points to an earlier one of its group, or to itself if it is the first, the root. A round over some
    pairs halves the paths to their roots until they are one step long, then lets the later root of each pair point to
    the earlier one.
    """

    def __init__(self, count: int) -> None:
        kernels = native()
        self._compiled: Any = kernels.Components(count) if kernels and count < 1 << 32 else None
        if self._compiled is None:
            self._parents = np.arange(count, dtype=np.uint32 if count <= 1 << 32 else np.int64)

    def union(self, first: Positions, second: Positions) -> None:
        """Put the documents of each pair into one group."""
        if self._compiled is not None:
            self._compiled.union(*(np.ascontiguousarray(side, dtype=np.uint32) for side in (first, second)))
            return
        while len(first):
            first, second = self._roots(first), self._roots(second)
            apart = first != second
            first, second = first[apart], second[apart]
            # A root that several pairs link to others takes the earliest; the next round links these.
            np.minimum.at(self._parents, np.maximum(first, second), np.minimum(first, second))

    def groups(self) -> Components:
        """Return the groups so far."""
        return Components(self._roots(slice(None)) if self._compiled is None else self._compiled.firsts())

    def _roots(self, documents: Positions | slice) -> Positions:
        """Find the roots of documents, or of all; afterwards these point straight to their roots."""
        while True:
            parents: Positions = self._parents[documents]
            grandparents: Positions = self._parents[parents]
            if np.array_equal(parents, grandparents):
                return parents
            self._parents[documents] = grandparents


class Components:
    """The groups of documents; ``firsts`` has, for each, the position of its group's first, or its own.

    The first stands for the group; it need not have the lowest position.
    """

    def __init__(self, firsts: Positions) -> None:
        self.firsts = firsts

    @cached_property
    def _members(self) -> tuple[Integers, Integers]:
        """The documents of all groups, those of a group together, and where each group begins."""
        later = np.flatnonzero(self.firsts != np.arange(len(self.firsts), dtype=self.firsts.dtype))
        heads = self.firsts[later]
        members = np.concatenate([later, distinct_numbers(heads).astype(np.int64)])
        firsts = self.firsts[members]
        members = members[np.lexsort((members, firsts != members, firsts))]
        return members, np.flatnonzero(self.firsts[members] == members)

    def __len__(self) -> int:
        """Return the number of groups."""
        return len(self._members[1])

    def __iter__(self) -> Iterator[list[int]]:
        """Yield the positions of each group, its first document before the others, in the order of first documents."""
        members, starts = self._members
        for start, stop in pairwise([*starts.tolist(), len(members)]):
            yield members[start:stop].tolist()
