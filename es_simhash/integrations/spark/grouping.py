"""Groups among connected documents, and how near their members are to the canonical one.

In single linkage a group is what is connected, and only the choice of its canonical document is left. In others, all
documents that are connected come to one process, which makes the groups as one machine does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from es_simhash.errors import InputError
from es_simhash.groups.pairs.linkage import Linkage
from es_simhash.integrations.spark.frames import TEXT, materialized, place_columns
from es_simhash.integrations.spark.gathered import Gathering
from es_simhash.integrations.spark.ranking import RANK
from es_simhash.integrations.spark.scoping import SCOPE
from es_simhash.integrations.spark.texts import Texts

# More connected documents than one process can compare with one another share boilerplate.
MOST_CONNECTED = 100_000


@dataclass(frozen=True)
class Grouping:
    """How groups are made of ``documents``, which have numbers."""

    documents: DataFrame
    gathering: Gathering
    texts: Texts | None
    linkage: Linkage

    def members(self, roots: DataFrame) -> DataFrame:
        """Return the documents of all groups, each with the number of its canonical one, the ``head``.

        ``roots`` have the same root for connected documents.
        """
        linked = self.documents.join(roots.withColumnRenamed("node", "original"), "original", "left")
        connected = linked.filter("root is not null or copies > 1").withColumn("root", sf.coalesce("root", "original"))
        if self.linkage == "single" and RANK not in connected.columns:
            return connected.withColumn("head", sf.col("root")).select(*self._columns)
        connected = materialized(connected)
        rank = sf.col(f"`{RANK}`") if RANK in connected.columns else sf.lit(0.0)
        first = sf.min(sf.struct(rank.alias("rank"), "position"))
        heads = connected.groupBy("root").agg(first.alias("first"), sf.count("*").alias("members"))
        heads = heads.select("root", sf.col("first.position").alias("head"), "members")
        if self.linkage == "single":
            return connected.join(heads.drop("members"), "root").select(*self._columns)
        heads = materialized(heads)
        self._check(heads)
        # As `groups_among` says, two alone are near each other.
        pairs = connected.join(heads.filter("members = 2").drop("members"), "root")
        several = connected.join(heads.filter("members > 2").select("root"), "root")
        split = self._split(several).join(several, "position")
        return pairs.select(*self._columns).union(split.select(*self._columns))

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
        types = "original long, content string, distance int, similarity double, standard_error double"
        return ordered.mapInArrow(self.gathering.nearness_to_heads, types)

    @property
    def _columns(self) -> list[str]:
        return ["position", "original", "head", *place_columns(self.documents)]

    def _check(self, heads: DataFrame) -> None:
        largest = heads.orderBy(sf.desc("members")).limit(1).filter(sf.col("members") > MOST_CONNECTED)
        for row in largest.join(self.documents, sf.col("head") == sf.col("position")).collect():
            raise InputError(
                f"{row['members']:,} documents are connected with {row['id']!r}, too many to compare with one another. "
                "Group with linkage='single', ask for a higher similarity, or take out what these texts share."
            )

    def _split(self, connected: DataFrame) -> DataFrame:
        """Bring the documents of each component to one process, which makes its groups."""
        kept = self.gathering.kept
        own = [name for name in (SCOPE, RANK) if name in connected.columns]
        names = ["root", "position", "original", "content", *kept.columns, *own]
        rows = self._with_texts(connected.select(*(f"`{name}`" for name in names)))
        ordered = rows.repartition("root").sortWithinPartitions("root", "position")
        return ordered.mapInArrow(partial(self.gathering.groups, self.linkage), "position long, head long")

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
