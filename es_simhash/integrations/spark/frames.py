"""Frames of Spark with arrays of numpy, and the columns of fingerprint fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import pairwise
from operator import or_
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import (
    ArrayType,
    DateType,
    IntegerType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from es_simhash._core.arrays import Integers
from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.documents.sources import what_there_is
from es_simhash.errors import DocumentError, InputError, TextError
from es_simhash.groups.pairs.stored_rows import Numbers, Rows
from es_simhash.scheme.mapping import GROUP, SIZE
from es_simhash.scheme.passages import FIELD

# The name of the column of texts, unlikely for a user's column.
TEXT = "text to fingerprint"
CHANGED = "The texts have changed since they were first read. Give a DataFrame that is persisted."
_QUOTED = 60
# As many rows with an id each take some 50 MB.
_FEW = 1 << 19


def place_columns(frame: DataFrame) -> list[str]:
    """Return the columns that name a document, in sort order."""
    if "id" not in frame.columns:
        raise InputError("The DataFrame has no column 'id'. Rename the one that names each document.")
    return [name for name in ("id", "index") if name in frame.columns]


def selected(frame: DataFrame, columns: Sequence[str | Column]) -> DataFrame:
    """Select columns of a DataFrame; raise `InputError` for missing ones."""
    try:
        return frame.select(*columns)
    except AnalysisException as error:
        problem = str(error).partition("\n")[0].rstrip(".")
        raise InputError(
            f"The DataFrame lacks a column: {problem}. It has: {', '.join(frame.columns)}. Name one of these."
        ) from None


def text_column(frame: DataFrame, paths: Sequence[str]) -> Column:
    """Return the column of texts: the strings in the source fields, joined as in `es_simhash.documents.sources`."""
    for path, field in zip(paths, selected(frame, paths).schema, strict=True):
        kind = field.dataType.elementType if isinstance(field.dataType, ArrayType) else field.dataType
        if not isinstance(kind, StringType):
            raise InputError(
                f"The column {path!r} is of the type {field.dataType.simpleString()}. "
                "Choose one of strings or of arrays of strings, or cast it to string."
            )
    return sf.concat_ws("\n", *paths)


def number_of(frame: DataFrame) -> int:
    """Return the number of documents; raise `DocumentError` if some have the same id."""
    places = place_columns(frame)
    named = sf.when(sf.col("id").isNotNull(), sf.col("count"))
    seen = frame.groupBy(*places).count().agg(sf.sum("count"), sf.max(named), sf.max_by(sf.struct(*places), named))
    [(total, most, place)] = seen.collect()
    if (most or 0) > 1:
        where = f" in the index {place['index']!r}" if "index" in places else ""
        raise DocumentError(
            f"{most:,} documents have the same id {place['id']!r}{where}, so groups could not say which is meant. "
            "Give each document an id of its own."
        )
    return total or 0


def without_text(frame: DataFrame, paths: Sequence[str]) -> str:
    """Return what is said of a DataFrame none of whose documents has a text: its other columns may have it."""
    others = [name for name in frame.columns if name not in paths]
    return f"no text in {' or '.join(map(repr, paths))}. {what_there_is(others, paths)}"


def plain_column(frame: DataFrame, path: str) -> Column:
    """Return a column named by its path; times become milliseconds."""
    [field] = selected(frame, [path]).schema
    is_time = isinstance(field.dataType, TimestampType | TimestampNTZType | DateType)
    value = sf.unix_millis(sf.col(path).cast("timestamp")) if is_time else sf.col(path)
    return value.alias(path)


def texts_of(column: Any) -> list[str]:
    """Read the texts of an Arrow column."""
    try:
        return column.to_pylist()
    except UnicodeDecodeError:
        raise TextError("A text is not valid UTF-8. Decode it again, with the right encoding.") from None


def refused(error: InputError, text: str) -> InputError:
    """Return an error that quotes the beginning of the text."""
    return type(error)(f"The text {text[:_QUOTED]!r} {error.problem}")


def binary(rows: Rows) -> Any:
    """Make an Arrow column with each row of numbers as little-endian bytes."""
    rows = rows[:, None] if rows.ndim == 1 else rows
    rows = np.ascontiguousarray(rows, dtype=rows.dtype.newbyteorder("<"))
    offsets = np.arange(len(rows) + 1, dtype=np.int32) * np.int32(rows.shape[1] * rows.dtype.itemsize)
    return pa.BinaryArray.from_buffers(pa.binary(), len(rows), [None, pa.py_buffer(offsets), pa.py_buffer(rows)])


def rows_of(column: Any, dtype: npt.DTypeLike, width: int) -> Rows:
    """Read the rows of ``width`` numbers from a column made by `binary`."""
    numbers = np.frombuffer(b"".join(column.to_pylist()), dtype=np.dtype(dtype).newbyteorder("<"))
    return numbers.reshape(len(column), width)


def whole(batches: Iterator[Any], name: str) -> Iterator[Any]:
    """Yield sorted rows as tables, so that all rows with the same value of a column come together."""
    waiting: list[Any] = []
    for batch in batches:
        if not len(batch):
            continue
        keys = batch.column(name).to_numpy()
        last = int(np.searchsorted(keys, keys[-1]))
        if last or (waiting and waiting[-1].column(name)[-1].as_py() != keys[0]):
            yield pa.Table.from_batches([*waiting, batch.slice(0, last)]).combine_chunks()
            waiting = []
        waiting.append(batch.slice(last))
    if waiting:
        yield pa.Table.from_batches(waiting).combine_chunks()


def materialized(frame: DataFrame) -> DataFrame:
    """Compute a frame once and cut it off from its lineage; Spark frees it when nothing refers to it any more.

    A second computation could give documents other numbers. So the run fails if a lost machine held a part of the
    frame, unless the context has a directory for checkpoints.
    """
    has_directory = frame.sparkSession.sparkContext.getCheckpointDir() is not None
    return frame.checkpoint() if has_directory else frame.localCheckpoint()


def observed(frame: DataFrame, **numbers: Column) -> tuple[DataFrame, dict[str, int]]:
    """Compute a frame once, and with it counts or sums of its rows, since a query of their own takes long to plan."""
    seen = Observation()
    done = materialized(frame.observe(seen, *(number.alias(name) for name, number in numbers.items())))
    found = seen.get
    return done, {name: int(found.get(name) or 0) for name in numbers}


def few(frame: DataFrame, count: int) -> DataFrame:
    """Let Spark send a frame with this many short rows to every machine, if they are not many.

    Then the other side of a join stays where it is. Without it Spark has to guess before the frame is there.
    """
    return sf.broadcast(frame) if count <= _FEW else frame


# ---- blocks
# A block is that of documents whose positions follow one another. All rows of a block come to one place, those of its
# documents and those of pairs that need one of them.

SCHEMA = "block long, kind int, numbers binary, rows binary"
DOCUMENTS, PAIRS, COUNTS = range(3)

Bytes = npt.NDArray[np.uint8]

# The documents of a block have 5 MB of fingerprints.
_BLOCK_BITS = 15
# The 10,000 rows that Spark sends at once stay below the 2 GB of an Arrow column.
_ROW_BYTES = 1 << 17


def packed(kind: int, positions: Integers | Numbers, numbers: Numbers, rows: Bytes | None = None) -> Any:
    """Return numbers, each with a row of bytes, as a batch of rows for the blocks of these positions."""
    rows = np.empty((len(numbers), 0), dtype=np.uint8) if rows is None else rows
    blocks = positions.astype(np.int64) >> _BLOCK_BITS
    if (np.diff(blocks) < 0).any():
        order = np.argsort(blocks, kind="stable")
        blocks, numbers, rows = blocks[order], numbers[order], rows[order]
    step = max(1, _ROW_BYTES // (numbers.itemsize + rows.shape[1]))
    starts = np.union1d(np.flatnonzero(np.diff(blocks, prepend=-1)), np.arange(0, len(blocks), step))
    bounds = list(pairwise([*starts.tolist(), len(blocks)]))
    columns = [
        pa.array(blocks[starts]),
        pa.array(np.full(len(starts), kind, dtype=np.int32)),
        *(pa.array([each[start:stop].tobytes() for start, stop in bounds], pa.binary()) for each in (numbers, rows)),
    ]
    return pa.RecordBatch.from_arrays(columns, names=["block", "kind", "numbers", "rows"])


def packed_counts(*counts: int) -> Any:
    """Return counts as a batch of such rows."""
    return packed(COUNTS, np.zeros(len(counts), dtype=np.int64), np.array(counts, dtype=np.uint64))


def in_blocks(documents: DataFrame, pairs: DataFrame) -> DataFrame:
    """Bring the rows of each block together."""
    return documents.unionAll(pairs).repartition("block").sortWithinPartitions("block")


@dataclass(frozen=True, eq=False)
class Blocks:
    """Some blocks: the ``codes`` of pairs with what came with them, what is counted, and the rows of documents."""

    codes: Numbers
    extra: Bytes
    counts: Numbers
    _known: Numbers
    _rows: Bytes

    @classmethod
    def read(cls, batches: Iterator[Any], width: int, pair_width: int = 0) -> Iterator[Blocks]:
        """Yield whole blocks, given the widths of rows."""
        for table in whole(batches, "block"):
            kinds = table["kind"].to_numpy()
            codes, extra = _unpacked(table, kinds == PAIRS, pair_width)
            known, rows = _unpacked(table, kinds == DOCUMENTS, width)
            order = np.argsort(known)
            yield cls(codes, extra, _unpacked(table, kinds == COUNTS, 0)[0], known[order], rows[order])

    def rows_of(self, positions: Integers) -> Bytes:
        """Return the rows of documents."""
        return self._rows[np.searchsorted(self._known, positions.astype(np.uint64))]


def _unpacked(table: Any, which: npt.NDArray[np.bool_], width: int) -> tuple[Numbers, Bytes]:
    chosen = table.filter(pa.array(which))
    numbers = np.frombuffer(b"".join(chosen["numbers"].to_pylist()), dtype=np.uint64)
    rows = np.frombuffer(b"".join(chosen["rows"].to_pylist()), dtype=np.uint8)
    return numbers, rows.reshape(len(numbers), width)


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
