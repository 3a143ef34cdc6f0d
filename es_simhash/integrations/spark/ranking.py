"""The ranks of documents in a column; the lowest of a group stands for it (see `es_simhash.groups.canonical`)."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from es_simhash.errors import InputError
from es_simhash.groups.canonical import Canonical
from es_simhash.integrations.spark.frames import plain_column

# Names unlikely for columns of a user: what ranks are made of, and the ranks.
RANKED, RANK = "values to rank by", "rank of the document"


def ranked_column(frame: DataFrame, canonical: Canonical) -> Column:
    """Return the column with what the rule reads of documents, an object."""
    paths = frame.columns if isinstance(canonical.fields, bool) else canonical.fields
    return sf.struct(*(plain_column(frame, path) for path in paths)).alias(RANKED)


def ranks(canonical: Canonical, values: Any) -> Any:
    """Return the ranks of documents as an Arrow array, given the column of what the rule reads."""
    try:
        return pa.array([float(canonical.rank(each)) for each in values.to_pylist()], type=pa.float64())
    except (TypeError, ValueError) as error:
        raise InputError(
            f"Documents cannot be ordered by {canonical.name!r}: {error}. On Spark, let it give a number for each."
        ) from error
