"""Documents and pairs in blocks: numbers in bytes, thousands in a row, since rows of their own take many times as long.

A block is that of documents whose positions follow one another. All rows of a block come to one place, those of its
documents and those of pairs that need one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import DataFrame

from es_simhash._core.arrays import Integers
from es_simhash.groups.pairs.stored_rows import Numbers
from es_simhash.integrations.spark.frames import whole

SCHEMA = "block long, kind int, numbers binary, rows binary"
DOCUMENTS, PAIRS, COUNTS = range(3)

Bytes = npt.NDArray[np.uint8]

# The documents of a block have 5 MB of fingerprints.
_BLOCK_BITS = 15
# The 10,000 rows that Spark sends at once stay below the 2 GB of an Arrow column.
_ROW_BYTES = 1 << 17


def packed(kind: int, positions: Integers | Numbers, numbers: Numbers, rows: Bytes | None = None) -> Any:
    """Return numbers, each with a row of bytes, as a batch of rows for the blocks of these positions."""
    rows = np.empty((len(numbers), 0), dtype=np.uint8) if rows is None else rows
    blocks = positions.astype(np.int64) >> _BLOCK_BITS
    if (np.diff(blocks) < 0).any():
        order = np.argsort(blocks, kind="stable")
        blocks, numbers, rows = blocks[order], numbers[order], rows[order]
    step = max(1, _ROW_BYTES // (numbers.itemsize + rows.shape[1]))
    starts = np.union1d(np.flatnonzero(np.diff(blocks, prepend=-1)), np.arange(0, len(blocks), step))
    bounds = list(pairwise([*starts.tolist(), len(blocks)]))
    columns = [
        pa.array(blocks[starts]),
        pa.array(np.full(len(starts), kind, dtype=np.int32)),
        *(pa.array([each[start:stop].tobytes() for start, stop in bounds], pa.binary()) for each in (numbers, rows)),
    ]
    return pa.RecordBatch.from_arrays(columns, names=["block", "kind", "numbers", "rows"])


def packed_counts(*counts: int) -> Any:
    """Return counts as a batch of such rows."""
    return packed(COUNTS, np.zeros(len(counts), dtype=np.int64), np.array(counts, dtype=np.uint64))


def in_blocks(documents: DataFrame, pairs: DataFrame) -> DataFrame:
    """Bring the rows of each block together."""
    return documents.unionAll(pairs).repartition("block").sortWithinPartitions("block")


@dataclass(frozen=True, eq=False)
class Blocks:
    """Some blocks: the ``codes`` of pairs with what came with them, what is counted, and the rows of documents."""

    codes: Numbers
    extra: Bytes
    counts: Numbers
    _known: Numbers
    _rows: Bytes

    @classmethod
    def read(cls, batches: Iterator[Any], width: int, pair_width: int = 0) -> Iterator[Blocks]:
        """Yield whole blocks, given the widths of rows."""
        for table in whole(batches, "block"):
            kinds = table["kind"].to_numpy()
            codes, extra = _unpacked(table, kinds == PAIRS, pair_width)
            known, rows = _unpacked(table, kinds == DOCUMENTS, width)
            order = np.argsort(known)
            yield cls(codes, extra, _unpacked(table, kinds == COUNTS, 0)[0], known[order], rows[order])

    def rows_of(self, positions: Integers) -> Bytes:
        """Return the rows of documents."""
        return self._rows[np.searchsorted(self._known, positions.astype(np.uint64))]


def _unpacked(table: Any, which: npt.NDArray[np.bool_], width: int) -> tuple[Numbers, Bytes]:
    chosen = table.filter(pa.array(which))
    numbers = np.frombuffer(b"".join(chosen["numbers"].to_pylist()), dtype=np.uint64)
    rows = np.frombuffer(b"".join(chosen["rows"].to_pylist()), dtype=np.uint8)
    return numbers, rows.reshape(len(numbers), width)
