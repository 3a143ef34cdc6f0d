"""Adds the fields of fingerprints to a DataFrame of texts, as `Documents.add_fields` does to documents."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial, reduce
from operator import or_
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import ArrayType, IntegerType, StringType, StructField, StructType

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.errors import DocumentError, InputError
from es_simhash.integrations.spark.frames import TEXT, place_columns, refused, text_column, texts_of, without_text
from es_simhash.scheme.mapping import GROUP, SIZE
from es_simhash.scheme.passages import FIELD


def add_fields(frame: DataFrame, documents: Documents) -> DataFrame:
    """Add a column to a DataFrame, a struct named by the prefix with the fields of each fingerprint.

    Source fields are columns of strings or of arrays of strings, also inside structs. Null values are ignored; if all
    are null in all rows, a `DocumentError` names the other columns. So rows are read, up to one that has a value,
    unless the DataFrame is a stream.
    """
    if documents.prefix in frame.columns:
        raise InputError(f"The DataFrame has a column {documents.prefix!r} already. Drop it, or choose another prefix.")
    with_texts = frame.withColumn(TEXT, text_column(frame, documents.fields))
    is_there = reduce(or_, (sf.col(path).isNotNull() for path in documents.fields))
    if not frame.isStreaming and frame.filter(is_there).isEmpty() and not frame.isEmpty():
        lacking = without_text(frame, documents.fields)
        raise DocumentError(f"There is nothing to fingerprint: all rows have {lacking}")
    schema = StructType([*frame.schema.fields, StructField(documents.prefix, fields_type(documents))])
    return with_texts.mapInArrow(partial(_with_fields, documents), schema)


def _with_fields(documents: Documents, batches: Iterator[Any]) -> Iterator[Any]:
    for batch in batches:
        texts = texts_of(batch.column(TEXT))
        made = [_checked(*each) for each in zip(documents.fields_of(texts), texts, strict=True)]
        column = pa.array(made, type=to_arrow_type(fields_type(documents)))
        yield batch.drop_columns(TEXT).append_column(documents.prefix, column)


def _checked(made: Json | InputError, text: str) -> Json:
    if isinstance(made, InputError):
        raise refused(made, text)
    return made


def fields_type(documents: Documents) -> StructType:
    """Return the type of the struct of our fields."""
    keys = documents.scheme.layout.keys
    lists = {*(("blocks", "bands") if keys == "keyword" else ()), *((FIELD,) if keys != "text" else ())}
    kinds = {name: ArrayType(StringType()) if name in lists else StringType() for name in documents.names}
    return StructType([StructField(name, kind) for name, kind in kinds.items()])


def stored_type(documents: Documents) -> StructType:
    """Return the type of the struct of our fields in an index, where documents may be in groups."""
    return fields_type(documents).add(GROUP, StringType()).add(SIZE, IntegerType())


def in_groups(frame: DataFrame, prefix: str) -> DataFrame | None:
    """Return the documents in groups of several, as their fields say; None if these are not there."""
    own = frame.schema[prefix].dataType if prefix in frame.columns else None
    if not (isinstance(own, StructType) and {"content", GROUP, SIZE} <= set(own.names)):
        return None
    # A provisional group has no size.
    several = sf.col(f"{prefix}.{GROUP}").isNotNull() & (sf.coalesce(f"{prefix}.{SIZE}", sf.lit(2)) > 1)
    return frame.filter(several).select(*place_columns(frame), f"{prefix}.content")
