"""Groups of connected documents, which of them stand for which, and how near they are to these.

Of two connected documents, the first stands for the other. Three and more come to one process, which compares them as
one machine does; very many do not, and are decided by the pairs that were found.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from es_simhash.groups.pairs.nearness import MOST_CONNECTED
from es_simhash.integrations.spark.frames import TEXT, materialized, observed, place_columns
from es_simhash.integrations.spark.gathered import Gathering, heads_by_pairs
from es_simhash.integrations.spark.ranking import RANK
from es_simhash.integrations.spark.scoping import SCOPE
from es_simhash.integrations.spark.texts import Texts

_PAIR = 2


@dataclass(frozen=True)
class Grouping:
    """How groups are made of ``documents``, which have numbers."""

    documents: DataFrame
    gathering: Gathering
    texts: Texts | None

    def members(self, roots: DataFrame, edges: DataFrame) -> DataFrame:
        """Return the documents of all groups, with the number of the ``first`` of the group, and of their ``head``.

        The head is the document that stands for another, or itself. ``roots`` have the same root for documents that
        ``edges`` connect.
        """
        linked = self.documents.join(roots.withColumnRenamed("node", "original"), "original", "left")
        connected = linked.filter("root is not null or copies > 1").withColumn("root", sf.coalesce("root", "original"))
        connected = materialized(connected)
        groups = connected.groupBy("root").agg(self._first(connected).alias("first"), sf.count("*").alias("members"))
        groups, seen = observed(groups.select("root", "first.position", "members"), most=sf.max("members"))
        sized = connected.join(groups.withColumnRenamed("position", "first"), "root")
        heads = sized.filter(f"members <= {_PAIR}").select("position", sf.col("first").alias("head"))
        if seen["most"] > _PAIR:
            several = sized.filter(f"members between {_PAIR + 1} and {MOST_CONNECTED}")
            heads = heads.union(self._compared(several))
        if seen["most"] > MOST_CONNECTED:
            heads = heads.union(self._by_pairs(sized.filter(f"members > {MOST_CONNECTED}"), edges))
        return sized.join(heads, "position").select(*self._columns)

    def nearness(self, members: DataFrame) -> DataFrame:
        """Return how near the texts of members are to that of the canonical one, by their ``original``.

        Their ``content`` is a hash of the text, as our fields have it.
        """
        heads = members.filter("position = head").select("head", sf.col("original").alias("of head"))
        texts = members.filter("position = original").select("position", "head").join(heads, "head")
        condensed = self.documents.select("position", "content", *self.gathering.kept.columns)
        rows = texts.withColumn("is_head", sf.expr("position = `of head`")).drop("of head").join(condensed, "position")
        rows = self._with_texts(rows.withColumn("original", sf.col("position")))
        ordered = rows.repartition("head").sortWithinPartitions("head", sf.desc("is_head"))
        types = "original long, content string, similarity double, distance int, standard_error double"
        return ordered.mapInArrow(self.gathering.nearness_to_heads, types)

    @property
    def _columns(self) -> list[str]:
        return ["position", "original", "first", "head", *place_columns(self.documents)]

    @staticmethod
    def _first(connected: DataFrame) -> Column:
        """Return the rank and the position of the first document, in the order of preference."""
        rank = sf.col(f"`{RANK}`") if RANK in connected.columns else sf.lit(0.0)
        return sf.min(sf.struct(rank.alias("rank"), "position"))

    def _compared(self, connected: DataFrame) -> DataFrame:
        """Bring the documents of each component to one process, which compares them."""
        kept = self.gathering.kept
        own = [name for name in (SCOPE, RANK) if name in connected.columns]
        names = ["root", "position", "original", "content", *kept.columns, *own]
        rows = self._with_texts(connected.select(*(f"`{name}`" for name in names)))
        ordered = rows.repartition("root").sortWithinPartitions("root", "position")
        return ordered.mapInArrow(self.gathering.heads, "position long, head long")

    def _by_pairs(self, connected: DataFrame, edges: DataFrame) -> DataFrame:
        """Bring the edges of each component to one process. They are of texts: the first with a text has its edges."""
        texts = connected.groupBy("root", "original").agg(self._first(connected).alias("place"))
        texts = materialized(texts.select("root", "original", "place.rank", sf.col("place.position").alias("place")))
        ends = {
            side: texts.select(
                sf.col("original").alias(side),
                sf.col("place").alias(f"{side}_place"),
                sf.col("rank").alias(f"{side}_rank"),
            )
            for side in ("first", "second")
        }
        roots = texts.select("root", sf.col("original").alias("first"))
        rows = edges.join(roots, "first").join(ends["first"], "first").join(ends["second"], "second")
        ordered = rows.drop("first", "second").repartition("root").sortWithinPartitions("root")
        decided = ordered.mapInArrow(heads_by_pairs, "place long, head long")
        heads = texts.join(decided, "place", "left").select("original", sf.coalesce("head", "place").alias("head"))
        return connected.join(heads, "original").select("position", "head")

    def _with_texts(self, rows: DataFrame) -> DataFrame:
        """Add the texts of originals, if texts decide."""
        if self.texts is None:
            return rows
        originals = rows.filter("position = original").select("position")
        wanted = self.documents.join(originals, "position", "left_semi").select(
            *place_columns(self.documents), "position", "content"
        )
        texts = self.texts.of(wanted).select("position", TEXT).dropDuplicates(["position"])
        return rows.join(texts, "position", "left")
