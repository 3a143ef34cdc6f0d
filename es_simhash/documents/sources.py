"""The text of a document: the values of its source fields, joined; and its id.

A source field is a dotted path. ``a.b`` is read from ``{"a": {"b": …}}``, from ``{"a.b": …}``, and from every element
of an array on the way. The strings found are joined by line feeds, in the order of the fields, of the spellings of a
field (the shorter first name first), and of arrays. A number or a boolean counts as JSON writes it; null and missing
values do not count.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from es_simhash._core.json_paths import values_at
from es_simhash.errors import DocumentError, InputError

# Numbers of a thousand digits have fewer; Python refuses to write some that have more.
_MOST_BITS = 1 << 12


def check_sources(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the source fields as a tuple, if they can be read."""
    paths = (paths,) if isinstance(paths, str) else tuple(paths or ())
    if not paths or not all(isinstance(path, str) and all(path.split(".")) for path in paths):
        raise InputError(f"Texts cannot be read from the fields {paths!r}. Give the names of one or more text fields.")
    return paths


def text_of(document: Mapping[str, Any], paths: Sequence[str]) -> str:
    """Return the text of a document."""
    strings: list[str] = []
    for path in paths:
        plain = document.get(path)
        if type(plain) is str and "." not in path:
            strings.append(plain)  # as nearly always
        else:
            strings += _strings(document, path)
    text = "\n".join(strings)
    if text.isascii():  # which costs no look at the text
        return text
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DocumentError(
            f"has a lone surrogate (U+{ord(text[error.start]):04X}) in its text, so it is not Unicode text. "
            "Decode it again, with the right encoding."
        ) from None
    return text


def as_id(value: Any) -> str | None:
    """Return a text as an id, or the digits of a whole number, up to a thousand; None for anything else."""
    # Not as str() has them: that of an enumeration's member is its name.
    if isinstance(value, str):
        return str.__str__(value) or None
    if isinstance(value, int) and not isinstance(value, bool) and int.bit_length(value) <= _MOST_BITS:
        return int.__repr__(value)
    return None


def patterns(expressions: Iterable[str]) -> list[re.Pattern[str]]:
    """Compile regular expressions whose matches are left out of texts."""
    found = []
    for expression in expressions:
        try:
            found.append(re.compile(expression))
        except re.error as error:
            raise InputError(f"{expression!r} is not a regular expression: {error}. Correct it.") from error
    return found


def _written(value: float, path: str) -> str:
    try:
        return json.dumps(value)
    except ValueError:  # Python refuses to write them
        problem = f"has a number of thousands of digits in the source field {path!r}. Give it as a text."
        raise DocumentError(problem) from None


def _strings(document: Mapping[str, Any], path: str) -> Iterator[str]:
    for value in values_at(document, path):
        if isinstance(value, str):
            yield value
        elif isinstance(value, bool | int | float):
            yield _written(value, path)
        elif value is not None:
            raise DocumentError(
                f"has a value of type {type(value).__name__} in the source field {path!r}. Choose a field of text."
            )
