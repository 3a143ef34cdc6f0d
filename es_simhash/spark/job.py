"""The steps of a deduplication: number all documents, pair identical and near ones, and group them."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sf

from es_simhash.groups.pairs.result import Counts
from es_simhash.scheme.query import Criteria
from es_simhash.spark.candidates import candidates, masks_of_tables
from es_simhash.spark.compare import compared
from es_simhash.spark.components import components
from es_simhash.spark.condensing import CondensedColumns
from es_simhash.spark.frames import materialized, place_columns


@dataclass(frozen=True)
class SparkDuplicates:
    """The near-duplicates among documents.

    ``groups`` has a row for every document of a group: its ``id``, the ``group`` (the first id in it), and whether it
    ``is_first`` itself. ``pairs`` has the ids of both documents, ``first`` and ``second``; ``distance`` if SimHash
    counts; and ``similarity`` with its ``standard_error`` (0 if it ``is_exact``) if MinHash counts. For documents with
    an ``index`` there are also ``index``, ``group_index``, ``first_index`` and ``second_index``.

    In ``counts``, ``empty`` includes all documents that have nothing to compare.
    """

    groups: DataFrame
    pairs: DataFrame
    counts: Counts


def find(condensed: DataFrame, total: int, kept: CondensedColumns, criteria: Criteria) -> SparkDuplicates:
    """Find the near-duplicates among condensed documents; the rest of the total counts as empty."""
    documents = materialized(_numbered(condensed))
    originals = documents.filter("previous is null")
    masks = masks_of_tables(kept, criteria.distance, total)
    decided = materialized(compared(candidates(originals, kept, masks), originals, kept, criteria))
    near = decided.filter("is_near").drop("left_out", "is_near")
    groups = materialized(_groups(documents, components(near)))
    pairs = _identical(documents, criteria).unionByName(_estimated(near, criteria))
    return SparkDuplicates(groups, _named(pairs, documents), _counts(total, documents, decided, groups))


def _counts(total: int, documents: DataFrame, decided: DataFrame, groups: DataFrame) -> Counts:
    left_out = sf.coalesce(sf.sum("left_out"), sf.lit(0))
    [(kept, identical)] = documents.agg(sf.count("position"), sf.count("previous")).collect()
    [(candidates, near, left)] = decided.agg(sf.count("first"), sf.count_if("is_near"), left_out).collect()
    [(members, firsts)] = groups.agg(sf.count("id"), sf.count_if("is_first")).collect()
    return Counts(
        documents=total,
        empty=total - kept,
        identical=identical,
        near=near,
        groups=firsts,
        duplicates=members - firsts,
        compared=candidates,
        verified=0,
        left_out=left,
    )


def _numbered(condensed: DataFrame) -> DataFrame:
    """Give the documents numbers in the order of their ids.

    Documents with equal texts get the numbers of the first of them (``original``) and of the ``previous`` one.
    """
    ordered = condensed.orderBy(*place_columns(condensed), "content")
    numbered = ordered.withColumn("position", sf.monotonically_increasing_id())
    same = Window.partitionBy("content").orderBy("position")
    return numbered.select(
        *(name for name in numbered.columns if name != "content"),
        sf.first("position").over(same).alias("original"),
        sf.lag("position").over(same).alias("previous"),
        sf.lead("position").over(same).isNotNull().alias("is_repeated"),
    )


def _groups(documents: DataFrame, roots: DataFrame) -> DataFrame:
    """Return the documents of all groups, each with its group's first document."""
    linked = documents.join(roots.withColumnRenamed("node", "original"), "original", "left")
    root = sf.coalesce("root", "original")
    grouped = linked.filter("root is not null or previous is not null or is_repeated").withColumn("root", root)
    firsts = _places(documents, "root", "group")
    own = place_columns(documents)
    is_first = (sf.col("position") == sf.col("root")).alias("is_first")
    return grouped.join(firsts, "root").select(*firsts.drop("root").columns, *own, is_first)


def _identical(documents: DataFrame, criteria: Criteria) -> DataFrame:
    """Pair each document with the previous one that has the same text."""
    pairs = documents.filter("previous is not null").select(
        sf.col("previous").alias("first"), sf.col("position").alias("second")
    )
    if criteria.distance is not None:
        pairs = pairs.withColumn("distance", sf.lit(0))
    if criteria.similarity is not None:
        exact = {"similarity": sf.lit(1.0), "standard_error": sf.lit(0.0).cast("float"), "is_exact": sf.lit(True)}
        pairs = pairs.withColumns(exact)
    return pairs


def _estimated(near: DataFrame, criteria: Criteria) -> DataFrame:
    return near if criteria.similarity is None else near.withColumn("is_exact", sf.lit(False))


def _named(pairs: DataFrame, documents: DataFrame) -> DataFrame:
    """Replace the numbers of documents in pairs by their ids."""
    measures = [name for name in pairs.columns if name not in {"first", "second"}]
    for side in ("first", "second"):
        places = _places(documents, "number", side)
        pairs = pairs.withColumnRenamed(side, "number").join(places, "number").drop("number")
    return pairs.select(*(name for name in pairs.columns if name not in measures), *measures)


def _places(documents: DataFrame, number: str, name: str) -> DataFrame:
    """Return the id of each document in a column ``name``, and its index, if it has one, in ``name_index``."""
    places = {"id": name, "index": f"{name}_index"}
    own = [sf.col(column).alias(places[column]) for column in place_columns(documents)]
    return documents.select(sf.col("position").alias(number), *own)
