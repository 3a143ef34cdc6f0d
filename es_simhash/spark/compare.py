"""Compares candidates as `groups.pairs.compare` does: exact Hamming distances, estimated Jaccard similarities."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from es_simhash.scheme.query import Criteria
from es_simhash.sketches import hamming
from es_simhash.sketches.minhash.estimate import estimates, standard_errors
from es_simhash.spark.condensing import CondensedColumns

# The number of pairs to estimate at once, so that their arrays fit into a core's cache.
_AT_ONCE = 1 << 12


def compared(candidates: DataFrame, documents: DataFrame, kept: CondensedColumns, criteria: Criteria) -> DataFrame:
    """Add to candidates their ``distance`` and ``similarity``, as far as these count, and whether they are near."""
    beside = candidates
    for side in ("first", "second"):
        own = [sf.col("position").alias(side), *(sf.col(name).alias(f"{side} {name}") for name in kept.columns)]
        beside = beside.join(documents.select(*own), side)
    schema = "first long, second long, left_out long"
    schema += ", distance int" if criteria.distance is not None else ""
    schema += ", similarity double, standard_error float" if criteria.similarity is not None else ""
    return beside.mapInArrow(partial(_compare, kept, criteria), f"{schema}, is_near boolean")


def _compare(kept: CondensedColumns, criteria: Criteria, batches: Iterator[Any]) -> Iterator[Any]:
    for whole in batches:
        for start in range(0, len(whole), _AT_ONCE):
            batch = whole.slice(start, _AT_ONCE)
            columns = {name: batch.column(name) for name in ("first", "second", "left_out")}
            near = np.zeros(len(batch), dtype=np.bool_)
            if criteria.distance is not None:
                columns["distance"] = pa.array(_distances(kept, batch))
                near |= columns["distance"].to_numpy() <= criteria.distance
            if criteria.similarity is not None:
                similarities, errors = _estimates(kept, batch)
                columns |= {"similarity": pa.array(similarities), "standard_error": pa.array(errors)}
                near |= similarities >= criteria.similarity
            yield pa.RecordBatch.from_pydict({**columns, "is_near": pa.array(near)})


def _distances(kept: CondensedColumns, batch: Any) -> npt.NDArray[np.int32]:
    first, second = (kept.simhashes(batch.column(f"{side} simhash")) for side in ("first", "second"))
    words = [hamming.distances(first[:, word], second[:, word]) for word in range(first.shape[1])]
    return np.stack(words).sum(axis=0, dtype=np.int32)


def _estimates(kept: CondensedColumns, batch: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float32]]:
    """Return similarities, and their standard errors."""
    first, second = (kept.values(batch.column(f"{side} values")) for side in ("first", "second"))
    similarities = estimates(first, second, kept.value_bits)
    return similarities, standard_errors(similarities, first.shape[1], kept.value_bits).astype(np.float32)
