"""The fields of a scope in the mappings of indices: whether documents can have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from es_simhash._core.json_codec import Json, is_false
from es_simhash.documents.sources import SourceFilter
from es_simhash.errors import MappingError
from es_simhash.plans.text_fields import derived, field_at
from es_simhash.scheme.scope import Scope


def check_scope(mappings: Mapping[str, Json], scope: Scope) -> None:
    """Raise a `MappingError` for a field of a scope that cannot be read from the documents of an index."""
    for index, there in mappings.items():
        for path in scope.paths:
            if problem := _problem(there, path, path == scope.date):
                raise MappingError(f"The field {path!r} of the scope cannot be read in the index {index!r}: {problem}")


def _problem(mapping: Json, path: str, is_date: bool) -> str | None:
    if (there := derived(mapping, path)) and there.always:
        return f"it is {there.what}. Name the field that documents have."
    source = mapping.get("_source") or {}
    kept = SourceFilter.of({name: source[name] for name in ("includes", "excludes") if source.get(name)})
    nested: Any = None
    for name in reversed(path.split(".")):
        nested = {name: nested}
    if is_false(source.get("enabled")) or kept.part_of(nested) != nested:
        return "its _source leaves it out. Name another field, or reindex with it."
    if is_date and "epoch_second" in str(field_at(mapping, path).get("format")):
        return "it holds seconds, where milliseconds or ISO 8601 are read. Name another field of dates."
    return None
