"""How long values are as JSON, without writing them."""

from __future__ import annotations

from typing import Any

# Lists of numbers are mostly embeddings, whose floats have this many digits; other numbers and names are short.
_FLOAT, _OTHER = 18, 5


def json_length(value: Any) -> int:
    """Return about how many bytes a value has as JSON in UTF-8; 0 if it is too deep for any engine."""
    try:
        return _length(value)
    except RecursionError:
        return 0


def _length(value: Any) -> int:
    # Quotes, colons, commas and brackets count; escapes do not.
    if isinstance(value, dict):
        length = 1 + 4 * len(value)
        for name, each in value.items():
            length += _bytes(name if isinstance(name, str) else str(name))
            # Most values are strings, and a call takes longer than this.
            length += (
                (len(each) + 2 if each.isascii() else _bytes(each) + 2) if isinstance(each, str) else _length(each)
            )
        return length
    if isinstance(value, str):
        return _bytes(value) + 2
    if isinstance(value, list | tuple):
        return 1 + len(value) + sum(map(_length, value))
    return _FLOAT if isinstance(value, float) else _OTHER


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
