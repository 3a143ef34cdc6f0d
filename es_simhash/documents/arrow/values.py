"""Values of Arrow columns, which files of Parquet have too, as values of JSON.

Times and dates become ISO 8601 text, decimals become numbers, and binary values must be
UTF-8 text. Null is a missing value. NaN and infinite numbers are refused, since JSON has neither.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Any, TypeAlias

from es_simhash._core.arrow import one_line
from es_simhash._core.json_paths import Json
from es_simhash.errors import DocumentError, InputError

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
            return f"has a value in the column {name!r} that Python does not know: {one_line(error)}. Write null."
    return values


def convert_row(values: Json, converts: dict[str, Convert]) -> Json:
    """Convert the values of a row, or of an object in it, without those that are missing."""
    return {name: _converted(converts[name], value) for name, value in values.items() if value is not None}


def json_row(values: Json, converts: dict[str, Convert]) -> Json:
    """Convert a row, but leave values that JSON does not know, for the writer to reject with the document's id."""
    return {name: _json_or_raw(converts[name], value) for name, value in values.items() if value is not None}


def _json_or_raw(convert: Convert, value: Any) -> Any:
    try:
        return _converted(convert, value)
    except DocumentError:
        return value


def without_nanoseconds(batch: Any) -> Any:
    """Return timestamps to the microsecond, which Python has, and as text where they are more exact."""
    for place, field in enumerate(batch.schema):
        if _is_timestamp(field.type) and field.type.unit == "ns":
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
    if _is_timestamp(field.type):
        return _iso
    try:
        return _convert_of(field.type, field.name)
    except TypeError:
        raise InputError(
            f"The column {field.name!r} has the type {field.type}, which JSON does not know. Leave it out, or cast it."
        ) from None


def _convert_of(type: Any, column: str) -> Convert:
    from pyarrow import types

    if types.is_null(type) or types.is_boolean(type) or types.is_integer(type) or _is_string(type):
        convert: Convert = None
    elif types.is_floating(type):
        convert = partial(_finite, column)
    elif types.is_decimal(type):
        convert = float if type.scale > 0 else int
    elif types.is_date(type) or ((_is_timestamp(type) or types.is_time(type)) and type.unit != "ns"):
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
    if types.is_map(type) and _is_string(type.key_type):
        convert = _convert_of(type.item_type, column)
        return lambda pairs: {key: _converted(convert, value) for key, value in pairs}
    raise TypeError(type)


def _converted(convert: Convert, value: Any) -> Any:
    return value if convert is None or value is None else convert(value)


def _is_string(type: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(type) or types.is_large_string(type) or types.is_string_view(type))


def _is_binary(type: Any) -> bool:
    from pyarrow import types

    plain = types.is_binary(type) or types.is_large_binary(type)
    return bool(plain or types.is_fixed_size_binary(type) or types.is_binary_view(type))


def _is_timestamp(type: Any) -> bool:
    from pyarrow import types

    return bool(types.is_timestamp(type))


def _iso(value: Any) -> str:
    return value if isinstance(value, str) else str(value.isoformat())


def _finite(column: str, value: float) -> float:
    if not math.isfinite(value):
        raise DocumentError(f"has the number {value} in the column {column!r}, which JSON does not know. Write null.")
    return value


def _text(column: str, value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        problem = f"has a binary value that is not valid UTF-8 in the column {column!r}. Leave the column out."
        raise DocumentError(problem) from None
