"""Groups on Spark as people have decided: the law is that of `es_simhash.groups.pairs.decided`.

Decisions are few, so the documents that they mention are looked up by their ids. Only components with two different
documents come to the driver, with the pairs that link them, where the code of one machine parts them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from es_simhash._core.arrays import UnionFind
from es_simhash._core.humanize import listed
from es_simhash.documents.decisions import Decided, Key
from es_simhash.groups.pairs.candidates import pair_codes
from es_simhash.groups.pairs.decided import DecidedPairs, Pair, parted, placed
from es_simhash.integrations.spark.frames import materialized, place_columns
from es_simhash.integrations.spark.grouping import PASSED, Grouping
from es_simhash.scheme import verifier
from es_simhash.scheme.query import Criteria

# What the metadata of the column of ids say: whether decisions were given.
OBEYS = "obeys decisions"


@dataclass(frozen=True)
class DecidedDocuments:
    """What people have decided on numbered documents; only those that ``stay`` may be in a group.

    If an original is alone, the first of its copies that stays is one for the others: ``instead`` has it, or None.
    """

    stay: DataFrame
    pairs: DecidedPairs
    keys: Mapping[int, Key]
    instead: Mapping[int, int | None]

    @classmethod
    def among(cls, documents: DataFrame, decided: Decided) -> DecidedDocuments:
        """Find the documents that decisions mention."""
        keys = _mentioned(documents, decided)
        pairs = placed(decided, {key: position for position, key in keys.items()})
        stay, instead = _staying(documents, pairs.alone)
        if pairs.canonical:
            chosen = _listed(
                documents, [(each, False) for each in pairs.canonical], f"position long, `{PASSED}` boolean"
            )
            stay = stay.join(chosen, "position", "left").withColumn(PASSED, sf.coalesce(f"`{PASSED}`", sf.lit(True)))
        return cls(materialized(stay) if pairs else documents, pairs, keys, instead)

    def __bool__(self) -> bool:
        """Return whether any decision holds on these documents."""
        return bool(self.pairs)

    @property
    def links(self) -> list[Pair]:
        """The pairs that people have linked."""
        return self.pairs.links()

    def allowed(self, pairs: DataFrame) -> DataFrame:
        """Return the pairs that decisions do not forbid, and without those that they decide to be the same."""
        decided = _listed(pairs, [*self.pairs.different, *self.pairs.same], "first long, second long")
        alone = _listed(pairs, [(each,) for each in self.pairs.alone], "alone long")
        found = pairs.join(decided, ["first", "second"], "left_anti")
        for side in ("first", "second"):
            found = found.join(alone, sf.col(side) == sf.col("alone"), "left_anti")
        return found.select(pairs.columns)

    def linked(self, pairs: DataFrame, grouping: Grouping, criteria: Criteria) -> DataFrame:
        """Add the pairs that people have linked, with their measures."""
        if not self.links:
            return pairs
        ends = sorted({end for pair in self.links for end in pair})
        measured = grouping.linked(_listed(pairs, [(end,) for end in ends], "position long"))
        own = {"clause": sf.lit(verifier.CLAUSES[verifier.SIMILAR])}
        if criteria.similarity is not None:
            own |= {"is_exact": sf.lit(grouping.texts is not None), "meets": sf.lit(True)}
        return pairs.unionByName(measured.withColumns(own))

    def edges(self, pairs: DataFrame) -> DataFrame:
        """Return what links the originals that stay."""
        edges = self._moved(pairs).select("first", "second")
        links = _listed(pairs, self.links, "first long, second long").join(
            self.stay.select(sf.col("position").alias("first"), sf.col("original").alias("one")), "first"
        )
        others = self.stay.select(sf.col("position").alias("second"), sf.col("original").alias("other"))
        links = links.join(others, "second").filter("one <> other")
        return edges.union(links.select(sf.least("one", "other"), sf.greatest("one", "other")))

    def parted(self, connected: DataFrame, pairs: DataFrame) -> DataFrame:
        """Part the components that have two different documents, given all pairs that link documents."""
        torn = self._torn(connected)
        if not torn:
            return connected
        roots = _listed(connected, [(each,) for each in torn], "root long")
        members = connected.join(roots, "root")
        ends = members.filter("position = original").select("position")
        links = self._moved(pairs)
        for side in ("first", "second"):
            links = links.join(ends.withColumnRenamed("position", side), side, "left_semi")
        index = sf.col("index").cast("string") if "index" in connected.columns else sf.lit("")
        named = members.select("position", "root", "original", index.alias("index"), sf.col("id").cast("string"))
        measure = "similarity" if "similarity" in pairs.columns else "distance"
        made = self._parts(named.collect(), links.select("first", "second", measure).collect(), measure)
        own = [name for name in connected.columns if name not in ("root", "original")]
        parts = _listed(connected, made, "position long, root long, original long", is_few=False)
        now = members.select(own).join(parts, "position").select(connected.columns)
        return materialized(connected.join(roots, "root", "left_anti").select(connected.columns).unionAll(now))

    def conflicts(self, members: DataFrame) -> tuple[str, ...]:
        """Return what decisions contradict each other in, with the groups that several documents are to stand for."""
        chosen: dict[int, list[int]] = defaultdict(list)
        if len(self.pairs.canonical) > 1:
            wanted = _listed(members, [(each,) for each in self.pairs.canonical], "position long")
            for row in sorted(members.join(wanted, "position").select("position", "first").collect()):
                chosen[row["first"]].append(row["position"])
        several = [each for each in chosen.values() if len(each) > 1]
        has_indices = bool(several) and "index" in members.columns and self.stay.select("index").distinct().count() > 1
        named = (
            [("/".join(self.keys[each]) if has_indices else self.keys[each][1]) for each in some] for some in several
        )
        return (
            *self.pairs.conflicts,
            *(f"{listed(list(map(repr, names)))} are to stand for one group." for names in named),
        )

    def _moved(self, pairs: DataFrame) -> DataFrame:
        """Return pairs with the originals that stand in for those that are alone, without those for which none does."""
        if not self.instead:
            return pairs
        moves = _listed(pairs, list(self.instead.items()), "alone long, instead long")
        for side in ("first", "second"):
            moved = pairs.join(moves, sf.col(side) == sf.col("alone"), "left")
            moved = moved.filter("alone is null or instead is not null")
            pairs = moved.withColumn(side, sf.coalesce("instead", side)).drop("alone", "instead")
        least, greatest = sf.least("first", "second"), sf.greatest("first", "second")
        return pairs.withColumns({"first": least, "second": greatest})

    def _torn(self, connected: DataFrame) -> list[int]:
        """Return the roots of the components that have two different documents."""
        if not self.pairs.different:
            return []
        ends = sorted({end for pair in self.pairs.different for end in pair})
        wanted = _listed(connected, [(end,) for end in ends], "position long")
        roots = dict(connected.join(wanted, "position").select("position", "root").collect())
        return sorted({roots[a] for a, b in self.pairs.different if a in roots and roots[a] == roots.get(b)})

    def _parts(self, members: Sequence[Any], links: Sequence[Any], measure: str) -> list[tuple[int, int, int]]:
        """Return the position of each member of torn components, with the root and the original in its part."""
        members = sorted(members)
        positions, roots, originals = np.array([row[:3] for row in members], dtype=np.int64).T
        copies, count = np.searchsorted(positions, originals), len(positions)
        union, stays = UnionFind(count), np.ones(count, dtype=np.bool_)
        _, starts, numbers = np.unique(roots, return_index=True, return_inverse=True)
        union.union(starts[numbers], np.arange(count))
        kind = np.dtype([("first", np.int64), ("second", np.int64), (measure, np.float64)])
        found = np.array([tuple(row) for row in links], dtype=kind)
        for side in ("first", "second"):
            found[side] = np.searchsorted(positions, found[side])
        here = {position: place for place, position in enumerate(positions.tolist())}
        decided = replace(
            self.pairs, same=_places(self.links, here), different=_places(self.pairs.different, here), alone=frozenset()
        )
        keys = [(row["index"] or "", row["id"]) for row in members]
        union = parted(union, decided, lambda: [found], copies, stays, lambda some: [keys[each] for each in some])
        firsts = np.asarray(union.groups().firsts, dtype=np.int64)
        _, texts, numbers = np.unique(pair_codes(firsts, copies), return_index=True, return_inverse=True)
        columns = (positions, positions[firsts], positions[texts[numbers]])
        return list(zip(*(column.tolist() for column in columns), strict=True))


def _places(pairs: Iterable[Pair], here: Mapping[int, int]) -> list[Pair]:
    return [(here[a], here[b]) for a, b in pairs if a in here and b in here]


def _mentioned(documents: DataFrame, decided: Decided) -> dict[int, Key]:
    """Return the documents that decisions mention, by their positions."""
    if not decided:
        return {}
    # Spark has no strings that are not valid Unicode.
    keys = [key for key in decided.mentioned if _is_unicode("".join(key))]
    index: Column = sf.col("index").cast("string") if "index" in place_columns(documents) else sf.lit("")
    named = documents.select("position", index.alias("index"), sf.col("id").cast("string").alias("id"))
    found = named.join(_listed(documents, keys, "index string, id string"), ["index", "id"])
    return {row["position"]: (row["index"], row["id"]) for row in found.collect()}


def _is_unicode(text: str) -> bool:
    return text.encode("utf-8", "ignore").decode() == text


def _staying(documents: DataFrame, alone: Iterable[int]) -> tuple[DataFrame, dict[int, int | None]]:
    """Return the documents that are not alone, each with an original that is not, and these instead of others."""
    if not (gone := sorted(alone)):
        return documents, {}
    left = documents.join(_listed(documents, [(each,) for each in gone], "position long"), "position", "left_anti")
    copies = left.join(_listed(documents, [(each,) for each in gone], "original long"), "original")
    instead: dict[int, int | None] = dict.fromkeys(gone)
    instead |= dict(copies.groupBy("original").agg(sf.min("position")).collect())
    moves = _listed(documents, list(instead.items()), "original long, instead long")
    moved = left.join(moves, "original", "left").withColumn("original", sf.coalesce("instead", "original"))
    return moved.select(documents.columns), instead


def _listed(like: DataFrame, rows: Sequence[Any], schema: str, *, is_few: bool = True) -> DataFrame:
    """Return a DataFrame with these rows."""
    found = like.sparkSession.createDataFrame(list(rows), schema)
    return sf.broadcast(found) if is_few else found
