"""Comparing pairs on Spark: their fingerprints first, then their texts.

Pairs travel to the block of their second document, which adds its fingerprint, then to that of the first one, which
compares. So each fingerprint is sent twice, and once for each pair that is not found by several keys.

Pairs are brought together by their first document: its text comes once, before those of all that are compared with it.
A document is in some dozens of pairs at most, so no place gets too many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from es_simhash._core.arrays import words_per_code
from es_simhash.documents.documents import Documents
from es_simhash.errors import InputError
from es_simhash.groups.of_texts import LowestTexts
from es_simhash.groups.pairs.candidates import positions
from es_simhash.groups.pairs.fingerprint_store import value_type
from es_simhash.integrations.spark.condensing import CondensedColumns
from es_simhash.integrations.spark.frames import (
    CHANGED,
    DOCUMENTS,
    PAIRS,
    SCHEMA,
    TEXT,
    Blocks,
    Bytes,
    few,
    in_blocks,
    materialized,
    observed,
    packed,
    packed_counts,
    place_columns,
    text_column,
    texts_of,
)
from es_simhash.scheme import verifier
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.rarity import Rarity
from es_simhash.scheme.verifier import PairMeasures, Verifier, table_for
from es_simhash.sketches import hamming
from es_simhash.sketches.minhash.common import estimates, standard_errors

# The number of pairs to estimate at once, so that their arrays fit into a core's cache.
_AT_ONCE = 1 << 12


def compared(candidates: DataFrame, documents: DataFrame, comparison: Comparison) -> DataFrame:
    """Return the candidates that may count, with their ``distance`` and estimated ``similarity``, as far as compared.

    In rows of their own, whose documents have the number -1, are the numbers of ``others`` and of those ``left_out``.
    """
    fingerprints = documents.select("position", *comparison.kept.columns).mapInArrow(comparison.packed, SCHEMA)
    fingerprints = materialized(fingerprints)
    with_seconds = in_blocks(fingerprints, candidates).mapInArrow(comparison.with_seconds, SCHEMA)
    types_of_all = f"first long, second long{types(comparison.criteria)}, others long, left_out long"
    return in_blocks(fingerprints, with_seconds).mapInArrow(comparison.compare, types_of_all)


def with_both(pairs: DataFrame, documents: DataFrame, names: Sequence[str]) -> DataFrame:
    """Add columns of both documents to pairs, named by their sides."""
    for side in ("first", "second"):
        own = [sf.col("position").alias(side), *(sf.col(name).alias(f"{side} {name}") for name in names)]
        pairs = pairs.join(documents.select(*own), side)
    return pairs


def types(criteria: Criteria) -> str:
    """Return the types of the values that are compared, for a schema."""
    distance = ", distance int" if criteria.distance is not None else ""
    return distance + (", similarity double" if criteria.similarity is not None else "")


def near_by_distance(criteria: Criteria) -> Column:
    """Return the condition that pairs are near by their distance."""
    return sf.lit(False) if criteria.distance is None else sf.col("distance") <= criteria.distance


@dataclass(frozen=True)
class Comparison:
    """How fingerprints are compared; pairs count from the ``lowest`` similarity on, or if their distance is low.

    In a scope of pairs all stay, since it is not known yet which were to be compared.
    """

    kept: CondensedColumns
    criteria: Criteria
    lowest: float

    def packed(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the fingerprints of documents in blocks."""
        kept = self.kept
        for batch in batches:
            parts = [np.empty((len(batch), 0), dtype=np.uint8)]
            if kept.settings.simhash:
                parts.append(_bytes_of(kept.simhashes(batch.column("simhash"))))
            if kept.settings.minhash:
                parts.append(_bytes_of(kept.values(batch.column("values"))[:, : kept.size]))
            numbers = batch.column("position").to_numpy()
            yield packed(DOCUMENTS, numbers, numbers.astype(np.uint64), np.concatenate(parts, axis=1))

    def with_seconds(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield each pair once, for the block of its first document, with the fingerprint of the second one."""
        for blocks in Blocks.read(batches, self._width):
            codes = np.unique(blocks.codes)
            for start in range(0, len(codes), _AT_ONCE):
                some = codes[start : start + _AT_ONCE]
                first, second = positions(some)
                yield packed(PAIRS, first, some, blocks.rows_of(second))
            yield packed_counts(*blocks.counts.tolist())

    def compare(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the pairs that may count, and how many do not."""
        others = left_out = 0
        for blocks in Blocks.read(batches, self._width, self._width):
            left_out += int(blocks.counts.sum())
            for start in range(0, len(blocks.codes), _AT_ONCE):
                part = slice(start, start + _AT_ONCE)
                first, second = positions(blocks.codes[part])
                found = self._measured(blocks.rows_of(first), blocks.extra[part])
                stay = self._may_count(found)
                others += len(stay) - int(stay.sum())
                yield _rows(first[stay], second[stay], {name: each[stay] for name, each in found.items()}, 0, 0)
        none = np.array([-1])
        yield _rows(none, none, {name: np.zeros(1, kind) for name, kind in self._kinds.items()}, others, left_out)

    def _measured(self, first: Bytes, second: Bytes) -> dict[str, npt.NDArray[Any]]:
        found: dict[str, npt.NDArray[Any]] = {}
        if self.criteria.distance is not None:
            one, other = (np.ascontiguousarray(each[:, : self._code_width]).view(np.uint64) for each in (first, second))
            words = [hamming.distances(one[:, word], other[:, word]) for word in range(one.shape[1])]
            found["distance"] = np.stack(words).sum(axis=0, dtype=np.int32)
        if self.criteria.similarity is not None:
            assert self.kept.settings.minhash
            kind = value_type(self.kept.settings.minhash)
            a, b = (np.ascontiguousarray(each[:, self._code_width :]).view(kind) for each in (first, second))
            found["similarity"] = estimates(a, b, self.kept.value_bits)
        return found

    def _may_count(self, found: dict[str, npt.NDArray[Any]]) -> npt.NDArray[np.bool_]:
        scope = self.kept.scope
        conditions = [np.full(len(each), bool(scope and scope.is_by_pairs)) for each in found.values()]
        if self.criteria.distance is not None:
            conditions.append(found["distance"] <= self.criteria.distance)
        if self.criteria.similarity is not None:
            conditions.append(found["similarity"] >= self.lowest)
        return np.logical_or.reduce(conditions)

    @property
    def _kinds(self) -> dict[str, str]:
        kinds = {"distance": (self.criteria.distance, "int32"), "similarity": (self.criteria.similarity, "float64")}
        return {name: kind for name, (value, kind) in kinds.items() if value is not None}

    @property
    def _code_width(self) -> int:
        simhash = self.kept.settings.simhash
        return 8 * words_per_code(simhash.bits) if simhash else 0

    @property
    def _width(self) -> int:
        minhash = self.kept.settings.minhash
        return self._code_width + (self.kept.size * value_type(minhash).itemsize if minhash else 0)


def _bytes_of(rows: npt.NDArray[Any]) -> Bytes:
    rows = np.ascontiguousarray(rows)
    return rows.view(np.uint8).reshape(len(rows), rows.shape[1] * rows.itemsize)


def _rows(first: Any, second: Any, found: dict[str, npt.NDArray[Any]], others: int, left_out: int) -> Any:
    counts = {name: np.full(len(first), each) for name, each in (("others", others), ("left_out", left_out))}
    columns = {"first": first, "second": second, **found, **counts}
    return pa.RecordBatch.from_pydict({name: pa.array(each) for name, each in columns.items()})


# ---- the verdict


def near_duplicates(measured: DataFrame, kept: CondensedColumns, criteria: Criteria) -> DataFrame:
    """Return those of measured pairs that are near-duplicates, with the ``clause`` that decided."""
    types = ", ".join(f"{name} {kind}" for name, kind in _columns(criteria).items())
    return measured.mapInArrow(partial(_near, kept, criteria), types)


def identical_pairs(pairs: DataFrame, criteria: Criteria) -> DataFrame:
    """Return pairs of equal texts with the same columns."""
    values = {
        "clause": verifier.CLAUSES[verifier.EQUAL],
        "distance": 0,
        "similarity": 1.0,
        "standard_error": 0.0,
        "is_exact": True,
        "meets": True,
    }
    return pairs.select(
        *(
            (sf.lit(values[name]).cast(kind) if name in values else sf.col(name)).alias(name)
            for name, kind in _columns(criteria).items()
        )
    )


def _columns(criteria: Criteria) -> dict[str, str]:
    """Return the columns of pairs, as those of `groups.pairs.compare.pair_type`, and their types."""
    columns = {"first": "long", "second": "long", "clause": "string"}
    if criteria.distance is not None:
        columns["distance"] = "int"
    if criteria.similarity is not None:
        columns |= {"similarity": "double", "standard_error": "float", "is_exact": "boolean", "meets": "boolean"}
    return columns


def _near(kept: CondensedColumns, criteria: Criteria, batches: Iterator[Any]) -> Iterator[Any]:
    for batch in batches:
        columns = {name: batch.column(name).to_numpy(False) for name in batch.schema.names}
        texts = None
        if criteria.similarity is not None:
            texts = PairMeasures(columns["similarity"], columns["meets"])
            columns["similarity"] = texts.meeting
            columns["standard_error"] = _errors(kept, texts.meeting, columns["is_exact"])
        decided = verifier.clauses(criteria, columns.get("distance"), texts)
        columns["clause"] = np.array(verifier.CLAUSES)[decided]
        found = pa.RecordBatch.from_pydict({name: pa.array(columns[name]) for name in _columns(criteria)})
        yield found.filter(pa.array(verifier.are_near(decided)))


def _errors(kept: CondensedColumns, similarities: Any, are_exact: Any) -> npt.NDArray[np.float32]:
    """Return the standard errors of similarities, 0 for exact ones."""
    assert kept.settings.minhash
    errors = standard_errors(similarities, kept.settings.minhash.size, kept.value_bits)
    return np.where(are_exact, 0.0, errors).astype(np.float32)


@dataclass(frozen=True)
class Texts:
    """The texts of a DataFrame, which are read again for those documents whose texts are compared.

    Features weigh by ``rarity``, or else as the built-in table says.
    """

    frame: DataFrame
    documents: Documents
    rarity: Rarity | None

    def verifier(self, criteria: Criteria) -> Verifier:
        """Return what compares texts."""
        assert criteria.verification
        scheme, verification = self.documents.scheme, criteria.verification
        return Verifier(scheme, verification, table_for(scheme, verification, self.rarity))

    def compared(
        self, by: Verifier, pairs: DataFrame, count: int, originals: DataFrame, criteria: Criteria
    ) -> DataFrame:
        """Put the similarity of their texts, and whether they share enough numbers, in place of what pairs have."""
        distance = ["distance"] if criteria.distance is not None else []
        least = sf.when(near_by_distance(criteria), 0.0).otherwise(criteria.least).alias("least")
        seconds = pairs.select(sf.col("second").alias("position"), "first", "second", *distance, least)
        firsts = pairs.select(sf.col("first").alias("position"), "first").distinct()
        uses = few(seconds.unionByName(firsts, True), 2 * count)
        named = originals.select("position", *place_columns(self.frame), "content").join(uses, "position")
        together = self.of(few(named, 2 * count))
        ordered = together.repartition("first").sortWithinPartitions("first", sf.asc_nulls_first("second"))
        names = ("first", "second", *distance, "least", TEXT)
        schema = f"first long, second long{types(criteria)}, meets boolean"
        exact = ordered.select(*names).mapInArrow(partial(_compare, by, distance), schema)
        found, seen = observed(exact, pairs=sf.count("*"))
        if seen["pairs"] != count:
            raise InputError(CHANGED)
        return found

    def of(self, wanted: DataFrame) -> DataFrame:
        """Add the texts to rows of documents, several times where rows have one id and one text."""
        places = place_columns(self.frame)
        named = self.frame.select(*places, text_column(self.frame, self.documents.fields).alias(TEXT))
        # As a condition next to the join, the hash is computed only of the texts that are wanted.
        is_same = sf.startswith(sf.unhex(sf.sha2(sf.col(TEXT), 256)), sf.col("content"))
        return named.join(wanted, places).filter(is_same)


def lowest_texts(frame: DataFrame, documents: Documents) -> LowestTexts:
    """Return the texts of a DataFrame with the lowest content hashes: those of each part, and of these the lowest."""
    texts = frame.select(text_column(frame, documents.fields).alias(TEXT))
    lowest = LowestTexts()
    lowest.add([row[TEXT] for row in texts.mapInArrow(_lowest_of_part, f"`{TEXT}` string").collect()])
    return lowest


def _lowest_of_part(batches: Iterator[Any]) -> Iterator[Any]:
    lowest = LowestTexts()
    for batch in batches:
        lowest.add(texts_of(batch.column(TEXT)))
    yield pa.RecordBatch.from_pydict({TEXT: pa.array(lowest.found().values(), pa.string())})


def _compare(by: Verifier, kept: list[str], batches: Iterator[Any]) -> Iterator[Any]:
    """Compare texts with the last one before them that has no ``second`` document.

    Rows that come twice count once, and those without their first text not at all.
    """
    text, head, last = "", -1, -1
    for batch in batches:
        if not len(batch):
            continue
        texts = [text, *texts_of(batch.column(TEXT))]
        firsts, seconds = (
            np.concatenate([[before], batch.column(name).fill_null(-1).to_numpy()])
            for before, name in ((head, "first"), (last, "second"))
        )
        is_second = np.concatenate([[False], seconds[1:] >= 0])
        heads = np.maximum.accumulate(np.where(is_second, 0, np.arange(len(texts))))
        is_new = np.diff(firsts, prepend=-1).astype(bool) | np.diff(seconds, prepend=-1).astype(bool)
        own = np.flatnonzero(is_second & is_new & (firsts == firsts[heads]))
        text, head, last = texts[heads[-1]], int(firsts[heads[-1]]), int(seconds[-1])
        pairs = batch.take(pa.array(own - 1))
        found = by.measures(texts, np.stack([heads[own], own]), pairs.column("least").to_numpy())
        columns = {name: pairs.column(name) for name in ("first", "second", *kept)}
        columns |= {"similarity": pa.array(found.similarities), "meets": pa.array(found.meets)}
        yield pa.RecordBatch.from_pydict(columns)
