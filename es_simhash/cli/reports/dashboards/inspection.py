"""Checks an index and the fields named for its dashboard."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from es_simhash._core.json_paths import Json
from es_simhash.cli.reports.dashboards.subject import Measure, Subject
from es_simhash.cli.reports.dashboards.ui import Name
from es_simhash.errors import MappingError
from es_simhash.plans.operations import Count, GetInfo, GetMappings, Plan
from es_simhash.scheme.group_fields import GROUP
from es_simhash.scheme.mapping import entries

_DATES = ("date", "date_nanos")
# Types that cannot be aggregated by their values, or not by default.
_UNSORTED = ("text", "match_only_text", "annotated_text", "object", "nested", "geo_point", "geo_shape", "dense_vector")
_INDEX = "_index"


@dataclass(frozen=True)
class Inspection:
    """The subject, completed from the index and its server; ``grouped`` documents are in a group."""

    subject: Subject
    grouped: int


def inspect_index(subject: Subject) -> Plan[Inspection]:
    """Read the mapping and count; raise `MappingError` for an unusable field. The UI is that of the server's maker."""
    mappings = yield GetMappings(subject.index)
    _check_ours(subject, mappings)
    if subject.date_field:
        _check_date(subject.index, subject.date_field, mappings)
    if subject.by_field and subject.by_field != _INDEX:
        _check_by(subject.index, subject.by_field, mappings)
    found = [each for each in entries(mappings, subject.prefix).values() if each]
    # Documents say so as well, but not before the first duplicate.
    measure: Measure = "similarity" if any(each["scheme"].get("minhash") for each in found) else "distance"
    texts = subject.text_fields or next((tuple(each["fields"]) for each in found if each.get("fields")), ())
    grouped: int = yield Count(subject.index, {"exists": {"field": subject.field(GROUP)}})
    ui: Name = "opensearch" if (yield GetInfo()).distribution == "opensearch" else "kibana"
    return Inspection(replace(subject, measure=measure, text_fields=texts, ui=ui), grouped)


def _check_ours(subject: Subject, mappings: Mapping[str, Json]) -> None:
    if not any(entries(mappings, subject.prefix).values()):
        raise MappingError(
            f"The index {subject.index!r} has no fields of fingerprints under {subject.prefix!r}. "
            "Add them with init, or name their prefix."
        )


def _check_date(index: str, field: str, mappings: Mapping[str, Json]) -> None:
    for type_ in _types(index, field, mappings):
        if type_ not in _DATES:
            raise MappingError(f"The field {field!r} of {index!r} holds no dates, but {type_}. Name one that does.")


def _check_by(index: str, field: str, mappings: Mapping[str, Json]) -> None:
    for type_ in _types(index, field, mappings):
        if type_ in _UNSORTED:
            within = [f"{field}.{name}" for each in mappings.values() for name in _at(each, field).get("fields") or {}]
            raise MappingError(
                f"The field {field!r} of {index!r} cannot be counted by its values: it is of the type {type_}. "
                f"Name {f'{within[0]!r}' if within else 'one with keywords, numbers or truth values'}."
            )


def _types(index: str, field: str, mappings: Mapping[str, Json]) -> list[str]:
    """Return the types of a field in the indices that have it."""
    found = [str(there.get("type", "object")) for each in mappings.values() if (there := _at(each, field))]
    if not found:
        raise MappingError(f"The index {index!r} has no field {field!r}. Check how it is written in the mapping.")
    return found


def _at(mapping: Json, field: str) -> Json:
    """Return the definition of the field with that full name; empty if there is none."""
    runtime: Json = mapping.get("runtime") or {}
    return runtime.get(field) or next((there for name, there in _fields(mapping) if name == field), {})


def _fields(mapping: Json, prefix: str = "") -> Iterator[tuple[str, Json]]:
    """Yield all fields, objects and multi-fields, with their full names."""
    for part in ("properties", "fields"):
        for name, there in (mapping.get(part) or {}).items():
            yield f"{prefix}{name}", there
            yield from _fields(there, f"{prefix}{name}.")
