"""Pairs that share keys, and the groups that near-duplicates connect, on Spark.

The keys of each table are divided into pieces by their upper bits, and each piece is sorted in one process. They pass
through Spark as words in bytes, thousands in a row, since rows of their own would take many times as long. A key that
a million documents share makes two million pairs, so no piece gets too many.

Two steps alternate until nothing changes, large-star and small-star (Kiveris, Lattanzi, Mirrokni, Rastogi,
Vassilvitskii, "Connected Components in MapReduce and Beyond", SoCC 2014). Each links the neighbours of a node to the
least of them. The result are stars around the least node of each component, after O(log² n) rounds for any shape; a
chain of n nodes takes about log n. Before that, edges are partitioned by their first node, and those in one partition
are made stars there, which shortens most chains of near-duplicates. A small graph comes to one partition.

No node's neighbours need to fit one machine: an aggregate finds the least, and a join adds it to the edges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from es_simhash._core.arrays import Codes, UnionFind
from es_simhash.groups import corpus
from es_simhash.groups.pairs import fingerprint_store
from es_simhash.groups.pairs.candidates import (
    POSITION_BITS,
    POSITION_MASK,
    Linker,
    entries,
    pair_codes,
    positions,
)
from es_simhash.groups.pairs.stored_rows import Rows
from es_simhash.integrations.spark.condensing import SCOPE, CondensedColumns, hashes_in, linked
from es_simhash.integrations.spark.frames import PAIRS, SCHEMA, materialized, packed, packed_counts, rows_of, whole
from es_simhash.scheme.query import Criteria

_TABLE_BITS = 32
# A piece has about 2 ** 22 keys: 32 MB.
_PIECE_BITS = 22

# The keys of a batch, as rows of numbers, for each table.
RowsOfTables: TypeAlias = Callable[[Any], Iterator[Rows]]


def candidates(documents: DataFrame, count: int, kept: CondensedColumns, criteria: Criteria, total: int) -> DataFrame:
    """Return the pairs of these, about ``count``, documents in `blocks`, those of the second documents.

    A pair comes once for each key that is shared. Left-out pairs are counted.
    """
    minhash, distance = kept.settings.minhash, criteria.distance
    places = fingerprint_store.value_tables(minhash, criteria) if minhash and criteria.similarity is not None else []
    tables = partial(_rows_of_tables, kept, places, _masks(kept, distance, total))
    if kept.scope and kept.scope.is_by_pairs:
        return _linked_in_scope(documents, kept, tables).mapInArrow(_packed, SCHEMA)
    own = [SCOPE] if kept.scope else []
    words = documents.select("position", *kept.columns, *own).mapInArrow(
        partial(_words, bool(kept.scope), tables, _pieces(count)), "piece long, words binary"
    )
    together = words.repartition("piece").sortWithinPartitions("piece")
    return together.mapInArrow(_linked, SCHEMA)


def equal_texts(documents: DataFrame, kept: CondensedColumns) -> DataFrame:
    """Return the pairs of documents that may have equal texts, where these are linked in a scope of pairs."""
    return _linked_in_scope(documents, kept, _rows_of_contents).filter("first >= 0").drop("left_out")


def _linked_in_scope(documents: DataFrame, kept: CondensedColumns, tables: RowsOfTables) -> DataFrame:
    assert kept.scope
    columns = documents.select("position", "content", *kept.columns, SCOPE)
    keyed = columns.mapInArrow(partial(_keys, tables), "key long, position long, set long, date long")
    return linked(keyed, kept.scope, corpus.ALL, corpus.FEW)


def _masks(kept: CondensedColumns, distance: int | None, documents: int) -> list[Codes]:
    """Return the bits of a SimHash that form the key of each table."""
    if distance is None or kept.settings.simhash is None:
        return []
    return fingerprint_store.prefix_tables(kept.settings.simhash.bits, distance, documents).masks


def _keys(tables: RowsOfTables, batches: Iterator[Any]) -> Iterator[Any]:
    """Yield a row for each key of each document: the table number in the upper bits, the hash in the lower."""
    for batch in batches:
        columns = {"position": batch.column("position")}
        columns |= {name: batch.column(SCOPE).field(name) for name in ("set", "date")}
        for table, rows in enumerate(tables(batch)):
            hashes = entries(rows, 0) >> np.uint64(POSITION_BITS)
            hashes ^= hashes_in(batch)
            keys = hashes.astype(np.int64) | table << _TABLE_BITS
            yield pa.RecordBatch.from_pydict({"key": pa.array(keys), **columns})


def _pieces(documents: int) -> int:
    """Return how many pieces the keys of a table are divided into, a power of two."""
    return 1 << max(0, documents - 1).bit_length() - _PIECE_BITS if documents > 1 << _PIECE_BITS else 1


def _words(has_scope: bool, tables: RowsOfTables, pieces: int, batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the entries of a batch's documents, thousands in a row: those of a table whose keys are in one piece."""
    bounds = np.arange(pieces, dtype=np.uint64) << np.uint64(64 - pieces.bit_length() + 1) if pieces > 1 else None
    for batch in batches:
        positions = batch.column("position").to_numpy().astype(np.uint64)
        mixed = hashes_in(batch) << np.uint64(POSITION_BITS) if has_scope else np.uint64(0)
        numbers, parts = list[int](), list[bytes]()
        for table, rows in enumerate(tables(batch)):
            words = (entries(rows, 0) & ~POSITION_MASK ^ mixed) | positions
            starts = [0]
            if bounds is not None:
                words.sort()
                starts = np.searchsorted(words, bounds).tolist()
            for piece, (start, stop) in enumerate(pairwise([*starts, len(words)])):
                if stop > start:
                    numbers.append(table * pieces + piece)
                    parts.append(words[start:stop].tobytes())
        yield pa.RecordBatch.from_pydict(
            {"piece": pa.array(numbers, pa.int64()), "words": pa.array(parts, pa.binary())}
        )


def _rows_of_contents(batch: Any) -> Iterator[Rows]:
    yield rows_of(batch.column("content"), np.uint64, 2)[:, :1]


def _rows_of_tables(
    kept: CondensedColumns, places: list[Sequence[int]], masks: list[Codes], batch: Any
) -> Iterator[Rows]:
    if places:
        values = kept.values(batch.column("values"))
        for some in places:
            yield values[:, list(some)]
    if masks:
        simhashes = kept.simhashes(batch.column("simhash"))
        for mask in masks:
            yield simhashes & mask


def _linked(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the pairs of documents with the same key, once for each shared key, as one machine makes them."""
    linker = Linker(corpus.ALL, corpus.FEW)
    for table in whole(batches, "piece"):
        numbers, parts = table["piece"].to_numpy(), table["words"].to_pylist()
        for start, stop in pairwise([*np.flatnonzero(np.diff(numbers, prepend=-1)).tolist(), len(parts)]):
            words = np.sort(np.frombuffer(b"".join(parts[start:stop]), dtype=np.uint64))
            for codes in linker.pairs([words]):
                yield packed(PAIRS, positions(codes)[1], codes)
    yield packed_counts(linker.left_out)


def _packed(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield pairs that are linked in a scope in blocks."""
    for batch in batches:
        first, second, left_out = (column.to_numpy() for column in batch.columns)
        are_pairs = first >= 0
        yield packed(PAIRS, second[are_pairs], pair_codes(first[are_pairs], second[are_pairs]))
        yield packed_counts(int(left_out.sum()))


# One process connects as many edges in a second or two.
_AT_ONCE = 1 << 22


def components(edges: DataFrame, count: int) -> DataFrame:
    """Return each ``node`` of ``count`` edges, with the least of its component as ``root``.

    Edges have the columns ``first`` and ``second``, whole numbers in ascending order.
    """
    edges = edges.select("first", "second")
    if count <= _AT_ONCE:
        return edges.repartition(1).mapInArrow(_roots, "node long, root long")
    edges = materialized(edges.repartitionByRange("first").mapInArrow(_stars, "low long, high long"))
    nodes = _nodes(edges)
    while not nodes.filter("below > 1 or (below = 1 and above > 0)").isEmpty():
        edges = materialized(_small_star(_large_star(edges, nodes)))
        nodes = _nodes(edges)
    return nodes.select("node", sf.col("least").alias("root"))


def _stars(batches: Iterator[Any]) -> Iterator[Any]:
    """Turn the edges of one partition into stars: link each node to the least connected one."""
    for batch in _roots(batches):
        nodes, roots = (batch.column(name).to_numpy() for name in ("node", "root"))
        later = nodes != roots
        yield pa.RecordBatch.from_pydict({"low": pa.array(roots[later]), "high": pa.array(nodes[later])})


def _roots(batches: Iterator[Any]) -> Iterator[Any]:
    """Find the least node that each one is connected with by the edges of one partition."""
    if not (some := list(batches)):
        return
    table = pa.Table.from_batches(some)
    ends = np.stack([table.column(name).to_numpy() for name in ("first", "second")])
    nodes, places = np.unique(ends, return_inverse=True)
    union = UnionFind(len(nodes))
    union.union(*places.reshape(ends.shape))
    yield pa.RecordBatch.from_pydict({"node": pa.array(nodes), "root": pa.array(nodes[union.groups().firsts])})


def _nodes(edges: DataFrame) -> DataFrame:
    """Return for each node the least of it and its neighbours, and the numbers of neighbours below and above it."""
    up = edges.select(sf.col("low").alias("node"), sf.col("low").alias("least"), sf.lit(0).alias("below"))
    down = edges.select(sf.col("high").alias("node"), sf.col("low").alias("least"), sf.lit(1).alias("below"))
    counts = sf.sum("below").alias("below"), sf.sum(1 - sf.col("below")).alias("above")
    return materialized(up.union(down).groupBy("node").agg(sf.min("least").alias("least"), *counts))


def _large_star(edges: DataFrame, nodes: DataFrame) -> DataFrame:
    """Link the neighbours above each node to the least of the node and all its neighbours."""
    leasts = nodes.select(sf.col("node").alias("low"), "least")
    return edges.join(leasts, "low").select(sf.col("least").alias("low"), "high").distinct()


def _small_star(edges: DataFrame) -> DataFrame:
    """Link each node and its neighbours below to the least of these."""
    leasts = edges.groupBy("high").agg(sf.min("low").alias("least"))
    others = edges.join(leasts, "high").filter("low > least").select("least", sf.col("low").alias("high"))
    return leasts.select("least", "high").union(others).toDF("low", "high").distinct()
