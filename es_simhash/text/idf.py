"""Inverse document frequencies: how much a feature characterises a document, learnt from a corpus.

    idf(feature) = ln((documents + 1) / (documents with the feature + 1)) + 1

(the smoothed form of Spärck Jones, 1972). Weights are whole multiples of 1 / `UNIT`, so their sums are exact and the
same on every machine. A table is named by the SHA-256 of its weights.

The bytes are: `MAGIC`; a line of JSON with the numbers of documents and features and the weight of unseen features;
the features' 64-bit hashes in ascending order, 8 bytes each; their weights, 4 bytes each; all little-endian.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import distinct_numbers
from es_simhash._core.bit_codes import Codes
from es_simhash._core.json_codec import parse_json
from es_simhash.errors import FormatError, InputError
from es_simhash.text.features import FeatureBatch, distinct

UNIT = 256
MAGIC = b"es_simhash idf 1\n"

_MERGED_AT_LEAST = 1 << 20


@dataclass(frozen=True, eq=False)
class IdfTable:
    """The weights of features, by their 64-bit hashes; ``unseen`` is the weight of all others."""

    documents: int
    hashes: npt.NDArray[np.uint64]
    weights: npt.NDArray[np.uint32]
    unseen: int

    def __post_init__(self) -> None:
        hashes, weights = np.array(self.hashes), np.array(self.weights)
        if hashes.dtype != np.uint64 or weights.dtype != np.uint32 or len(hashes) != len(weights):
            raise InputError("An idf table needs uint64 hashes and as many uint32 weights. Learn it, or load it.")
        if np.any(hashes[1:] <= hashes[:-1]):
            raise InputError("The hashes of an idf table must be in ascending order. Learn it, or load it.")
        for name, values in (("hashes", hashes), ("weights", weights)):
            values.setflags(write=False)
            object.__setattr__(self, name, values)

    @classmethod
    def learn(cls, batches: Iterable[FeatureBatch], min_documents: int = 2) -> IdfTable:
        """Learn from the features of a corpus or a sample of it.

        Features in fewer than ``min_documents`` documents are left out: they weigh as much as unseen ones.
        """
        documents, hashes, counts = 0, np.empty(0, np.uint64), np.empty(0, np.int64)
        waiting: list[npt.NDArray[np.uint64]] = []
        for batch in batches:
            documents += len(batch)
            waiting.append(distinct(FeatureBatch(batch.first_words, batch.offsets)).hashes)
            # Merge once as much is waiting as is merged already, so that there are few merges.
            if sum(map(len, waiting)) > max(len(hashes), _MERGED_AT_LEAST):
                hashes, counts = _add_counts(hashes, counts, waiting)
                waiting = []
        hashes, counts = _add_counts(hashes, counts, waiting)
        if not documents:
            raise InputError("An idf table cannot be learnt from no document. Give it at least a few hundred texts.")
        kept = counts >= min_documents
        frequencies = counts[kept]
        levels = distinct_numbers(frequencies)
        by_level = np.array([_weight(documents, level) for level in levels.tolist()], dtype=np.uint32)
        weights = by_level[np.searchsorted(levels, frequencies)]
        return cls(documents, hashes[kept], weights, _weight(documents, 0))

    @cached_property
    def name(self) -> str:
        """The SHA-256, in hexadecimal, of all weights: the bytes after the line of JSON, then ``unseen`` in 8 bytes."""
        return sha256(self._arrays() + self.unseen.to_bytes(8, "little")).hexdigest()

    def __eq__(self, other: object) -> bool:
        """Compare tables, which are equal if all features have the same weights."""
        return isinstance(other, IdfTable) and self.name == other.name

    def __hash__(self) -> int:
        """Hash equal tables equally."""
        return hash(self.name)

    def weights_of(self, hashes: Codes) -> npt.NDArray[np.int64]:
        """Return the weights of features by their 64-bit hashes, in units of 1 / `UNIT`."""
        found = np.full(len(hashes), self.unseen, dtype=np.int64)
        if len(self.hashes):
            order = np.argsort(hashes)  # in order they are found several times as fast
            places = np.empty(len(hashes), dtype=np.int64)
            places[order] = np.minimum(np.searchsorted(self.hashes, hashes[order]), len(self.hashes) - 1)
            known = self.hashes[places] == hashes
            found[known] = self.weights[places[known]]
        return found

    def to_bytes(self) -> bytes:
        """Write the table as bytes, which `from_bytes` reads."""
        header = {"documents": self.documents, "features": len(self.hashes), "unseen": self.unseen}
        return MAGIC + json.dumps(header).encode() + b"\n" + self._arrays()

    def _arrays(self) -> bytes:
        return self.hashes.astype("<u8").tobytes() + self.weights.astype("<u4").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> IdfTable:
        """Read the table from its bytes; damaged ones are a `FormatError`."""
        try:
            if not data.startswith(MAGIC):
                raise ValueError
            line, arrays = data[len(MAGIC) :].split(b"\n", 1)
            header = parse_json(line)
            documents, features, unseen = (int(header[key]) for key in ("documents", "features", "unseen"))
            hashes = np.frombuffer(arrays, "<u8", features).astype(np.uint64)
            weights = np.frombuffer(arrays, "<u4", features, offset=8 * features).astype(np.uint32)
            if len(arrays) != 12 * features or documents < 0 or not 0 <= unseen < 1 << 63:
                raise ValueError
            return cls(documents, hashes, weights, unseen)
        except (ValueError, KeyError, TypeError, OverflowError):
            raise FormatError(
                "These bytes are not an idf table, or a damaged one. Save the table again with IdfTable.save."
            ) from None

    def save(self, path: str | Path) -> None:
        """Write the table to a file."""
        Path(path).write_bytes(self.to_bytes())

    @classmethod
    def load(cls, path: str | Path) -> IdfTable:
        """Read a table from a file."""
        try:
            return cls.from_bytes(Path(path).read_bytes())
        except OSError as error:
            raise FormatError(f"The idf table {path} cannot be read: {error.strerror}. Give its path.") from error


def _weight(documents: int, frequency: int) -> int:
    return round(UNIT * (math.log((documents + 1) / (frequency + 1)) + 1))


def _add_counts(
    hashes: npt.NDArray[np.uint64], counts: npt.NDArray[np.int64], seen: Sequence[npt.NDArray[np.uint64]]
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """Add one to the count of a hash for each time that it was seen."""
    ordered = np.sort(np.concatenate((hashes[:0], *seen)))
    firsts = _firsts(ordered)
    new, new_counts = ordered[firsts], np.diff(firsts, append=len(ordered))
    if not len(hashes):
        return new, new_counts
    together = np.concatenate((hashes, new))
    order = np.argsort(together, kind="stable")
    ordered = together[order]
    firsts = _firsts(ordered)
    return ordered[firsts], np.add.reduceat(np.concatenate((counts, new_counts))[order], firsts)


def _firsts(ordered: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Return where equal ones of sorted hashes begin."""
    return np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
