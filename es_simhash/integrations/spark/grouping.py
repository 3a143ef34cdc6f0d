"""Groups of connected documents, which of them stand for which, and how near they are to these.

Of two connected documents, the first stands for the other. Three and more come to one process, which compares them as
one machine does; very many do not, and are decided by the pairs that were found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from es_simhash._core.arrays import Integers
from es_simhash._core.environment import MEMORY
from es_simhash.errors import InputError
from es_simhash.groups.pairs.compare import (
    MOST_CONNECTED,
    CompareTexts,
    Nearness,
    canonicals_by_pairs,
    canonicals_of,
    text_comparer,
    values_of,
)
from es_simhash.groups.pairs.decided import Pair, SameOnes, same_ones
from es_simhash.groups.pairs.fingerprint_store import FingerprintStore
from es_simhash.groups.pairs.stored_rows import Spools, Strings, encoded
from es_simhash.integrations.spark.compare import Texts, types, with_both
from es_simhash.integrations.spark.condensing import RANK, SCOPE, CondensedColumns, scope_rows
from es_simhash.integrations.spark.frames import CHANGED, TEXT, materialized, observed, place_columns, texts_of, whole
from es_simhash.scheme.fingerprinting import STATUSES
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.verifier import PairMeasures, Similarities, Verifier

_PAIR = 2
# Whether people chose others to stand for the group: a name unlikely for a column of a user.
PASSED = "whether it was passed over"


@dataclass(frozen=True)
class Grouping:
    """How groups are made of ``documents``, which have numbers."""

    documents: DataFrame
    gathering: Gathering
    texts: Texts | None

    def connected(self, roots: DataFrame) -> DataFrame:
        """Return the documents with others of the same ``root``, given the roots of originals that edges connect."""
        linked = self.documents.join(roots.withColumnRenamed("node", "original"), "original", "left")
        connected = linked.filter("root is not null or copies > 1").withColumn("root", sf.coalesce("root", "original"))
        return materialized(connected)

    def members(self, connected: DataFrame, edges: DataFrame) -> DataFrame:
        """Return the documents of all groups, with the number of the ``first`` of the group, and of their ``head``.

        The head is the document that stands for another, or itself. ``edges`` are the pairs that are near.
        """
        groups = connected.groupBy("root").agg(self._first(connected).alias("first"), sf.count("*").alias("members"))
        # Some may have lost all others by decisions.
        groups = groups.filter("members > 1").select("root", "first.position", "members")
        groups, seen = observed(groups, most=sf.max("members"))
        sized = connected.join(groups.withColumnRenamed("position", "first"), "root")
        heads = sized.filter(f"members <= {_PAIR}").select("position", sf.col("first").alias("head"))
        if seen["most"] > _PAIR:
            several = sized.filter(f"members between {_PAIR + 1} and {MOST_CONNECTED}")
            heads = heads.union(self._compared(several))
        if seen["most"] > MOST_CONNECTED:
            heads = heads.union(self._by_pairs(sized.filter(f"members > {MOST_CONNECTED}"), edges))
        columns = ["position", "original", "first", "head", *place_columns(self.documents)]
        return sized.join(heads, "position").select(*columns)

    def nearness(self, members: DataFrame) -> DataFrame:
        """Return how near the texts of members are to that of the canonical one, by their ``original``.

        Their ``content`` is a hash of the text, as our fields have it.
        """
        heads = members.filter("position = head").select("head", sf.col("original").alias("of head"))
        texts = members.filter("position = original").select("position", "head").join(heads, "head")
        rows = self._to_compare(texts.withColumn("is_head", sf.expr("position = `of head`")).drop("of head"))
        ordered = rows.repartition("head").sortWithinPartitions("head", sf.desc("is_head"))
        types = "original long, content string, similarity double, distance int, standard_error double"
        return ordered.mapInArrow(self.gathering.nearness_to_heads, types)

    def linked(self, places: DataFrame) -> DataFrame:
        """Return the pairs that people have linked with their measures, given the ``position`` of each document."""
        rows = self._to_compare(places).coalesce(1)
        types_ = types(self.gathering.criteria)
        error = ", standard_error float" if self.gathering.criteria.similarity is not None else ""
        return rows.mapInArrow(self.gathering.between, f"first long, second long{types_}{error}")

    def _to_compare(self, rows: DataFrame) -> DataFrame:
        """Add the columns to compare to rows that all have different texts."""
        condensed = self.documents.select("position", "content", *self.gathering.kept.columns)
        return self._with_texts(rows.join(condensed, "position").withColumn("original", sf.col("position")))

    @staticmethod
    def _first(connected: DataFrame) -> Column:
        """Return the rank and the position of the first document, in the order of preference."""
        order = {"passed": (PASSED, False), "rank": (RANK, 0.0)}
        known = [
            (sf.col(f"`{own}`") if own in connected.columns else sf.lit(default)).alias(name)
            for name, (own, default) in order.items()
        ]
        return sf.min(sf.struct(*known, "position"))

    def _compared(self, connected: DataFrame) -> DataFrame:
        """Bring the documents of each component to one process, which compares them."""
        kept = self.gathering.kept
        own = [name for name in (SCOPE, RANK, PASSED) if name in connected.columns]
        names = ["root", "position", "original", "content", *kept.columns, *own]
        rows = self._with_texts(connected.select(*(f"`{name}`" for name in names)))
        ordered = rows.repartition("root").sortWithinPartitions("root", "position")
        return ordered.mapInArrow(self.gathering.heads, "position long, head long")

    def _by_pairs(self, connected: DataFrame, edges: DataFrame) -> DataFrame:
        """Bring the edges of each component to one process. They are of texts: a document with a text has its edges."""
        texts = connected.groupBy("root", "original").agg(self._first(connected).alias("place"))
        order = ("place.passed", "place.rank", sf.col("place.position").alias("place"))
        texts = materialized(texts.select("root", "original", *order))
        placed = connected.select("position", "root", "original").join(texts, ["root", "original"])
        rows = with_both(edges, placed, ["root", "place", "passed", "rank"])
        rows = rows.filter("`first root` = `second root`").withColumnRenamed("first root", "root")
        ordered = rows.drop("first", "second", "second root").repartition("root").sortWithinPartitions("root")
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


# ---- documents that were gathered in one process
# Rows have the ``position`` of each document and that of the ``original`` with its text, whose row alone has the text.

MEASURES = ("similarity", "distance", "standard_error")
NEARNESS = ("original", "content", *MEASURES)
_OK = STATUSES.index("ok")


@dataclass(frozen=True)
class Gathering:
    """How gathered documents are compared: by their fingerprints, or text by text if a verifier is there.

    People have decided that those of ``links`` are the same.
    """

    kept: CondensedColumns
    criteria: Criteria
    verifier: Verifier | None
    links: Sequence[Pair] = ()

    def heads(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the members of sorted components, each with its ``head``, the document that stands for it."""
        for table in whole(batches, "root"):
            with Spools.within(MEMORY) as spools:
                nearness = self._nearness(table, spools, self._same(table))
                members, heads = _places(table, nearness)
            positions = table["position"].to_numpy()
            yield pa.RecordBatch.from_pydict({"position": positions[members], "head": positions[heads]})

    def nearness_to_heads(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield how near each text is to that of its group's ``head``, which comes before the others."""
        kept, last = self.kept, list[Any]()
        for batch in batches:
            if not len(batch):
                continue
            table = pa.Table.from_batches([*last, batch]).combine_chunks()
            starts = np.flatnonzero(table["is_head"].to_numpy())
            last = table.slice(int(starts[-1]), 1).to_batches()
            with Spools.within(MEMORY) as spools:
                nearness = self._nearness(table, spools)
                nearness.load(range(len(table)))
                heads = np.repeat(starts, np.diff(starts, append=len(table)))
                found = list(values_of(nearness.between(heads, np.arange(len(table)))))
            new = slice(len(table) - len(batch), None)
            rows = [table["position"].to_pylist(), kept.content_hashes(table["content"]), *zip(*found, strict=True)]
            types = (pa.int64(), pa.string(), pa.float64(), pa.int32(), pa.float64())
            columns = [pa.array(each[new], type=kind) for each, kind in zip(rows, types, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, names=NEARNESS)

    def between(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the linked pairs with their measures, given all their documents."""
        table = pa.Table.from_batches(list(batches)).combine_chunks()
        with Spools.within(MEMORY) as spools:
            nearness = self._nearness(table, spools)
            nearness.load(range(len(table)))
            places = _places_of(table["position"].to_numpy())
            near = nearness.between(*places(np.array(self.links, dtype=np.int64).T))
        first, second = (pa.array(each) for each in zip(*self.links, strict=True))
        columns: dict[str, Any] = {"first": first, "second": second}
        if self.criteria.distance is not None:
            columns["distance"] = pa.array(near.distances, pa.int32())
        if self.criteria.similarity is not None:
            errors = np.zeros(len(first)) if near.standard_errors is None else near.standard_errors
            columns |= {"similarity": pa.array(near.similarities), "standard_error": pa.array(errors, pa.float32())}
        yield pa.RecordBatch.from_pydict(columns)

    def _same(self, table: Any) -> SameOnes | None:
        """Return what people have linked in the components of a table."""
        positions = table["position"].to_numpy()
        links = np.array(self.links, dtype=np.int64).reshape(-1, 2)
        links = links[np.isin(links, positions).all(axis=1)]
        if not len(links):
            return None
        places = _places_of(positions)
        return same_ones(places(links).tolist(), places(table["original"].to_numpy()), table["root"].to_numpy())

    def _nearness(self, table: Any, spools: Spools, same: SameOnes | None = None) -> Nearness:
        kept = self.kept
        store = FingerprintStore(
            kept.settings, spools, kept.value_bits, kept.scope if SCOPE in table.column_names else None
        )
        for batch in table.to_batches():
            store.add(kept.condensed(batch, np.full(len(batch), _OK, dtype=np.uint8)))
            if store.scopes:
                store.scopes.add(scope_rows(batch.column(SCOPE)))
        store.complete()
        exact = _exact(self.verifier, table, spools) if self.verifier else None
        return Nearness(store, self.criteria, exact, same)


def _places_of(positions: Integers) -> Callable[[Integers], Integers]:
    """Return the function that finds the places of some of these positions."""
    order = np.argsort(positions)
    return lambda wanted: order[np.searchsorted(positions, wanted, sorter=order)]


def _places(table: Any, nearness: Nearness) -> tuple[Integers, Integers]:
    """Return the places of the members of components, and those of the documents that stand for them."""
    roots = table["root"].to_numpy()
    bounds = [*np.flatnonzero(np.diff(roots, prepend=-1)).tolist(), len(roots)]
    order = np.lexsort((*(table[name].to_numpy() for name in (RANK, PASSED) if name in table.column_names), roots))
    groups = [order[start:stop].tolist() for start, stop in pairwise(bounds)]
    return order, canonicals_of(groups, nearness)


def heads_by_pairs(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the ``head`` of each document that has an edge, given the edges of components, sorted by these.

    Both ends of an edge have the ``place`` and the ``rank`` of a document, and whether people ``passed`` it over.
    """
    for table in whole(batches, "root"):
        places, ranks, passed = (
            np.concatenate([table[f"{side} {name}"].to_numpy() for side in ("first", "second")])
            for name in ("place", "rank", "passed")
        )
        known, one_of_each, numbers = np.unique(places, return_index=True, return_inverse=True)
        order = np.lexsort((known, ranks[one_of_each], passed[one_of_each]))
        turns = np.empty_like(order)
        turns[order] = np.arange(len(order))
        heads = canonicals_by_pairs(len(order), *turns[numbers.reshape(2, -1)])
        yield pa.RecordBatch.from_pydict({"place": known[order], "head": known[order][heads]})


def _exact(verifier: Verifier, table: Any, spools: Spools) -> CompareTexts:
    """Return what compares the texts of documents, by their places."""
    texts = Strings(spools)
    with_text = table.filter(table[TEXT].is_valid())
    texts.extend(encoded(texts_of(with_text[TEXT])))
    known, originals = with_text["position"].to_numpy(), table["original"].to_numpy()
    order = np.argsort(known)
    places = np.searchsorted(known, originals, sorter=order)
    if not len(known) or (known[order].take(places, mode="clip") != originals).any():
        raise InputError(CHANGED)
    numbers = order[places]
    compare = text_comparer(verifier, texts, MEMORY)

    def exact(first: Integers, second: Integers, least: Similarities | float) -> PairMeasures:
        return compare(numbers[first], numbers[second], least)

    return exact
