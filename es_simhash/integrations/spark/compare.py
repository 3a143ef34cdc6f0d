"""Compares candidates by their fingerprints: exact Hamming distances, estimated Jaccard similarities.

Pairs travel to the block of their second document, which adds its fingerprint, then to that of the first one, which
compares. So each fingerprint is sent twice, and once for each pair that is not found by several keys.
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
from es_simhash.groups.pairs.candidates import positions
from es_simhash.groups.pairs.fingerprint_store import value_type
from es_simhash.integrations.spark.condensing import CondensedColumns
from es_simhash.integrations.spark.frames import (
    DOCUMENTS,
    PAIRS,
    SCHEMA,
    Blocks,
    Bytes,
    in_blocks,
    materialized,
    packed,
    packed_counts,
)
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.verdict import rule
from es_simhash.scheme.verdict.rule import PairMeasures
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
        "clause": rule.CLAUSES[rule.EQUAL],
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
        decided = rule.clauses(criteria, columns.get("distance"), texts)
        columns["clause"] = np.array(rule.CLAUSES)[decided]
        found = pa.RecordBatch.from_pydict({name: pa.array(columns[name]) for name in _columns(criteria)})
        yield found.filter(pa.array(rule.are_near(decided)))


def _errors(kept: CondensedColumns, similarities: Any, are_exact: Any) -> npt.NDArray[np.float32]:
    """Return the standard errors of similarities, 0 for exact ones."""
    assert kept.settings.minhash
    errors = standard_errors(similarities, kept.settings.minhash.size, kept.value_bits)
    return np.where(are_exact, 0.0, errors).astype(np.float32)
