"""Values as terms, and texts as words: how each type is written in an index.

Numbers and dates are written as sixteen hexadecimal digits that sort like the values, so that ranges of values are
ranges of terms. A value that does not fit its type raises ValueError with the reason.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import cast

from es_simhash._core.dates import milliseconds
from es_simhash._core.native import by_kernels
from es_simhash.text.tokens.words import words

# Lucene's, and so Elasticsearch's, limit.
MAX_KEYWORD_BYTES = 32_766

INTEGER_BITS = {"long": 64, "integer": 32, "short": 16, "byte": 8}
_MAX_EXPONENT = 308
# The position of 0 in the order of all digits.
MIDDLE = 1 << 63
OF_STRINGS = ("keyword", "text")
ORDERED = (*INTEGER_BITS, "double", "float", "date")


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
    if kind in ("double", "float"):
        return ordered_float(_float(value, kind))
    integer = milliseconds(value) if kind == "date" else value
    return f"{whole_number(integer, INTEGER_BITS.get(kind, 64)) + MIDDLE:016x}"


# The functions that write values of each type as terms.
WRITERS: dict[str, Callable[[object], str]] = {
    "keyword": keyword,
    "text": keyword,
    "boolean": boolean,
    **{kind: partial(ordered, kind) for kind in ORDERED},
}
INDEXED = tuple(WRITERS)


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    shown = repr(value)
    return shown if len(shown) <= 80 else shown[:77] + "..."


# Longer words are split, as by Elasticsearch's tokenizers.
_LONGEST = 255
# Texts whose words are found without Unicode's rules.
_PLAIN = re.compile(r"[A-Za-z0-9 ]*")


def whitespace(text: str) -> str:
    """Split a text at white space."""
    return _joined(text.split(), len(text))


def standard(text: str) -> str:
    """Split a text at Unicode's default word boundaries, in lower case; each ideograph is a word."""
    if _PLAIN.fullmatch(text):
        return _joined(text.lower().split(), len(text))
    found = by_kernels(lambda kernels: cast(str, kernels.words(text, _LONGEST)))
    return (_joined(words(text), len(text)) if found is None else found).lower()


def _joined(found: list[str], length: int) -> str:
    """Join the words of a text of this length, the long ones in pieces."""
    if length > _LONGEST and max(map(len, found), default=0) > _LONGEST:
        found = [word[start : start + _LONGEST] for word in found for start in range(0, len(word), _LONGEST)]
    return " ".join(found)


ANALYZERS: dict[str, Callable[[str], str]] = {"standard": standard, "whitespace": whitespace}
