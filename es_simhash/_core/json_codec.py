"""JSON, read and written by msgspec: the results of the standard library's json, but faster.

What msgspec refuses goes another way, which also says what is wrong: the standard library's, or that of a client. So
NaN, numbers beyond all floats, halves of surrogate pairs, byte order marks and other encodings than UTF-8 are read as
the standard library reads them. Only floats may be written in another form of the same value: ``1e16``, not ``1e+16``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any, TypeVar

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
