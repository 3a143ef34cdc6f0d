"""The verdict on measured pairs (see `es_simhash.scheme.verdict.rule`)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from es_simhash.integrations.spark.condensing import CondensedColumns
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.verdict import rule
from es_simhash.scheme.verdict.rule import PairMeasures
from es_simhash.sketches.minhash.common import standard_errors


def near(measured: DataFrame, kept: CondensedColumns, criteria: Criteria) -> DataFrame:
    """Return those of measured pairs that are near-duplicates, with the ``clause`` that decided."""
    types = ", ".join(f"{name} {kind}" for name, kind in _columns(criteria).items())
    return measured.mapInArrow(partial(_near, kept, criteria), types)


def identical(pairs: DataFrame, criteria: Criteria) -> DataFrame:
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
