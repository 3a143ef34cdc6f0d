"""The text of a document: the values of its source fields, joined.

A source field is a dotted path. ``a.b`` is read from ``{"a": {"b": …}}``, from ``{"a.b": …}``, and from every element
of an array on the way. The strings found, in the order of the fields, of the spellings of one (the shorter first name
first), and of arrays, are joined by a line feed.
A number or a boolean counts as JSON writes it; null and what is missing do not count.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from es_simhash.errors import DocumentError, InputError


def check_sources(paths: Iterable[str]) -> tuple[str, ...]:
    """The source fields as a tuple, if they can be read."""
    paths = (paths,) if isinstance(paths, str) else tuple(paths or ())
    if not paths or not all(isinstance(path, str) and all(path.split(".")) for path in paths):
        raise InputError(f"Texts cannot be read from the fields {paths!r}. Give the names of one or more text fields.")
    return paths


def text_of(document: Mapping[str, Any], paths: Sequence[str]) -> str:
    """The text of a document."""
    try:
        text = "\n".join(value for path in paths for value in _strings(document, path))
    except RecursionError:
        raise DocumentError("has arrays or objects in its text that are nested too deeply. Flatten them.") from None
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DocumentError(
            f"has a lone surrogate (U+{ord(text[error.start]):04X}) in its text, so it is no Unicode text. "
            "Decode it again, with the right encoding."
        ) from None
    return text


def values_at(document: Mapping[str, Any], path: str) -> Iterator[Any]:
    """Each value of a field, of whatever type."""
    return (value for [value] in _values(document, path.split(".")))


def patterns(expressions: Iterable[str]) -> list[re.Pattern[str]]:
    """Regular expressions, whose finds are left out of texts."""
    found = []
    for expression in expressions:
        try:
            found.append(re.compile(expression))
        except re.error as error:
            raise InputError(f"{expression!r} is no regular expression: {error}. Correct it.") from error
    return found


def says_something_of(document: Mapping[str, Any], path: str) -> bool:
    """Whether merging the document into another decides what that has at a source field, be it nothing."""
    return _decides(document, path.split("."))


def _decides(value: Any, names: Sequence[str]) -> bool:
    """Objects are merged; everything else, arrays too, replaces what was there."""
    if not names or not isinstance(value, Mapping):
        return True
    splits = ((".".join(names[:length]), names[length:]) for length in range(1, len(names) + 1))
    return any(_decides(value[name], rest) for name, rest in splits if name in value)


def _strings(document: Mapping[str, Any], path: str) -> Iterator[str]:
    if isinstance(plain := document.get(path), str) and "." not in path:
        yield plain  # as nearly always
        return
    for [value] in _values(document, path.split(".")):
        if isinstance(value, str):
            yield value
        elif isinstance(value, bool | int | float):
            yield json.dumps(value)
        elif value is not None:
            raise DocumentError(
                f"has a value of type {type(value).__name__} in the source field {path!r}. Choose a field of text."
            )


def _values(value: Any, names: Sequence[str]) -> Iterator[tuple[Any]]:
    """Each value below a path, in a tuple of its own so that None is told from nothing."""
    if isinstance(value, list | tuple):
        for element in value:
            yield from _values(element, names)
    elif not names:
        yield (value,)
    elif isinstance(value, Mapping):
        for length in range(1, len(names) + 1):
            name = ".".join(names[:length])
            if name in value:
                yield from _values(value[name], names[length:])
