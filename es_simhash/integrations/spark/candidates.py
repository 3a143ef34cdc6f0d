"""Candidates: pairs of documents that share a key, linked as `es_simhash.groups.pairs.candidates.Linker` links them.

The documents with a key are sorted by their positions. Each of the first 33 is paired with all before it, any other
with the two before it. So a key that a million documents share makes two million pairs, and a document is in some
dozens of them at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sf

from es_simhash._core.bit_codes import Codes
from es_simhash.groups.pairs import choose_keys, document_links
from es_simhash.groups.pairs.candidates import POSITION_BITS, entries
from es_simhash.groups.pairs.stored_rows import Rows
from es_simhash.integrations.spark.condensing import CondensedColumns
from es_simhash.integrations.spark.frames import rows_of
from es_simhash.integrations.spark.scoping import SCOPE, hashes_in, linked
from es_simhash.scheme.scope import Scope

_TABLE_BITS = 32

# The keys of a batch, as rows of numbers, for each table.
RowsOfTables: TypeAlias = Callable[[Any], Iterator[Rows]]


def candidates(documents: DataFrame, kept: CondensedColumns, masks: list[Codes]) -> DataFrame:
    """Return the pairs of positions, each once, with the number of comparisons ``left_out``."""
    pairs = _pairs(documents, kept, partial(_rows_of_tables, kept, masks))
    return pairs.groupBy("first", "second").agg(sf.sum("left_out").alias("left_out"))


def equal_texts(documents: DataFrame, kept: CondensedColumns) -> DataFrame:
    """Return the pairs of documents that may have equal texts, where these are linked in a scope."""
    return _pairs(documents, kept, _rows_of_contents).filter("first >= 0").drop("left_out")


def _pairs(documents: DataFrame, kept: CondensedColumns, tables: RowsOfTables) -> DataFrame:
    scope = kept.scope
    columns = ["position", "content", *kept.columns, *([SCOPE] if scope else [])]
    keyed = documents.select(*columns).mapInArrow(
        partial(_keys, scope, tables), f"key long, position long{', set long, date long' if scope else ''}"
    )
    if scope and scope.is_by_pairs:
        return linked(keyed, scope, document_links.ALL, document_links.FEW)
    return _linked(keyed, document_links.ALL, document_links.FEW)


def masks_of_tables(kept: CondensedColumns, distance: int | None, documents: int) -> list[Codes]:
    """Return the bits of a SimHash that form the key of each table."""
    if distance is None or kept.settings.simhash is None:
        return []
    return list(choose_keys.masks(choose_keys.prefix_tables(kept.settings.simhash.bits, distance, documents)))


def _keys(scope: Scope | None, tables: RowsOfTables, batches: Iterator[Any]) -> Iterator[Any]:
    """Yield a row for each key of each document: the table number in the upper bits, the hash in the lower."""
    for batch in batches:
        columns = {"position": batch.column("position")}
        if scope:
            columns |= {name: batch.column(SCOPE).field(name) for name in ("set", "date")}
        for table, rows in enumerate(tables(batch)):
            hashes = entries(rows, 0) >> np.uint64(POSITION_BITS)
            if scope:
                hashes ^= hashes_in(batch)
            keys = hashes.astype(np.int64) | table << _TABLE_BITS
            yield pa.RecordBatch.from_pydict({"key": pa.array(keys), **columns})


def _rows_of_contents(batch: Any) -> Iterator[Rows]:
    yield rows_of(batch.column("content"), np.uint64, 2)[:, :1]


def _rows_of_tables(kept: CondensedColumns, masks: list[Codes], batch: Any) -> Iterator[Rows]:
    if kept.settings.minhash:
        values, rows = kept.values(batch.column("values")), kept.settings.minhash.rows
        for band in range(kept.settings.minhash.bands):
            yield values[:, band * rows : (band + 1) * rows]
    if masks:
        simhashes = kept.simhashes(batch.column("simhash"))
        for mask in masks:
            yield simhashes & mask


def _linked(keyed: DataFrame, all: int, few: int) -> DataFrame:
    """Return the pairs of documents with the same key, once for each shared key."""
    sharing = Window.partitionBy("key").orderBy("position")
    placed = keyed.select(
        sf.col("position").alias("second"),
        (sf.row_number().over(sharing) - 1).alias("place"),
        sf.collect_list("position").over(sharing.rowsBetween(-all, -1)).alias("before"),
    )
    firsts = sf.when(sf.col("place") <= all, sf.col("before")).otherwise(sf.slice("before", -few, few))
    linked = placed.filter("place > 0").withColumn("firsts", firsts)
    # Comparisons left out count once for each document: with its nearest pair.
    left_out = sf.when(sf.col("first") == sf.element_at("firsts", -1), sf.col("place") - sf.size("firsts")).otherwise(0)
    return linked.withColumn("first", sf.explode("firsts")).select("first", "second", left_out.alias("left_out"))
