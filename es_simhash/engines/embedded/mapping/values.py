"""Values as terms: how each type is written.

Numbers and dates are written as sixteen hexadecimal digits that sort like the values, so that ranges of values are
ranges of terms. A value that does not fit its type raises ValueError with the reason.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable
from decimal import Decimal, InvalidOperation

from es_simhash._core.dates import milliseconds

# Lucene's, and so Elasticsearch's, limit.
MAX_KEYWORD_BYTES = 32_766

INTEGER_BITS = {"long": 64, "integer": 32, "short": 16, "byte": 8}
_FLOATS = ("double", "float")
_MAX_EXPONENT = 308
# The position of 0 in the order of all digits.
MIDDLE = 1 << 63
NUMBERS = (*INTEGER_BITS, *_FLOATS)
OF_STRINGS = ("keyword", "text")
ORDERED = (*NUMBERS, "date")


def unicode_text(text: str) -> str:
    """Return the text; raise UnicodeEncodeError for lone surrogates, which no index can store."""
    text.encode()
    return text


def keyword(value: object) -> str:
    """Return a string, or a number or boolean in JSON."""
    if isinstance(value, str):
        return unicode_text(value)
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    raise ValueError(f"{_shown(value)} is not a string")


def boolean(value: object) -> str:
    """Return ``true`` or ``false``."""
    if value is True or value == "true":
        return "true"
    if value is False or value in ("false", ""):
        return "false"
    raise ValueError(f"{_shown(value)} is neither true nor false")


def whole_number(value: object, bits: int) -> int:
    """Return the value without its fraction; raise unless it fits into ``bits`` bits."""
    whole = value if type(value) is int else int(number(value))
    if not -(1 << bits - 1) <= whole < 1 << bits - 1:
        raise ValueError(f"{_shown(value)} is out of range")
    return whole


def is_whole(value: object) -> bool:
    """Return whether a number has no fraction."""
    given = number(value)
    return given == given.to_integral_value()


def number(value: object) -> Decimal:
    """Return a value as an exact number: floats could not distinguish large integers."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{_shown(value)} is not a number")
    try:
        given = Decimal(value.strip() if isinstance(value, str) else value)
    except InvalidOperation:
        raise ValueError(f"{_shown(value)} is not a number") from None
    if not given.is_finite() or given.adjusted() > _MAX_EXPONENT:
        raise ValueError(f"{_shown(value)} is out of range")
    return given


def ordered_integer(value: int) -> str:
    """Return a signed 64-bit integer as digits that sort like it."""
    return f"{value + MIDDLE:016x}"


def ordered_float(value: float) -> str:
    """Return a double as digits that sort like it: its bits, all inverted if negative, else with the sign inverted."""
    (bits,) = struct.unpack(">Q", struct.pack(">d", value + 0.0))
    return f"{bits ^ (0xFFFF_FFFF_FFFF_FFFF if bits >> 63 else MIDDLE):016x}"


def _float(value: object, kind: str) -> float:
    given = float(number(value))
    if kind == "float":
        try:
            (given,) = struct.unpack("f", struct.pack("f", given))
        except OverflowError:
            given = math.inf
    if math.isinf(given):
        raise ValueError(f"{_shown(value)} is out of range")
    return given


def ordered(kind: str, value: object) -> str:
    """Return a number or date as digits that sort like it."""
    if bits := INTEGER_BITS.get(kind):
        return ordered_integer(whole_number(value, bits))
    if kind == "date":
        return ordered_integer(whole_number(milliseconds(value), 64))
    return ordered_float(_float(value, kind))


def writer(kind: str) -> Callable[[object], str]:
    """Return the function that writes values of a type as terms; raise KeyError for types without terms."""
    return _WRITERS[kind]


def _ordered_writer(kind: str) -> Callable[[object], str]:
    return lambda value: ordered(kind, value)


_WRITERS: dict[str, Callable[[object], str]] = {
    "keyword": keyword,
    "text": keyword,
    "boolean": boolean,
    **{kind: _ordered_writer(kind) for kind in ORDERED},
}
INDEXED = tuple(_WRITERS)


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    shown = repr(value)
    return shown if len(shown) <= 80 else shown[:77] + "..."
