"""Values of Parquet columns as values of JSON.

Times and dates become ISO 8601 text (timestamps to the microsecond), decimals become numbers, and binary values must be
UTF-8 text. Null is a missing value. NaN and infinite numbers are refused, since JSON has neither.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeAlias

from es_simhash._core.json_paths import Json
from es_simhash.documents.files.data_file import RecordError

# None: the values are JSON already.
Convert: TypeAlias = "Callable[[Any], Any] | None"


def converts_of(schema: Any) -> dict[str, Convert]:
    """Return how to convert the values of each column."""
    twice = [name for name, count in Counter(schema.names).items() if count > 1]
    if twice:
        raise RecordError(f"Several columns have the name {twice[0]!r}. Rename them.")
    return {field.name: _column_convert(field) for field in schema}


def convert_row(values: Json, converts: dict[str, Convert]) -> Json:
    """Convert the values of a row, or of an object in it, without those that are missing."""
    return {name: _converted(converts[name], value) for name, value in values.items() if value is not None}


def without_nanoseconds(batch: Any) -> Any:
    """Round timestamps to microseconds, which Python has."""
    import pyarrow

    fields = [
        field.with_type(pyarrow.timestamp("us", field.type.tz)) if _is_timestamp(field.type) else field
        for field in batch.schema
    ]
    columns = [column.cast(field.type, safe=False) for column, field in zip(batch.columns, fields, strict=True)]
    return pyarrow.RecordBatch.from_arrays(columns, schema=pyarrow.schema(fields))


def _column_convert(field: Any) -> Convert:
    if _is_timestamp(field.type):
        return _iso
    try:
        return _convert_of(field.type)
    except TypeError:
        raise RecordError(
            f"The column {field.name!r} has the type {field.type}, which JSON does not know. Leave it out, or cast it."
        ) from None


def _convert_of(type: Any) -> Convert:
    from pyarrow import types

    if types.is_null(type) or types.is_boolean(type) or types.is_integer(type) or _is_string(type):
        convert: Convert = None
    elif types.is_floating(type):
        convert = _finite
    elif types.is_decimal(type):
        convert = float if type.scale > 0 else int
    elif types.is_date(type) or ((_is_timestamp(type) or types.is_time(type)) and type.unit != "ns"):
        convert = _iso
    elif _is_binary(type):
        convert = _text
    elif types.is_dictionary(type):
        convert = _convert_of(type.value_type)
    else:
        convert = _convert_of_nested(type)
    return convert


def _convert_of_nested(type: Any) -> Convert:
    from pyarrow import types

    if types.is_list(type) or types.is_large_list(type) or types.is_fixed_size_list(type):
        convert = _convert_of(type.value_type)
        return convert and (lambda values: [_converted(convert, value) for value in values])
    if types.is_struct(type):
        converts = {field.name: _convert_of(field.type) for field in type}
        return lambda values: convert_row(values, converts)
    if types.is_map(type) and _is_string(type.key_type):
        convert = _convert_of(type.item_type)
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
    return str(value.isoformat())


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise RecordError(f"The row has the number {value}, which JSON does not know. Write null.")
    return value


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise RecordError("The row has a binary value that is not valid UTF-8. Leave its column out.") from None
