"""Derived fields: fields of a mapping under whose names no document has a value, such as aliases and multi-fields.

An engine searches them like any other field, but takes their values from other fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from es_simhash._core.json_paths import Json, is_false, splits


@dataclass(frozen=True)
class Derived:
    """A field whose values come from elsewhere: ``what`` it is, and the ``remedy``.

    With ``always``, no document can have a value under its name; else only the documents can show whether one has.
    """

    what: str
    remedy: str
    always: bool


def derived(mapping: Json, path: str) -> Derived | None:
    """Describe a source field that is derived; return None where documents can have it."""
    field = field_at(mapping, path)
    if field.get("type") == "alias":
        target = str(field["path"])
        beyond = derived(mapping, target)
        return Derived(f"an alias of {target!r}", beyond.remedy if beyond else _instead([target]), True)
    if parent := _owner(mapping, path):
        return Derived(f"a multi-field of {parent!r}", _instead([parent]), True)
    if not field and _is_computed(mapping, path):
        return Derived("computed by a script at each search", "Name the fields that the script reads.", False)
    if copied := [source for source, target in _copies(mapping) if target == path]:
        return Derived(f"filled with copies of {', '.join(map(repr, copied))}", _instead(copied), False)
    return None


def field_at(mapping: Json, path: str) -> Json:
    """Return the definition of a field or object; an empty one if there is none."""
    for name, rest in splits(path):
        if (there := (mapping.get("properties") or {}).get(name)) is not None:
            return field_at(there, rest) if rest else there
    return {}


def _instead(paths: Sequence[str]) -> str:
    return f"Name what it is made of: {' '.join(f'--field {path}' for path in paths)}."


def _owner(mapping: Json, path: str) -> str:
    """Return the field that has this multi-field; an empty text if there is none."""
    for above, name in list(splits(path))[-2::-1]:
        if name in (field_at(mapping, above).get("fields") or {}):
            return above
    return ""


def _is_computed(mapping: Json, path: str) -> bool:
    """Return whether a runtime field (``derived`` on OpenSearch) has a script; without one it reads documents."""
    fields: Json = {**(mapping.get("runtime") or {}), **(mapping.get("derived") or {})}
    return any(
        (path == name or path.startswith(f"{name}.")) and ("script" in field or field.get("type") == "lookup")
        for name, field in fields.items()
    )


def _copies(mapping: Json, above: str = "") -> Iterator[tuple[str, str]]:
    """Yield each field that is copied to another, with that other."""
    for name, field in (mapping.get("properties") or {}).items():
        target = field.get("copy_to") or []
        for each in [target] if isinstance(target, str) else target:
            yield f"{above}{name}", each
        yield from _copies(field, f"{above}{name}.")


def is_searchable(field: Json) -> bool:
    """Return whether documents can be found by a field of a mapping."""
    return not is_false(field.get("index"))
