"""JSON, read and written by msgspec: the results of the standard library's json, but faster.

What msgspec refuses goes another way, which also says what is wrong: the standard library's, or that of a client. So
NaN, numbers beyond all floats, halves of surrogate pairs, byte order marks and other encodings than UTF-8 are read as
the standard library reads them. Only floats may be written in another form of the same value: ``1e16``, not ``1e+16``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from math import isfinite
from typing import Any, TypeAlias, TypeVar

import msgspec

Other = TypeVar("Other")

_read = msgspec.json.Decoder().decode
_write = msgspec.json.Encoder().encode
_write_lines = msgspec.json.Encoder().encode_lines

# A ValueError is a half of a surrogate pair, or an integer of thousands of digits.
_REFUSED = (msgspec.MsgspecError, ValueError, RecursionError)
_NAMES = frozenset({str})


def loads(text: bytes | str, otherwise: Callable[[bytes | str], Any] = json.loads) -> Any:
    """Read JSON; what msgspec refuses is read ``otherwise``.

    >>> loads('{"id": 1}')
    {'id': 1}
    """
    try:
        return _read(text)
    except _REFUSED:
        return otherwise(text)


def parse_json(text: bytes | str) -> Any:
    """Parse JSON of files, servers and users; raise a ValueError for all that cannot be read, however deep."""
    try:
        return loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def dumps(value: Any, otherwise: Callable[[Any], Other]) -> bytes | Other:
    """Write JSON in UTF-8 without spaces; other types than Python's own, or NaN, are written ``otherwise``."""
    try:
        if _are_plain((value,)):
            return _write(value)
    except _REFUSED:
        pass
    return otherwise(value)


def json_lines(values: list[Any]) -> bytes | None:
    """Write values as lines of JSON, each as `dumps`; None if one of them has to be written otherwise."""
    try:
        return _write_lines(values) if _are_plain(values) else None
    except _REFUSED:
        return None


def json_line(value: Any) -> str:
    """Return a value as ``json.dumps(value, ensure_ascii=False)`` writes it."""
    written = dumps(value, lambda value: json.dumps(value, ensure_ascii=False))
    return written if isinstance(written, str) else msgspec.json.format(written, indent=0).decode()


def _are_plain(values: Iterable[Any]) -> bool:
    """Return whether msgspec writes values as the standard library does: it would write NaN as null, and more types."""
    for value in values:
        kind = type(value)
        if kind is str or kind is int or kind is bool or value is None:
            continue
        if kind is dict:
            if not (_NAMES.issuperset(map(type, value)) and _are_plain(value.values())):
                return False
        elif kind is list or kind is tuple:
            if not _are_plain(value):
                return False
        elif kind is not float or not isfinite(value):
            return False
    return True


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


Json: TypeAlias = dict[str, Any]


def splits(path: str) -> Iterator[tuple[str, str]]:
    """Yield each first name that a path may have, the shortest first, with the rest of the path."""
    names = path.split(".")
    for length in range(1, len(names) + 1):
        yield ".".join(names[:length]), ".".join(names[length:])


def values_at(value: Any, path: str) -> Iterator[Any]:
    """Yield each value at a path, through arrays too, of whatever type."""
    # Arrays may nest deeper than Python lets functions call each other.
    levels: list[Iterator[tuple[Any, str]]] = [iter([(value, path)])]
    while levels:
        for found, left in levels[-1]:
            if isinstance(found, list | tuple):
                levels.append(zip(found, repeat(left)))
                break
            if not left:
                yield found
            elif isinstance(found, Mapping):
                levels.append(iter([(found[name], rest) for name, rest in splits(left) if name in found]))
                break
        else:
            levels.pop()


def column_at(documents: Sequence[Mapping[str, Any]], path: str) -> list[Any] | None:
    """Return the value of each document at a path, None where there is none; None if arrays or several fields have any.

    If each document has one value at most, these are the values of `values_at`, in a fraction of the time.
    """
    if "." not in path:
        return [document.get(path) for document in documents]
    found: list[Any] | None = None
    for name, rest in splits(path):
        column: list[Any] | None = [document.get(name) for document in documents]
        assert column is not None
        kinds = set(map(type, column)) - {type(None)}
        if kinds and rest:
            column = column_at([each or {} for each in column], rest) if kinds == {dict} else None
        if kinds and (column is None or found is not None):
            return None
        found = column if kinds else found
    return [None] * len(documents) if found is None else found


def value_at(value: Mapping[str, Any], path: str) -> Any:
    """Return the value of the field with exactly this name, or else the value at the path; None without either."""
    if path in value:
        return value[path]
    found: Any = value
    for name in path.split("."):
        if not isinstance(found, dict):
            return None
        found = found.get(name)
    return found


def sets_value_at(value: Any, path: str) -> bool:
    """Return whether merging a document into another decides the value at a path, even if it removes it.

    Objects are merged; everything else, arrays too, replaces the value.
    """
    if not path or not isinstance(value, Mapping):
        return True
    return any(sets_value_at(value[name], rest) for name, rest in splits(path) if name in value)


def is_true(value: object) -> bool:
    """Return whether a setting is true: servers return settings, and keep mappings, as truth values or as text."""
    return str(value).lower() == "true"


def is_false(value: object) -> bool:
    """Return whether a setting is false, as a truth value or as text; one that is not given is not."""
    return str(value).lower() == "false"
