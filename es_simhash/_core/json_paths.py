"""JSON objects, dotted paths into them, and truth values that may be text.

The path ``a.b`` is ``b`` in the object ``a``, or a field named ``a.b``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, TypeAlias

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

    Where each document has one value at most, these are the values of `values_at`, in a fraction of the time.
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
