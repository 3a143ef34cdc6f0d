"""Connected components of a graph whose edges lie on many machines.

Two steps take turns until nothing changes, large-star and small-star (Kiveris, Lattanzi, Mirrokni, Rastogi,
Vassilvitskii, "Connected Components in MapReduce and Beyond", SoCC 2014). Each links the neighbours of a node to the
least of them. What is left are stars, with the least node of each component in the middle. That takes O(log² n) rounds,
whatever the shape; a chain of n nodes takes about log n. Before that, edges of neighbouring nodes are brought together,
and those in one place are made stars there. Of the chains of near-duplicates, which lead from each document to the
next, that leaves little, and of few edges nothing at all.

No node's neighbours need fit one machine: the least is found by an aggregate, and joined to the edges.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from es_simhash.groups.union_find import UnionFind
from es_simhash.spark.frames import materialized


def components(edges: DataFrame) -> DataFrame:
    """Each ``node`` of an edge, with the least of its component as ``root``.

    Edges have the columns ``first`` and ``second``, whole numbers of which the first is the smaller.
    """
    together = edges.select("first", "second").repartitionByRange("first")
    edges = materialized(together.mapInArrow(_stars, "low long, high long"))
    nodes = _nodes(edges)
    while not nodes.filter("below > 1 or (below = 1 and above > 0)").isEmpty():
        edges = materialized(_small_star(_large_star(edges, nodes)))
        nodes = _nodes(edges)
    return nodes.select("node", sf.col("least").alias("root"))


def _stars(batches: Iterator[Any]) -> Iterator[Any]:
    """The edges of one partition as stars, each node linked to the least that it is connected with there."""
    if not (some := list(batches)):
        return
    table = pa.Table.from_batches(some)
    ends = np.stack([table.column(name).to_numpy() for name in ("first", "second")])
    nodes, places = np.unique(ends, return_inverse=True)
    union = UnionFind(len(nodes))
    union.union(*places.reshape(ends.shape))
    groups = union.groups()
    later = ~groups.is_first
    columns = {"low": pa.array(nodes[groups.firsts[later]]), "high": pa.array(nodes[later])}
    yield pa.RecordBatch.from_pydict(columns)


def _nodes(edges: DataFrame) -> DataFrame:
    """For each node, the least of it and its neighbours, and how many of these are below and above it."""
    up = edges.select(sf.col("low").alias("node"), sf.col("low").alias("least"), sf.lit(0).alias("below"))
    down = edges.select(sf.col("high").alias("node"), sf.col("low").alias("least"), sf.lit(1).alias("below"))
    counts = sf.sum("below").alias("below"), sf.sum(1 - sf.col("below")).alias("above")
    return materialized(up.union(down).groupBy("node").agg(sf.min("least").alias("least"), *counts))


def _large_star(edges: DataFrame, nodes: DataFrame) -> DataFrame:
    """The neighbours above each node, linked to the least of the node and all its neighbours."""
    leasts = nodes.select(sf.col("node").alias("low"), "least")
    return edges.join(leasts, "low").select(sf.col("least").alias("low"), "high").distinct()


def _small_star(edges: DataFrame) -> DataFrame:
    """The node itself and its neighbours below, linked to the least of these."""
    leasts = edges.groupBy("high").agg(sf.min("low").alias("least"))
    others = edges.join(leasts, "high").filter("low > least").select("least", sf.col("low").alias("high"))
    return leasts.select("least", "high").union(others).toDF("low", "high").distinct()
