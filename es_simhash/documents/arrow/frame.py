"""Frames of documents: from rows to texts with ids, and to documents as engines take them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from es_simhash._core.arrow import ArrowArray, ArrowStream, is_arrow, read_frame, small_batches
from es_simhash._core.json_paths import Json, value_at
from es_simhash.documents.arrow.columns import are_plain, columns_at, id_path, text_fields
from es_simhash.documents.arrow.values import convert_row, converts_of, json_row, raw_rows, without_nanoseconds
from es_simhash.documents.sources import as_id, check_sources, text_of
from es_simhash.errors import DocumentError, InputError


@dataclass(frozen=True)
class Frame:
    """A frame of documents, a row each: of pandas, polars, DuckDB, pyarrow, or whatever has ``__arrow_c_stream__``.

    Wherever documents are taken, a frame itself stands for ``Frame(frame)``. The text of a row is that of its
    ``fields``: columns, or dotted paths into columns of structs and lists; by default all columns of strings but that
    of the ids. The id is the string or number at the path ``id_field``; by default in the column ``_id`` or ``id``, and
    without either the number of the row, from 0. Null is a missing value. Rows are read as they are needed.
    """

    frame: ArrowStream | ArrowArray
    fields: Sequence[str] = ()
    id_field: str | None = None

    def __post_init__(self) -> None:
        if not is_arrow(self.frame):
            raise InputError(
                f"A {type(self.frame).__name__} has no __arrow_c_stream__, so it is no frame. "
                "Give one of pandas (from 2.2 on), polars (collect a lazy one), DuckDB or pyarrow."
            )
        object.__setattr__(self, "fields", check_sources(self.fields) if self.fields else ())

    def texts(self) -> Iterator[str]:
        """Yield the text of each row."""
        return (text for _, text, _ in self.pairs_with())

    def pairs_with(self, others: Sequence[str] = ()) -> Iterator[tuple[str, str, Json]]:
        """Yield the id and the text of each row, and an object that has the fields at the ``others``."""
        reader = read_frame(self.frame)
        ids = id_path(reader.schema, self.id_field)
        fields = text_fields(reader.schema, self.fields, ids)
        if not others and are_plain(reader.schema, ids, fields):
            return _plain_pairs(reader, ids, fields)
        return _pairs(reader, ids, fields, others)

    def documents(self) -> Iterator[Json]:
        """Yield each row as a document, with its ``_id`` if the frame has ids."""
        reader = read_frame(self.frame)
        ids, columns = id_path(reader.schema, self.id_field), reader.schema.names
        converts = converts_of(reader.schema, columns)
        for position, values in _rows(reader, columns):
            row = json_row(values, converts)
            yield {**row, "_id": _id(row, ids, position)} if ids else row


# What is taken where documents are.
AnyFrame: TypeAlias = Frame | ArrowStream | ArrowArray


def frame_of(given: object) -> Frame | None:
    """Return the frame that was given; None if it was something else."""
    if isinstance(given, Frame):
        return given
    return Frame(given) if is_arrow(given) else None


def documents_of(given: Any) -> Any:
    """Return the documents of a frame, or the documents that were given."""
    frame = frame_of(given)
    return frame.documents() if frame else given


def _plain_pairs(reader: Any, ids: str | None, fields: Sequence[str]) -> Iterator[tuple[str, str, Json]]:
    """Yield the ids and texts in columns that hold just these: several times as fast as row by row."""
    position = 0
    for batch in small_batches(reader):
        numbers = range(position, position + batch.num_rows)
        try:
            columns = [batch.column(name).to_pylist() for name in fields]
            own = numbers if ids is None else batch.column(ids).to_pylist()
        except UnicodeDecodeError:
            raise InputError(
                f"In the rows from {position:,} on is a text that is not valid UTF-8. Correct it."
            ) from None
        for number, id, *texts in zip(numbers, own, *columns, strict=True):
            text = "\n".join([text for text in texts if text is not None])
            yield as_id(id) or _no_id(ids, number), text, {}
        position += batch.num_rows


def _pairs(
    reader: Any, ids: str | None, fields: Sequence[str], others: Sequence[str]
) -> Iterator[tuple[str, str, Json]]:
    columns = columns_at(reader.schema, [*fields, *others, *([ids] if ids else [])])
    converts = converts_of(reader.schema, columns)
    for position, values in _rows(reader, columns):
        try:
            row = convert_row(values, converts)
            yield _id(row, ids, position), text_of(row, fields), row
        except DocumentError as error:
            raise DocumentError(error.problem, position) from None


def _rows(reader: Any, columns: Sequence[str]) -> Iterator[tuple[int, Json]]:
    """Yield the values of each row with its number."""
    position = 0
    for batch in small_batches(reader):
        for values in raw_rows(without_nanoseconds(batch.select(columns))):
            if isinstance(values, str):
                raise DocumentError(values, position)
            yield position, values
            position += 1


def _id(row: Json, path: str | None, position: int) -> str:
    if path is None:
        return str(position)
    return as_id(value_at(row, path)) or _no_id(path, position)


def _no_id(path: str | None, position: int) -> NoReturn:
    problem = f"has no id in the column {path!r}, neither a whole number nor a text of one or more characters"
    raise DocumentError(f"{problem}. Name another by Frame(frame, id_field=…), or drop the row.", position)
