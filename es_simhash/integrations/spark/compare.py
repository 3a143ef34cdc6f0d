"""Compares candidates by their fingerprints: exact Hamming distances, estimated Jaccard similarities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from es_simhash.integrations.spark.condensing import CondensedColumns
from es_simhash.integrations.spark.scoping import SCOPE, are_in_scope
from es_simhash.scheme.query import Criteria
from es_simhash.sketches import hamming
from es_simhash.sketches.minhash.estimate import estimates

# The number of pairs to estimate at once, so that their arrays fit into a core's cache.
_AT_ONCE = 1 << 12


def compared(candidates: DataFrame, documents: DataFrame, kept: CondensedColumns, criteria: Criteria) -> DataFrame:
    """Add to candidates their ``distance`` and their estimated ``similarity``, as far as these count."""
    scope, names = kept.scope, kept.columns
    beside = with_both(candidates, documents, [*names, *(["content", SCOPE] if scope else [])])
    if scope:
        beside = beside.filter(are_in_scope(scope))
        if scope.is_by_pairs:
            beside = beside.filter("`first content` <> `second content`")
        own = [f"`{side} {name}`" for side in ("first", "second") for name in names]
        beside = beside.select("first", "second", *own)
    return beside.mapInArrow(partial(_compare, kept, criteria), f"first long, second long{types(criteria)}")


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


def _compare(kept: CondensedColumns, criteria: Criteria, batches: Iterator[Any]) -> Iterator[Any]:
    for whole in batches:
        for start in range(0, len(whole), _AT_ONCE):
            batch = whole.slice(start, _AT_ONCE)
            columns = {name: batch.column(name) for name in ("first", "second")}
            if criteria.distance is not None:
                columns["distance"] = pa.array(_distances(kept, batch))
            if criteria.similarity is not None:
                columns["similarity"] = pa.array(_estimates(kept, batch))
            yield pa.RecordBatch.from_pydict(columns)


def _distances(kept: CondensedColumns, batch: Any) -> npt.NDArray[np.int32]:
    first, second = (kept.simhashes(batch.column(f"{side} simhash")) for side in ("first", "second"))
    words = [hamming.distances(first[:, word], second[:, word]) for word in range(first.shape[1])]
    return np.stack(words).sum(axis=0, dtype=np.int32)


def _estimates(kept: CondensedColumns, batch: Any) -> npt.NDArray[np.float64]:
    first, second = (kept.values(batch.column(f"{side} values")) for side in ("first", "second"))
    return estimates(first[:, : kept.size], second[:, : kept.size], kept.value_bits)
