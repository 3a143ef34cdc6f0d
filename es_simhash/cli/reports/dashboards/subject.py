"""The subject of a dashboard: an index with groups, and the fields of its charts, looked up in its mapping."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias
from uuid import UUID, uuid5

from es_simhash._core.json_codec import Json
from es_simhash.documents.decisions import decisions_there
from es_simhash.errors import MappingError
from es_simhash.plans.operations import Count, GetInfo, GetMappings, Plan
from es_simhash.plans.text_fields import field_at, mapped_fields
from es_simhash.scheme.mapping import DEFAULT_PREFIX, GROUP, check_prefix, entries

# How near a duplicate is to its canonical document: see `es_simhash.scheme.mapping`.
Measure: TypeAlias = Literal["similarity", "distance"]
UI: TypeAlias = Literal["kibana", "opensearch"]

TITLES: dict[UI, str] = {"kibana": "Kibana", "opensearch": "OpenSearch Dashboards"}
# Any date of a document; tomorrow's dates come from other time zones.
ALL_TIMES = {"from": "1900-01-01T00:00:00.000Z", "to": "now+1d"}

_NAMESPACE = UUID("6f1f2c0e-9a53-4c0b-8f0d-3a4f4f0b7f5e")
_DATES = ("date", "date_nanos")
# Types that cannot be aggregated by their values, or not by default.
_UNSORTED = ("text", "match_only_text", "annotated_text", "object", "nested", "geo_point", "geo_shape", "dense_vector")
_INDEX = "_index"


@dataclass(frozen=True)
class Copied:
    """A field whose value in the canonical document is on duplicates, too; ``own`` counts that of the document."""

    name: str
    own: str


@dataclass(frozen=True)
class Subject:
    """An index, alias or pattern whose documents have groups.

    A ``date_field`` adds charts over time, and applies the time range of the page; a ``by_field``, which can be
    aggregated, adds the share of duplicates by its values. ``text_fields`` are shown for documents. A field ``copied``
    from canonical documents is compared with that of duplicates; ``has_lag``: so is their date. If people have
    ``decided``, it has the names of indices in decisions. Saved objects belong to one ``space`` of Kibana; None is the
    default one. Their charts work in one ``ui``.
    """

    index: str
    prefix: str = DEFAULT_PREFIX
    date_field: str | None = None
    by_field: str | None = None
    text_fields: tuple[str, ...] = ()
    measure: Measure = "similarity"
    copied: Copied | None = None
    has_lag: bool = False
    decided: tuple[str, ...] = ()
    space: str | None = None
    ui: UI = "kibana"

    def __post_init__(self) -> None:
        """Refuse a prefix that no index can have."""
        check_prefix(self.prefix)

    def field(self, name: str) -> str:
        """Return the full name of one of our fields."""
        return f"{self.prefix}.{name}"

    @property
    def name(self) -> str:
        """The displayed name: the index, and the prefix unless it is the default one."""
        return self.index if self.prefix == DEFAULT_PREFIX else f"{self.index} ({self.prefix})"

    @property
    def other_field(self) -> str | None:
        """The other field, unless it is the index, which is always there to choose from."""
        return None if self.by_field == _INDEX else self.by_field

    def id_of(self, part: str) -> str:
        """Return the id of a saved object: the same for the same index, prefix and space, so an import replaces it.

        Since Kibana 8 an id belongs to one space, and an import into another space changes a taken id.
        """
        return str(uuid5(_NAMESPACE, json.dumps([self.index, self.prefix, self.space or "", part])))

    @property
    def data_view_id(self) -> str:
        """The id of the data view (index pattern)."""
        return self.id_of("data-view")


@dataclass(frozen=True)
class Inspection:
    """The subject, completed from the index and its server; ``grouped`` documents are in a group."""

    subject: Subject
    grouped: int


def inspect_index(subject: Subject) -> Plan[Inspection]:
    """Read the mapping and count; raise `MappingError` for an unusable field. The UI is that of the server's maker."""
    mappings = yield GetMappings(subject.index)
    found = [each for each in entries(mappings, subject.prefix).values() if each]
    if not found:
        raise MappingError(
            f"The index {subject.index!r} has no fields of fingerprints under {subject.prefix!r}. "
            "Add them with init, or name their prefix."
        )
    for type_ in _types(subject.index, subject.date_field, mappings):
        if type_ not in _DATES:
            where = f"{subject.date_field!r} of {subject.index!r}"
            raise MappingError(f"The field {where} holds no dates, but {type_}. Name one that does.")
    for type_ in _types(subject.index, subject.other_field, mappings):
        if type_ in _UNSORTED:
            raise MappingError(_uncounted(subject, type_, mappings))
    # Documents say so as well, but not before the first duplicate.
    measure: Measure = "similarity" if any(each["scheme"].get("minhash") for each in found) else "distance"
    texts = subject.text_fields or next((tuple(each["fields"][:1]) for each in found if each.get("fields")), ())
    grouped: int = yield Count(subject.index, {"exists": {"field": subject.field(GROUP)}})
    ui: UI = "opensearch" if (yield GetInfo()).distribution == "opensearch" else "kibana"
    copied = list(_copied(subject, mappings))
    decided = decisions_there(mappings, subject.prefix)
    looked = replace(
        subject,
        measure=measure,
        text_fields=texts,
        # That of the other field, or else the first.
        copied=next((each for each in copied if each.own == subject.by_field), next(iter(copied), None)),
        has_lag=any(_at(each, subject.field("lag_days")) for each in mappings.values()),
        decided=tuple(sorted(set(decided.names.values()))) if decided else (),
        ui=ui,
    )
    return Inspection(looked, grouped)


def _copied(subject: Subject, mappings: Mapping[str, Json]) -> Iterator[Copied]:
    """Yield the fields of canonical documents that duplicates have, and that can be counted by their values."""
    for mapping in mappings.values():
        for name, there in mapped_fields(field_at(mapping, subject.field("of"))):
            if there.get("type", "object") in (*_DATES, *_UNSORTED):
                continue
            names = [name, *(f"{name}.{each}" for each in _at(mapping, name).get("fields") or {})]
            counted = (each for each in names if _at(mapping, each).get("type", "object") not in _UNSORTED)
            yield from (Copied(name, each) for each in counted)


def _types(index: str, field: str | None, mappings: Mapping[str, Json]) -> list[str]:
    """Return the types of a field, if one is named, in the indices that have it."""
    found = [str(there.get("type", "object")) for each in mappings.values() if (there := _at(each, field or ""))]
    if field and not found:
        raise MappingError(f"The index {index!r} has no field {field!r}. Check its spelling in the mapping.")
    return found


def _uncounted(subject: Subject, type_: str, mappings: Mapping[str, Json]) -> str:
    field = subject.other_field or ""
    within = [f"{field}.{name}" for each in mappings.values() for name in _at(each, field).get("fields") or {}]
    return (
        f"The field {field!r} of {subject.index!r} cannot be counted by its values: it is of the type {type_}. "
        f"Name {f'{within[0]!r}' if within else 'one with keywords, numbers or truth values'}."
    )


def _at(mapping: Json, field: str) -> Json:
    """Return the definition of a field, an object or a multi-field; empty if there is none."""
    above, _, name = field.rpartition(".")
    runtime, multi = (found or {} for found in (mapping.get("runtime"), field_at(mapping, above).get("fields")))
    return runtime.get(field) or field_at(mapping, field) or multi.get(name) or {}
