"""MinHash fingerprints of many documents in memory, found by the bands that they share.

It takes about 400 bytes a document with 36 bands of 3 rows: eight for each key and its place, and those of the id.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash.sketches.bands import Bands
from es_simhash.sketches.hamming import bit_count
from es_simhash.sketches.minhash.common import Signatures
from es_simhash.sketches.minhash.estimate import similarities_of_shares

# The rows of each band, packed into a number: as many bits as are needed of 32 or 64.
Packed: TypeAlias = npt.NDArray[np.unsignedinteger[Any]]

# Pairs whose similarities are estimated at once.
_AT_ONCE = 20_000
# An odd number with which products spread over all bits, of 32 as of 64.
_FACTOR = 0x9E3779B19E3779B1


def packed(bands: Bands, signatures: Signatures) -> Packed:
    """Pack what the keys of bands hold of signatures of shape ``(N, size)``, or wider ones."""
    rows = signatures[:, : bands.size].reshape(len(signatures), bands.count, bands.rows)
    bits = bands.value_bits
    found = np.zeros(rows.shape[:2], dtype=np.uint32 if bands.rows * bits <= 32 else np.uint64)
    for row in range(bands.rows):
        found <<= found.dtype.type(bits)
        found |= (rows[:, :, row] & np.uint32((1 << bits) - 1)).astype(found.dtype)
    return found


class KeyTable:
    """A table of documents with these ``ids``; it stays as it is."""

    def __init__(self, bands: Bands, keys: Packed, ids: list[str]) -> None:
        self.ids = ids
        self.keys = keys
        self._bands = bands
        # A key is looked up in a part of its band's places.
        bits = max(1, len(ids).bit_length() - 1)
        self._shift = keys.dtype.type(8 * keys.itemsize - bits)
        self._places = np.empty((bands.count, len(ids)), dtype=np.uint32)
        self._starts = np.zeros((bands.count, (1 << bits) + 1), dtype=np.uint32)
        for band in range(bands.count):
            parts = self._parts(keys[:, band])
            self._places[band] = np.argsort(parts, kind="stable")
            self._starts[band, 1:] = np.cumsum(np.bincount(parts, minlength=1 << bits))

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.ids)

    def merged(self, other: KeyTable) -> KeyTable:
        """Return the table of the documents of both."""
        return KeyTable(self._bands, np.concatenate([self.keys, other.keys]), self.ids + other.ids)

    def similar(self, keys: Packed, shared: int, least: float) -> list[tuple[int, str]]:
        """Return which documents share this many bands, and are as similar by an estimate: row of ``keys``, and id."""
        first, second = self._sharing(keys, shared)
        found: list[tuple[int, str]] = []
        for start in range(0, len(first), _AT_ONCE):
            some, others = first[start : start + _AT_ONCE], second[start : start + _AT_ONCE]
            near = self._similarities(keys[some], self.keys[others]) >= least
            found += zip(some[near].tolist(), map(self.ids.__getitem__, others[near].tolist()), strict=True)
        return found

    def _parts(self, keys: Packed) -> npt.NDArray[np.int64]:
        # The rows of texts of one topic agree more often than others, so parts are by a hash of all.
        return ((keys * keys.dtype.type(_FACTOR & (2 ** (8 * keys.itemsize) - 1))) >> self._shift).astype(np.int64)

    def _sharing(self, keys: Packed, shared: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the pairs of a row and a place that share at least this many bands."""
        bands = np.broadcast_to(np.arange(self._bands.count), keys.shape).ravel()
        flat = keys.ravel()
        parts = self._parts(flat)
        starts = self._starts[bands, parts].astype(np.int64)
        counts = self._starts[bands, parts + 1] - starts
        which = np.repeat(np.arange(len(flat)), counts)
        within = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
        places = self._places[bands[which], starts[which] + within]
        equal = self.keys[places, bands[which]] == flat[which]
        rows = which[equal] // self._bands.count
        pairs = np.sort(rows * len(self.ids) + places[equal])
        # A pair comes once for each band that is shared; this is faster than `numpy.unique`, which hashes first.
        pairs = pairs[shared - 1 :][pairs[shared - 1 :] == pairs[: len(pairs) - shared + 1]]
        pairs = pairs[np.diff(pairs, prepend=-1) != 0]
        return pairs // max(1, len(self.ids)), pairs % max(1, len(self.ids))

    def _similarities(self, first: Packed, second: Packed) -> npt.NDArray[np.float64]:
        """Estimate similarities as `es_simhash.sketches.minhash.estimate.estimates` does of the rows."""
        bits, rows, number = self._bands.value_bits, self._bands.rows, first.dtype.type
        # A value that is not zero carries into its highest bit (Warren, "Hacker's Delight", 6-1).
        high = number(sum(1 << (row * bits + bits - 1) for row in range(rows)))
        below = number(sum(((1 << (bits - 1)) - 1) << (row * bits) for row in range(rows)))
        differing = first ^ second
        differing = (((differing & below) + below) | differing) & high
        agreeing = self._bands.size - bit_count(differing).sum(axis=1, dtype=np.int64)
        return similarities_of_shares(agreeing / self._bands.size, bits)


class KeyTables:
    """Tables to which documents are added: each is at least `_TIMES` as large as the next, so that there are few."""

    _TIMES, _LARGE = 4, 200_000

    def __init__(self, bands: Bands) -> None:
        self._bands = bands
        self._tables: list[KeyTable] = []

    def add(self, keys: Packed, ids: Sequence[str]) -> None:
        """Add documents."""
        if not len(ids):
            return
        tables = self._tables
        tables.append(KeyTable(self._bands, keys, list(ids)))
        while len(tables) > 1 and len(tables[-2]) < min(self._TIMES * len(tables[-1]), self._LARGE):
            last = tables.pop()
            tables[-1] = tables[-1].merged(last)

    def similar(self, keys: Packed, shared: int, least: float) -> list[tuple[int, str]]:
        """Return which documents share this many bands, and are as similar by an estimate: row of ``keys``, and id."""
        return [pair for table in self._tables for pair in table.similar(keys, shared, least)]
