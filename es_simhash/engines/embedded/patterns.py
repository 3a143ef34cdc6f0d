"""Regular expressions over terms, in the syntax of tantivy: prefixes, wildcards, and ranges of hexadecimal digits."""

from __future__ import annotations

_DIGITS = "0123456789abcdef"
_SPECIAL = frozenset("\\.+*?()|[]{}^$#&-~")
_ANYTHING = "(?s:.*)"
_ANY_DIGITS = f"[{_DIGITS}]*"


def literal(text: str) -> str:
    """An expression that matches this text only."""
    return "".join(f"\\{character}" if character in _SPECIAL else character for character in text)


def wildcard(pattern: str) -> str:
    """An expression for a pattern in which ``*`` stands for any characters and ``?`` for one; a backslash escapes."""
    parts = []
    characters = iter(pattern)
    for character in characters:
        if character == "*":
            parts.append(_ANYTHING)
        elif character == "?":
            parts.append("(?s:.)")
        else:
            parts.append(literal(next(characters, "\\") if character == "\\" else character))
    return "".join(parts)


def prefix(text: str) -> str:
    """An expression for everything that begins with this text."""
    return literal(text) + _ANYTHING


def between(low: str, high: str) -> str:
    """An expression for the strings of digits from ``low`` to ``high``, among strings that are all as long as these."""
    if low == high:
        return low
    rest = len(low) - 1
    lowest, highest = "0" * rest, "f" * rest
    if low == f"0{lowest}" and high == f"f{highest}":
        return _ANY_DIGITS
    first, last = low[0], high[0]
    if first == last:
        return first + between(low[1:], high[1:])
    alternatives = [first + between(low[1:], highest), last + between(lowest, high[1:])]
    if inner := _DIGITS[_DIGITS.index(first) + 1 : _DIGITS.index(last)]:
        alternatives.append(f"[{inner}]{_ANY_DIGITS}")
    return f"({'|'.join(alternatives)})"
