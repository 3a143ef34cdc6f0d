"""Inverse document frequencies: how much a feature tells about a document, learnt from a corpus.

    idf(feature) = ln((documents + 1) / (documents with the feature + 1)) + 1

(the smoothed form of Spärck Jones, 1972). Weights are kept as whole multiples of 1 / `UNIT`, so that sums of them
are exact and the same on every machine. A table is named by the SHA-256 of its bytes.

The bytes are: `MAGIC`; a line of JSON with the numbers of documents and features and the weight of unseen features;
the features' 64-bit hashes in ascending order, 8 bytes each; their weights, 4 bytes each; all little-endian.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt

from es_simhash.codes import Codes
from es_simhash.errors import FormatError, InputError
from es_simhash.features import FeatureBatch, distinct

UNIT = 256
MAGIC = b"es_simhash idf 1\n"


@dataclass(frozen=True, eq=False)
class IdfTable:
    """The weights of features, by their 64-bit hashes; ``unseen`` is that of all others."""

    documents: int
    hashes: npt.NDArray[np.uint64]
    weights: npt.NDArray[np.uint32]
    unseen: int

    @classmethod
    def learn(cls, batches: Iterable[FeatureBatch], min_documents: int = 2) -> IdfTable:
        """Learn from the features of a corpus or a sample of it.

        Features in fewer than ``min_documents`` documents are left out: they weigh as much as unseen ones.
        """
        documents, hashes, counts = 0, np.empty(0, np.uint64), np.empty(0, np.int64)
        for batch in batches:
            documents += len(batch)
            hashes, counts = _add_counts(hashes, counts, distinct(batch).hashes)
        if not documents:
            raise InputError("An idf table cannot be learnt from no document. Give it at least a few hundred texts.")
        kept = counts >= min_documents
        frequencies = counts[kept]
        levels, level_of = np.unique(frequencies, return_inverse=True)
        by_level = np.array([_weight(documents, int(level)) for level in levels], dtype=np.uint32)
        return cls(documents, hashes[kept], by_level[level_of], _weight(documents, 0))

    @cached_property
    def name(self) -> str:
        """The SHA-256 of the table's bytes, in hexadecimal."""
        return sha256(self.to_bytes()).hexdigest()

    def weights_of(self, hashes: Codes) -> npt.NDArray[np.int64]:
        """The weights of features by their 64-bit hashes, in units of 1 / `UNIT`."""
        found = np.full(len(hashes), self.unseen, dtype=np.int64)
        if len(self.hashes):
            places = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
            known = self.hashes[places] == hashes
            found[known] = self.weights[places[known]]
        return found

    def to_bytes(self) -> bytes:
        """The table's bytes, as `from_bytes` reads them."""
        header = {"documents": self.documents, "features": len(self.hashes), "unseen": self.unseen}
        arrays = self.hashes.astype("<u8").tobytes() + self.weights.astype("<u4").tobytes()
        return MAGIC + json.dumps(header).encode() + b"\n" + arrays

    @classmethod
    def from_bytes(cls, data: bytes) -> IdfTable:
        """The table of these bytes; damaged ones are a `FormatError`."""
        try:
            if not data.startswith(MAGIC):
                raise ValueError
            line, arrays = data[len(MAGIC) :].split(b"\n", 1)
            header = json.loads(line)
            documents, features, unseen = (int(header[key]) for key in ("documents", "features", "unseen"))
            hashes = np.frombuffer(arrays, "<u8", features).astype(np.uint64)
            weights = np.frombuffer(arrays, "<u4", features, offset=8 * features).astype(np.uint32)
            if len(arrays) != 12 * features or np.any(hashes[1:] <= hashes[:-1]):
                raise ValueError
        except (ValueError, KeyError, TypeError):
            raise FormatError(
                "These bytes are no idf table, or a damaged one. Save the table again with IdfTable.save."
            ) from None
        return cls(documents, hashes, weights, unseen)

    def save(self, path: str | Path) -> None:
        """Write the table to a file."""
        Path(path).write_bytes(self.to_bytes())

    @classmethod
    def load(cls, path: str | Path) -> IdfTable:
        """Read a table from a file."""
        return cls.from_bytes(Path(path).read_bytes())


def _weight(documents: int, frequency: int) -> int:
    return round(UNIT * (math.log((documents + 1) / (frequency + 1)) + 1))


def _add_counts(
    hashes: npt.NDArray[np.uint64], counts: npt.NDArray[np.int64], seen: npt.NDArray[np.uint64]
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    new, new_counts = np.unique(seen, return_counts=True)
    merged, place = np.unique(np.concatenate((hashes, new)), return_inverse=True)
    totals = np.zeros(len(merged), dtype=np.int64)
    np.add.at(totals, place, np.concatenate((counts, new_counts)))
    return merged, totals
