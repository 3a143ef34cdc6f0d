"""Connected components of a graph whose edges are spread over many machines.

Two steps alternate until nothing changes, large-star and small-star (Kiveris, Lattanzi, Mirrokni, Rastogi,
Vassilvitskii, "Connected Components in MapReduce and Beyond", SoCC 2014). Each links the neighbours of a node to the
least of them. The result are stars around the least node of each component, after O(log² n) rounds for any shape; a
chain of n nodes takes about log n. Before that, edges are partitioned by their first node, and those in one partition
are made stars there, which shortens most chains of near-duplicates. A small graph comes to one partition.

No node's neighbours need to fit one machine: an aggregate finds the least, and a join adds it to the edges.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from es_simhash.groups.union_find import UnionFind
from es_simhash.integrations.spark.frames import materialized

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
