"""The columns of a frame that are needed: those of its texts, of its ids, and of a scope."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from es_simhash._core.arrow import is_integer, is_text, pyarrow_module
from es_simhash._core.json_paths import splits
from es_simhash.errors import InputError

_IDS = ("_id", "id")


def id_path(schema: Any, chosen: str | None) -> str | None:
    """Return the path of the ids, which is ``chosen`` or usual; None if rows have no ids."""
    if chosen is not None:
        _check_paths(schema, [chosen])
        return chosen
    return next((name for name in _IDS if name in schema.names), None)


def text_fields(schema: Any, chosen: Sequence[str], id_path: str | None) -> Sequence[str]:
    """Return the paths of the texts: those ``chosen``, or all columns of texts but that of the ids."""
    if chosen:
        _check_paths(schema, chosen)
        return chosen
    found = [field.name for field in schema if is_text(field.type) and field.name != id_path]
    if not found:
        raise InputError(
            f"The frame has no column of texts, only {_described(schema)}. Name fields: Frame(frame, fields=[…])."
        )
    return found


def are_plain(schema: Any, id_path: str | None, fields: Sequence[str]) -> bool:
    """Return whether the paths are columns, those of the texts hold texts, and that of the ids texts or integers."""
    names = [*fields, *([id_path] if id_path else [])]
    if len(set(schema.names)) < len(schema.names) or not set(names) <= set(schema.names) or "." in "".join(names):
        return False
    ids_are_plain = id_path is None or is_text(schema.field(id_path).type) or is_integer(schema.field(id_path).type)
    return ids_are_plain and all(is_text(schema.field(name).type) for name in fields)


def columns_at(schema: Any, paths: Iterable[str]) -> list[str]:
    """Return the names of the columns that the paths begin with."""
    needed = {name for path in paths for name, _ in splits(path)}
    return [name for name in schema.names if name in needed]


def _check_paths(schema: Any, paths: Sequence[str]) -> None:
    for path in paths:
        if not any(_has(field, path) for field in schema):
            raise InputError(f"The frame has no column {path!r}, only {_described(schema)}. Name one of them.")


def _has(field: Any, path: str) -> bool:
    """Return whether values of a column, or of a field of structs, may be at a path."""
    return any(name == field.name and (not rest or _leads_on(field.type, rest)) for name, rest in splits(path))


def _leads_on(type: Any, path: str) -> bool:
    types = pyarrow_module().types
    if types.is_map(type):
        return True
    if types.is_struct(type):
        return any(_has(field, path) for field in type)
    return hasattr(type, "value_type") and _leads_on(type.value_type, path)


def _described(schema: Any) -> str:
    return ", ".join(f"{field.name!r} ({field.type})" for field in schema) or "no columns"
