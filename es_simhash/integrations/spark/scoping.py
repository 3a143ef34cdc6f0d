"""The scope of documents in a column, the pairs that are in it, and what links documents of the same key in it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    LongType,
    StructField,
    StructType,
)

from es_simhash._core.arrays import Integers
from es_simhash.groups.pairs.candidates import PAIRS_AT_ONCE, POSITION_BITS, POSITION_MASK, links, runs
from es_simhash.groups.pairs.scope_columns import ScopeRows
from es_simhash.groups.pairs.stored_rows import Numbers
from es_simhash.integrations.spark.frames import binary, plain_column, rows_of, whole
from es_simhash.scheme.scope import Scope

# Names unlikely for columns of a user: what documents have, and what is compared of it.
VALUES, SCOPE = "values of the scope", "scope to compare in"
TYPE = StructType(
    [
        StructField("known", BooleanType()),
        StructField("within", BinaryType()),
        StructField("set", LongType()),
        StructField("across", ArrayType(BinaryType())),
        StructField("date", LongType()),
    ]
)
_HASH_WORDS = 2


def values_column(frame: DataFrame, scope: Scope) -> Column:
    """Return the column with the values of the scope, an object; times become milliseconds."""
    return sf.struct(*(plain_column(frame, path) for path in scope.paths)).alias(VALUES)


def scope_array(scope: Scope, values: Any) -> Any:
    """Return the scope of documents as an Arrow array, given the column of their values."""
    rows = ScopeRows.read(scope, values.to_pylist())
    ends = np.concatenate([[0], np.cumsum(rows.counts)]).astype(np.int32)
    columns = [
        pa.array(rows.known),
        binary(rows.within),
        pa.array(rows.sets.astype(np.int64)),
        pa.ListArray.from_arrays(pa.array(ends), binary(rows.values)),
        pa.array(rows.dates),
    ]
    return pa.StructArray.from_arrays(columns, names=TYPE.names)


def scope_rows(column: Any) -> ScopeRows:
    """Read the scope of documents from the column that `scope_array` made."""
    known, within, sets, across, dates = (column.field(name) for name in TYPE.names)
    counts = across.value_lengths().to_numpy(False).astype(np.int64)
    words = (rows_of(each, np.uint64, _HASH_WORDS) for each in (within, across.flatten()))
    return ScopeRows(
        known.to_numpy(False),
        next(words),
        sets.to_numpy(False).astype(np.uint32),
        counts,
        next(words),
        dates.to_numpy(False),
    )


def hashes_in(batch: Any) -> Numbers:
    """Return what is mixed into the keys of documents, so that only those that agree share them."""
    column = batch.column(SCOPE).field("within")
    return rows_of(column, np.uint64, _HASH_WORDS)[:, 0] >> np.uint64(POSITION_BITS)


def are_in_scope(scope: Scope) -> Column:
    """Return the condition that the values of a pair agree and differ where they must."""
    first, second = (f"`{side} {SCOPE}`" for side in ("first", "second"))
    found = sf.lit(True)
    if scope.within:
        found &= sf.col(f"{first}.within") == sf.col(f"{second}.within")
    if scope.across:
        found &= ~sf.arrays_overlap(f"{first}.across", f"{second}.across")
    return found


def linked(keyed: DataFrame, scope: Scope, all: int, few: int) -> DataFrame:
    """Return the pairs that `Linker` makes in a scope of documents with the same ``key``, once for each key.

    What it leaves out comes in rows of its own, whose documents have the number -1. The documents of one key are on one
    machine at a time.
    """
    window = scope.milliseconds if scope.window else None
    placed = keyed.repartition("key").sortWithinPartitions("key", "date", "position")
    return placed.mapInArrow(
        partial(_link, bool(scope.across), window, all, few), "first long, second long, left_out long"
    )


def _link(are_apart: bool, window: int | None, all: int, few: int, batches: Iterator[Any]) -> Iterator[Any]:
    left_out = 0
    for table in whole(batches, "key"):
        keys, documents, sets, dates = (table[name].to_numpy() for name in ("key", "position", "set", "date"))
        found = links(keys, _reach(keys, dates, window), sets if are_apart else None, all, few, None)
        left_out += found.left_out
        for one, other in found.pairs(PAIRS_AT_ONCE):
            first, second = documents[one], documents[other]
            yield pair_rows(np.minimum(first, second), np.maximum(first, second), 0)
    yield pair_rows(np.array([-1]), np.array([-1]), left_out)


def pair_rows(first: Integers, second: Integers, left_out: int) -> Any:
    """Return a batch of pairs, each with the number of comparisons left out."""
    columns = (first, second, np.full_like(first, left_out))
    return pa.RecordBatch.from_arrays([pa.array(each) for each in columns], names=["first", "second", "left_out"])


def _reach(keys: Integers, dates: Integers, window: int | None) -> Integers:
    """Return for each document the place of the first with its key, and in its window."""
    starts = runs(keys)
    if window is None:
        return starts
    ordered, ranks = np.unique(dates, return_inverse=True)
    numbers = starts.astype(np.uint64) << np.uint64(POSITION_BITS)
    lowest = np.searchsorted(ordered, ordered - window)[ranks]
    words = numbers | ranks.astype(np.uint64) & POSITION_MASK
    return np.searchsorted(words, numbers | lowest.astype(np.uint64))
