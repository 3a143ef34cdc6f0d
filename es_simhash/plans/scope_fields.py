"""The fields of a scope in the mappings of indices: whether documents can have them, and what a server can filter by.

A filter leaves out only documents that are out of scope; the exact comparison of what is left decides. So a filter may
be missing, but must never be stricter than the scope.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from es_simhash._core.json_paths import Json, splits
from es_simhash.documents.source_filter import SourceFilter
from es_simhash.errors import MappingError
from es_simhash.plans.derived_fields import derived, field_at
from es_simhash.scheme.scope import Scope, ScopeValues

# Longer values may not be in the index, whatever ignore_above says.
_LONGEST = 1000
# What a field of a type holds exactly, and may be searched for without an error.
_WHOLE_NUMBERS = {
    "byte": 2**7 - 1,
    "short": 2**15 - 1,
    "integer": 2**31 - 1,
    "long": 2**53,
    "float": 2**24,
    "double": 2**53,
}
_NUMBER = re.compile("-?(?:0|[1-9][0-9]{0,17})")
# Numbers of fewer milliseconds may be years to a server; later ones are not in a field of nanoseconds.
_FIRST_MOMENT, _LAST_MOMENT = 10**10, 9 * 10**12


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
    if str(source.get("enabled")).lower() == "false" or kept.part_of(nested) != nested:
        return "its _source leaves it out. Name another field, or reindex with it."
    if is_date and "epoch_second" in str(field_at(mapping, path).get("format")):
        return "it holds seconds, where milliseconds or ISO 8601 are read. Name another field of dates."
    return None


def scope_filters(mappings: Mapping[str, Json], scope: Scope, values: ScopeValues) -> list[Json]:
    """Return queries that every document in scope with these values matches, in all of the indices."""
    found = list(_same(mappings, scope.within, values.within))
    found += _other(mappings, scope.across, values.across)
    if scope.date is not None and values.date is not None:
        found += _near(mappings, scope.date, values.date - scope.milliseconds, values.date + scope.milliseconds)
    return found


def _same(mappings: Mapping[str, Json], paths: Sequence[str], values: Sequence[Sequence[str]]) -> Iterator[Json]:
    for path, texts in zip(paths, values, strict=True):
        for text in texts:
            if name := _searched(mappings, path, text, exactly=False):
                yield {"term": {name: text}}


def _other(mappings: Mapping[str, Json], paths: Sequence[str], values: Sequence[frozenset[str]]) -> list[Json]:
    excluded = []
    for path, texts in zip(paths, values, strict=True):
        for text in sorted(texts):
            if name := _searched(mappings, path, text, exactly=True):
                excluded.append({"term": {name: text}})
    return [{"bool": {"must_not": excluded}}] if excluded else []


def _near(mappings: Mapping[str, Json], path: str, first: int, last: int) -> Iterator[Json]:
    # A moment that is read as a date is within a millisecond of it.
    if (
        all(_has_dates(mapping, path) for mapping in mappings.values())
        and first >= _FIRST_MOMENT
        and last <= _LAST_MOMENT
    ):
        yield {"range": {path: {"gte": _iso(first - 1), "lte": _iso(last + 1)}}}


def _iso(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds // 1000, timezone.utc)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03}Z"


def _has_dates(mapping: Json, path: str) -> bool:
    """Return whether a field holds the dates that documents have there."""
    field = field_at(mapping, path)
    is_plain = field.get("type") in ("date", "date_nanos") and "format" not in field and _is_searchable(field)
    return is_plain and not _is_elsewhere(mapping, path)


def _searched(mappings: Mapping[str, Json], path: str, text: str, exactly: bool) -> str | None:
    """Return the one field by which all indices find the documents with a value; None if one does not.

    With ``exactly``, it must find no others.
    """
    names = {_field_finding(mapping, path, text, exactly) for mapping in mappings.values()}
    [name] = names if len(names) == 1 else [None]
    return name


def _field_finding(mapping: Json, path: str, text: str, exactly: bool) -> str | None:
    if _is_elsewhere(mapping, path):
        return None
    field = field_at(mapping, path)
    if _finds(field, text, exactly):
        return path
    for name, sub in (field.get("fields") or {}).items():
        if sub.get("type") == "keyword" and _finds(sub, text, exactly):
            return f"{path}.{name}"
    return None


def _finds(field: Json, text: str, exactly: bool) -> bool:
    """Return whether a field finds documents by a value."""
    kind = field.get("type")
    if not _is_searchable(field):
        return False
    if kind in ("keyword", "constant_keyword"):
        longest = min(int(field.get("ignore_above", _LONGEST)), _LONGEST)
        # Servers count UTF-16 units; what cannot be sent is not searched for.
        length = len(text.encode("utf-16-le", "surrogatepass")) // 2
        is_sendable = not any("\ud800" <= character <= "\udfff" for character in text)
        return length <= longest and is_sendable and not (exactly and "normalizer" in field)
    if kind == "boolean":
        # An empty text counts as false there.
        return text == "true" or (text == "false" and not exactly)
    # A number may be held rounded, so documents with another one may be found.
    most = _WHOLE_NUMBERS.get(str(kind), -1)
    return not exactly and bool(_NUMBER.fullmatch(text)) and abs(int(text)) <= most


def _is_searchable(field: Json) -> bool:
    return str(field.get("index")).lower() != "false"


def _is_elsewhere(mapping: Json, path: str) -> bool:
    """Return whether queries for a field do not look at what documents have there: nested or computed fields."""
    computed = {**(mapping.get("runtime") or {}), **(mapping.get("derived") or {})}
    return path in computed or any(
        field_at(mapping, above).get("type") == "nested" for above, rest in splits(path) if rest
    )
