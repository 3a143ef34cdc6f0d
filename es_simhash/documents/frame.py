"""Frames of documents: from rows to texts with ids, and to documents as engines take them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import chain, islice
from typing import Any, NoReturn, TypeAlias

from es_simhash._core.arrow import (
    ArrowArray,
    ArrowStream,
    is_arrow,
    is_integer,
    is_string,
    is_text,
    one_line,
    pyarrow_module,
    read_frame,
    small_batches,
)
from es_simhash._core.json_codec import Json, splits, value_at
from es_simhash.documents.guess import SAMPLE, only_text
from es_simhash.documents.sources import as_id, check_sources, text_of
from es_simhash.errors import DocumentError, InputError


@dataclass(frozen=True)
class Frame:
    """A frame of documents, a row each: of pandas, polars, DuckDB, pyarrow, or whatever has ``__arrow_c_stream__``.

    Wherever documents are taken, a frame itself stands for ``Frame(frame)``. The text of a row is that of its
    ``fields``: columns, or dotted paths into columns of structs and lists; by default the only column that reads like
    texts. The id is the string or number at the path ``id_field``; by default in the column ``_id`` or ``id``, and
    without either the number of the row, from 0. Null is a missing value. Rows are read as they are needed.

    >>> import polars
    >>> frame = Frame(polars.DataFrame({"sku": [7], "name": ["Rain coat"]}), fields=["name"], id_field="sku")
    >>> list(frame.pairs_with())
    [('7', 'Rain coat', {})]
    """

    frame: ArrowStream | ArrowArray
    fields: str | Sequence[str] = ()
    id_field: str | None = None

    def __post_init__(self) -> None:
        if not is_arrow(self.frame):
            raise InputError(
                f"A {type(self.frame).__name__} has no __arrow_c_stream__, so it is not a frame. "
                "Give one of pandas (2.2 or later), polars (collect a lazy one), DuckDB or pyarrow."
            )
        object.__setattr__(self, "fields", check_sources(self.fields) if self.fields else ())

    def texts(self) -> Iterator[str]:
        """Yield the text of each row.

        >>> list(frame.texts())
        ['Rain coat', 'Umbrella']
        """
        return (text for _, text, _ in self.pairs_with())

    def pairs_with(self, others: Sequence[str] = ()) -> Iterator[tuple[str, str, Json]]:
        """Yield the id and the text of each row, and an object that has the fields at the ``others``.

        >>> list(frame.pairs_with(["price"]))[0]
        ('7', 'Rain coat', {'sku': 7, 'name': 'Rain coat', 'price': 30})
        """
        reader = read_frame(self.frame)
        schema, batches = reader.schema, small_batches(reader)
        ids = id_path(schema, self.id_field)
        if self.fields:
            fields = self.fields
            _check_paths(schema, fields)
        else:
            first = list(islice(batches, 1))
            fields, batches = _guessed(schema, ids, first), chain(first, batches)
        if not others and are_plain(schema, ids, fields):
            return _plain_pairs(batches, ids, fields)
        return _pairs(schema, batches, ids, fields, others)

    def documents(self) -> Iterator[Json]:
        """Yield each row as a document, with its ``_id`` if the frame has ids.

        >>> next(frame.documents())
        {'sku': 7, 'name': 'Rain coat', 'price': 30, '_id': '7'}
        """
        reader = read_frame(self.frame)
        ids, columns = id_path(reader.schema, self.id_field), reader.schema.names
        converts = converts_of(reader.schema, columns)
        for position, values in _rows(small_batches(reader), columns):
            row = {name: _json_or_raw(converts[name], value) for name, value in values.items() if value is not None}
            yield {**row, "_id": _id(row, ids, position)} if ids else row


# Taken in place of documents.
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


def _plain_pairs(batches: Iterable[Any], ids: str | None, fields: Sequence[str]) -> Iterator[tuple[str, str, Json]]:
    """Yield the ids and texts in columns that hold just these: several times as fast as row by row."""
    position = 0
    for batch in batches:
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
    schema: Any, batches: Iterable[Any], ids: str | None, fields: Sequence[str], others: Sequence[str]
) -> Iterator[tuple[str, str, Json]]:
    needed = {name for path in (*fields, *others, *([ids] if ids else [])) for name, _ in splits(path)}
    columns = [name for name in schema.names if name in needed]
    converts = converts_of(schema, columns)
    for position, values in _rows(batches, columns):
        try:
            row = convert_row(values, converts)
            yield _id(row, ids, position), text_of(row, fields), row
        except DocumentError as error:
            raise DocumentError(error.problem, position) from None


def _rows(batches: Iterable[Any], columns: Sequence[str]) -> Iterator[tuple[int, Json]]:
    """Yield the values of each row with its number."""
    position = 0
    for batch in batches:
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
    raise DocumentError(f"{problem}. Name another by id_field=…, or drop the row.", position)


# The usual fields of ids.
IDS = ("_id", "id")


def id_path(schema: Any, chosen: str | None) -> str | None:
    """Return the path of the ids, which is ``chosen`` or usual; None if rows have no ids."""
    if chosen is not None:
        _check_paths(schema, [chosen])
        return chosen
    return next((name for name in IDS if name in schema.names), None)


def _guessed(schema: Any, ids: str | None, first: Sequence[Any]) -> Sequence[str]:
    """Return the column of the texts, by the first batch if several have strings."""
    found = [field.name for field in schema if is_text(field.type) and field.name != ids]
    if not found:
        raise InputError(f"The frame has no column of texts, only {_described(schema)}. Name some: fields=[…].")
    if len(found) == 1 or not first or not first[0].num_rows:
        return found
    converts_of(schema, found)
    rows = raw_rows(first[0].slice(0, SAMPLE).select(found))
    return only_text(row for row in rows if not isinstance(row, str))


def are_plain(schema: Any, id_path: str | None, fields: Sequence[str]) -> bool:
    """Return whether the paths are columns, those of the texts hold texts, and that of the ids texts or integers."""
    names = [*fields, *([id_path] if id_path else [])]
    if len(set(schema.names)) < len(schema.names) or not set(names) <= set(schema.names) or "." in "".join(names):
        return False
    ids_are_plain = id_path is None or is_text(schema.field(id_path).type) or is_integer(schema.field(id_path).type)
    return ids_are_plain and all(is_text(schema.field(name).type) for name in fields)


def _check_paths(schema: Any, paths: Sequence[str]) -> None:
    for path in paths:
        if not any(_has(field, path) for field in schema):
            raise InputError(f"The frame has no column {path!r}, only {_described(schema)}. Name one of them.")


def _has(field: Any, path: str) -> bool:
    """Return whether values of a column, or of a field of structs, may be at a path."""
    return any(name == field.name and (not rest or _leads_on(field.type, rest)) for name, rest in splits(path))


def _leads_on(type: Any, path: str) -> bool:
    types = pyarrow_module().types
    if types.is_map(type):
        return True
    if types.is_struct(type):
        return any(_has(field, path) for field in type)
    return hasattr(type, "value_type") and _leads_on(type.value_type, path)


def _described(schema: Any) -> str:
    return ", ".join(f"{field.name!r} ({field.type})" for field in schema) or "no columns"


# In nanoseconds.
_MICROSECOND = 1_000
# None: the values are JSON already.
Convert: TypeAlias = "Callable[[Any], Any] | None"


def converts_of(schema: Any, columns: Sequence[str] | None = None) -> dict[str, Convert]:
    """Return how to convert the values of columns, by default of all; refuse a type that JSON does not know."""
    twice = [name for name, count in Counter(schema.names).items() if count > 1]
    if twice:
        raise InputError(f"Several columns have the name {twice[0]!r}. Rename them.")
    return {field.name: _column_convert(field) for field in schema if columns is None or field.name in columns}


def raw_rows(batch: Any) -> Iterator[Json | str]:
    """Yield the values of each row, as Python has them, or the problem of one that it cannot have."""
    try:
        rows = batch.to_pylist()
    except Exception:  # whatever becomes of a value; one of the rows has it, and the others are good
        return map(_raw_row, (batch.slice(place, 1) for place in range(batch.num_rows)))
    return iter(rows)


def _raw_row(row: Any) -> Json | str:
    values: Json = {}
    for name, column in zip(row.schema.names, row.columns, strict=True):
        try:
            [values[name]] = column.to_pylist()
        except UnicodeDecodeError:
            return f"has a text that is not valid UTF-8 in the column {name!r}. Correct it."
        except Exception as error:  # a year after 9999, an unknown time zone
            return f"has a value in the column {name!r} that Python cannot represent: {one_line(error)}. Write null."
    return values


def convert_row(values: Json, converts: dict[str, Convert]) -> Json:
    """Convert the values of a row, or of an object in it, without those that are missing."""
    return {name: _converted(converts[name], value) for name, value in values.items() if value is not None}


def _json_or_raw(convert: Convert, value: Any) -> Any:
    """Convert a value, but leave one that JSON does not know, for the writer to reject with the document's id."""
    try:
        return _converted(convert, value)
    except DocumentError:
        return value


def without_nanoseconds(batch: Any) -> Any:
    """Return timestamps to the microsecond, which Python has, and as text where they are more exact."""
    for place, field in enumerate(batch.schema):
        if pyarrow_module().types.is_timestamp(field.type) and field.type.unit == "ns":
            column = _without_nanoseconds(batch.column(place))
            batch = batch.set_column(place, field.with_type(column.type), column)
    return batch


def _without_nanoseconds(column: Any) -> Any:
    import pyarrow

    numbers = column.cast(pyarrow.int64())
    nanoseconds = numbers.fill_null(0).to_numpy(zero_copy_only=False)
    rounded = pyarrow.array(nanoseconds // _MICROSECOND, mask=numbers.is_null().to_numpy(zero_copy_only=False))
    rounded = rounded.cast(pyarrow.timestamp("us", column.type.tz))
    rest = nanoseconds % _MICROSECOND
    if not rest.any():
        return rounded
    try:
        times = rounded.to_pylist()
    except Exception:  # an unknown time zone, which is said row by row
        return rounded
    return pyarrow.array([_to_the_nanosecond(*each) for each in zip(times, rest.tolist(), strict=True)])


def _to_the_nanosecond(time: datetime | None, rest: int) -> str | None:
    if time is None:
        return None
    if not rest:
        return _iso(time)
    text = time.isoformat(timespec="microseconds")
    end = text.index(".") + 7
    return f"{text[:end]}{rest:03}{text[end:]}"


def _column_convert(field: Any) -> Convert:
    if pyarrow_module().types.is_timestamp(field.type):
        return _iso
    try:
        return _convert_of(field.type, field.name)
    except TypeError:
        raise InputError(
            f"The column {field.name!r} has the type {field.type}, which JSON does not allow. Leave it out, or cast it."
        ) from None


def _convert_of(type: Any, column: str) -> Convert:
    from pyarrow import types

    if types.is_null(type) or types.is_boolean(type) or types.is_integer(type) or is_string(type):
        convert: Convert = None
    elif types.is_floating(type):
        convert = partial(_finite, column)
    elif types.is_decimal(type):
        convert = float if type.scale > 0 else int
    elif types.is_date(type) or ((types.is_timestamp(type) or types.is_time(type)) and type.unit != "ns"):
        convert = _iso
    elif _is_binary(type):
        convert = partial(_text, column)
    elif types.is_dictionary(type):
        convert = _convert_of(type.value_type, column)
    else:
        convert = _convert_of_nested(type, column)
    return convert


def _convert_of_nested(type: Any, column: str) -> Convert:
    from pyarrow import types

    if types.is_list(type) or types.is_large_list(type) or types.is_fixed_size_list(type):
        convert = _convert_of(type.value_type, column)
        return convert and (lambda values: [_converted(convert, value) for value in values])
    if types.is_struct(type):
        converts = {field.name: _convert_of(field.type, column) for field in type}
        return lambda values: convert_row(values, converts)
    if types.is_map(type) and is_string(type.key_type):
        convert = _convert_of(type.item_type, column)
        return lambda pairs: {key: _converted(convert, value) for key, value in pairs}
    raise TypeError(type)


def _converted(convert: Convert, value: Any) -> Any:
    return value if convert is None or value is None else convert(value)


def _is_binary(type: Any) -> bool:
    from pyarrow import types

    plain = types.is_binary(type) or types.is_large_binary(type)
    return bool(plain or types.is_fixed_size_binary(type) or types.is_binary_view(type))


def _iso(value: Any) -> str:
    return value if isinstance(value, str) else str(value.isoformat())


def _finite(column: str, value: float) -> float:
    if not math.isfinite(value):
        raise DocumentError(f"has the number {value} in the column {column!r}, which JSON does not allow. Write null.")
    return value


def _text(column: str, value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        problem = f"has a binary value that is not valid UTF-8 in the column {column!r}. Leave the column out."
        raise DocumentError(problem) from None
