"""The saved objects of a dashboard for an index with groups, and the addresses of its pages.

All that they show stands in ``dashboard.json``; it is filled in here for one subject, as an import reads it.
One form serves all versions: the attributes of Kibana 7.10, from which OpenSearch Dashboards was forked, and the newest
``migrationVersion`` that both know. One or the other refuses newer versions, and types such as ``lens``.

Requests have no query: the page sets its own, with its filters and time range. So aggregations choose what a chart
counts. Only decisions, which are in an index of their own, are all counted, whatever the page shows. A group has as
many documents as duplicates, and one: ``group_size`` is missing in groups that no run of `group` has seen, and too
small where documents have joined since.

A group's page is Discover with a query for the group. Discover keeps its state in the address, in Rison: JSON with
fewer characters that an address must escape (https://github.com/Nanonid/rison).
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeAlias
from urllib.parse import parse_qs, quote
from uuid import UUID, uuid5

from es_simhash._core.json_codec import Json
from es_simhash._core.urls import origin, split_url
from es_simhash.cli.reports.chart_bins import MOST_PERIODS, SIZES, size_names
from es_simhash.documents.decisions import decisions_there, index_of_decisions
from es_simhash.errors import InputError, MappingError
from es_simhash.plans.operations import Count, GetInfo, GetMappings, Plan
from es_simhash.plans.text_fields import field_at, mapped_fields
from es_simhash.scheme.mapping import DEFAULT_PREFIX, GROUP, check_prefix, entries

_VERSIONS = {"index-pattern": "7.6.0", "search": "7.9.3", "visualization": "7.10.0", "dashboard": "7.9.3"}
_PANEL_VERSION = "7.10.0"
_WIDTH = 48
# What both UIs fill in when they show a field as a link.
_VALUE = "{{value}}"
# What the functions begin with that a click calls; each UI refuses a chart that calls the other's:
# https://www.elastic.co/docs/explore-analyze/visualize/custom-visualizations-with-vega
FUNCTIONS: dict[UI, str] = {"kibana": "kibana", "opensearch": "opensearchDashboards"}


@dataclass(frozen=True)
class Panel:
    """A part of the dashboard, ``width`` of 48 columns wide and ``height`` rows high, at a column and a row.

    It is a ``kind`` of visualization with ``parameters``, those of Vega with their ``spec``, or else the search. The
    dashboard has ``settings`` for it.
    """

    part: str
    title: str
    width: int
    height: int
    x: int
    y: int
    kind: str | None = None
    parameters: Json = field(default_factory=dict)
    settings: Json = field(default_factory=dict)

    @property
    def chart(self) -> Json | None:
        """The chart of Vega, if it is one."""
        return self.parameters.get("spec")


def saved_objects(subject: Subject) -> list[Json]:
    """Return all saved objects, each after those it refers to."""
    shown = panels(subject)
    return [
        _object(subject, "index-pattern", "data-view"),
        _object(subject, "search", "documents", [("kibanaSavedObjectMeta.searchSourceJSON.index", "data-view")]),
        *(_visualization(subject, panel) for panel in shown if panel.kind),
        _dashboard(subject, shown),
    ]


def panels(subject: Subject) -> list[Panel]:
    """Return the parts of the dashboard, row by row, each next to the previous one while they fit."""
    x = y = below = 0
    made = []
    for each in _filled(_template()["panels"], _values(subject)):
        if x + each["width"] > _WIDTH:
            x, y = 0, below
        made.append(Panel(x=x, y=y, **each))
        x, below = x + each["width"], max(below, y + each["height"])
    return made


def ndjson(objects: Sequence[Json]) -> str:
    """Write saved objects as a file to import."""
    return "".join(f"{_json(each)}\n" for each in objects)


def _visualization(subject: Subject, panel: Panel) -> Json:
    title = f"{subject.name}: {panel.title[0].lower()}{panel.title[1:]}"
    references = [(each["indexPatternRefName"], "data-view") for each in panel.parameters.get("controls", ())]
    own = {"panel": title, "kind": panel.kind, "parameters": _written(panel.parameters)}
    return _object(subject, "visualization", panel.part, references, own)


def _dashboard(subject: Subject, shown: Sequence[Panel]) -> Json:
    grid = [
        {
            "version": _PANEL_VERSION,
            "gridData": {"x": panel.x, "y": panel.y, "w": panel.width, "h": panel.height, "i": panel.part},
            "panelIndex": panel.part,
            "embeddableConfig": {"title": panel.title, **panel.settings},
            "panelRefName": f"panel_{number}",
        }
        for number, panel in enumerate(shown)
    ]
    references = [(f"panel_{number}", panel.part) for number, panel in enumerate(shown)]
    return _object(subject, "dashboard", "dashboard", references, {"grid": grid})


def _object(
    subject: Subject, type_: str, part: str, references: Sequence[tuple[str, str]] = (), own: Json | None = None
) -> Json:
    """Return a saved object; ``own`` values are its alone, and ``references`` name other parts."""
    kinds = {"data-view": "index-pattern", "documents": "search"}
    return {
        "id": subject.id_of(part),
        "type": type_,
        "attributes": _written(_filled(_template()["objects"][type_], {**_values(subject), **(own or {})})),
        "references": [
            {"name": name, "type": kinds.get(to, "visualization"), "id": subject.id_of(to)} for name, to in references
        ],
        "migrationVersion": {type_: _VERSIONS[type_]},
    }


# ---- from the template


@cache
def _template() -> Json:
    text = files(__package__).joinpath("dashboard.json").read_text(encoding="utf-8")
    read: Json = json.loads(text)
    return read


def _values(subject: Subject) -> Json:
    """Return what is filled in: names as they are, and in capitals as literals of Vega's expressions."""
    by, copied = subject.by_field, subject.copied
    of = shlex.quote(subject.index) + ("" if subject.prefix == DEFAULT_PREFIX else f" --prefix {subject.prefix}")
    names = {
        "by": by,
        "title_field": next(iter(subject.text_fields), ""),
        "copied": copied.name.removesuffix(".keyword") if copied else "",
        "own_field": copied.own if copied else "",
        "of_field": subject.field(f"of.{copied.name}") if copied else "",
        "command": f"es-simhash group {of} --write",
        "desk": f"es-simhash show {of}",
    }
    return {
        **{name: getattr(subject, name) for name in ("index", "name", "prefix", "measure", "has_lag")},
        **names,
        **{name.upper(): json.dumps(value) for name, value in names.items()},
        "date": subject.date_field,
        "decided": list(subject.decided),
        "decisions": index_of_decisions(subject.prefix),
        "by_name": (by or "").removesuffix(".keyword"),
        "other": subject.other_field,
        "columns": [each for each in (subject.other_field, *subject.text_fields[1:]) if each],
        # Both UIs take it for a place below their own address, with its base path and space.
        "group_page": f"../app{discover(subject, _VALUE)}".replace(quote(_VALUE), _VALUE),
        "is_similarity": subject.measure == "similarity",
        "ui": FUNCTIONS[subject.ui],
        **ALL_TIMES,
        "periods": MOST_PERIODS,
        "size_rank": " + ".join(f"(datum.group.doc_count + 1 > {most})" for most in SIZES),
        "size_ranks": list(range(len(SIZES) + 1)),
        "size_least": json.dumps([2, *(most + 1 for most in SIZES)]),
        "size_most": json.dumps([*SIZES, None]),
        "size_names": json.dumps(size_names()),
    }


_NOTHING = object()


def _filled(part: Any, values: Mapping[str, Any]) -> Any:
    """Fill in a part of the template.

    ``${name}`` in a text is a value; alone, it is the value itself, and in a list the items of a list. A part with
    ``if`` is there only where that value is, ``use`` fills in a shared part with values of its own, and ``and`` has
    further members.
    """
    match part:
        case {"if": name, **cases}:
            return _filled(cases["then"], values) if values[name] else _filled(cases.get("else", _NOTHING), values)
        case {"use": name, **own}:
            return _filled(_template()["shared"][name], {**values, **_filled(own, values)})
        case dict():
            made = {_text(key, values): _filled(each, values) for key, each in part.items()}
            more = made.pop("and", {})
            return {key: each for key, each in made.items() if each is not _NOTHING} | more
        case list():
            items = [(each, _filled(each, values)) for each in part]
            spread = [made if isinstance(made, list) and not isinstance(each, list) else [made] for each, made in items]
            return [each for some in spread for each in some if each is not _NOTHING]
        case str():
            alone = re.fullmatch(r"\$\{(\w+)\}", part)
            return values[alone[1]] if alone else _text(part, values)
    return part


def _text(text: str, values: Mapping[str, Any]) -> str:
    return re.sub(r"\$\{(\w+)\}", lambda found: str(values[found[1]]), text)


def _written(value: Json) -> Json:
    """Write those members as texts that saved objects hold as texts."""
    return {name: _member(name, each) for name, each in value.items()}


def _member(name: str, value: Any) -> Any:
    match name:
        case "spec":
            # People edit it in the UI.
            return json.dumps(value, ensure_ascii=False, indent=2)
        case "markdown":
            return "\n".join(value) + "\n"
        case "kibanaSavedObjectMeta":
            return _written(value)
    return _json(value) if name in ("visState", "fieldFormatMap") or name.endswith("JSON") else value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# Kibana's pages are below these paths; an address copied from a browser has one of them.
_PAGES = re.compile(r"/(app|login|spaces)(/.*|$)")
_SPACE = re.compile(r"/s/([a-z0-9_-]+)$")
# Characters that Rison needs, and that no browser, mail or chat takes for the end of an address.
_LEGIBLE = "!(),:*@$"


@dataclass(frozen=True)
class Kibana:
    """An address without its page and without credentials; a ``space`` of Kibana, or a ``tenant`` of OpenSearch."""

    address: str
    space: str | None = None
    tenant: str | None = None

    @classmethod
    def at(cls, url: str) -> Kibana:
        """Parse the URL of any page; ``/s/SPACE`` in it names the space, ``?security_tenant=TENANT`` the tenant."""
        parts = split_url(url)
        if parts is None:
            raise InputError("The URL of Kibana cannot be read. Write it as https://HOST:PORT.")
        path, space = _PAGES.sub("", parts.path).rstrip("/"), None
        tenant = next(iter(parse_qs(parts.query).get("security_tenant", ())), None)
        if found := _SPACE.search(path):
            path, space = path[: found.start()], found[1]
        if space and tenant:
            raise InputError("Spaces are of Kibana, tenants of OpenSearch Dashboards. Name one of them in the URL.")
        return cls(origin(parts, parts.port) + path, None if space == "default" else space, tenant)

    def group(self, subject: Subject, group: str) -> str:
        """Return the page in Discover with a group's documents."""
        space = f"/s/{self.space}" if self.space else ""
        tenant = f"?security_tenant={quote(self.tenant, safe='')}" if self.tenant else ""
        return f"{self.address}{space}/app{discover(subject, group, tenant)}"


def discover(subject: Subject, group: str, tenant: str = "") -> str:
    """Return the path of a group's documents in Discover, below that of the apps; in the subject's data view.

    Each canonical document comes before its duplicates, with its id and title in whole, so that a reader can tick
    documents and compare them.

    Newer versions of both products read this address, which is that of 7.10, and write it as their own.
    """
    state = {
        "index": subject.data_view_id,
        "query": {"language": "kuery", "query": f"{subject.field('group')}: {_quoted(group)}"},
        "columns": [
            *("_id", *subject.text_fields[:1]),
            *map(subject.field, ("is_canonical", subject.measure)),
            *subject.text_fields[1:],
        ],
        "sort": [[subject.field("canonical"), "asc"], [subject.field("is_canonical"), "desc"]],
        "rowHeight": -1,
    }
    return f"/discover{tenant}#/?_g={_rison({'time': ALL_TIMES})}&_a={_rison(state)}"


def _quoted(text: str) -> str:
    """Quote a text as a phrase of the Kibana query language."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _rison(value: Any) -> str:
    return quote(rison(value), safe=_LEGIBLE)


def rison(value: Any) -> str:
    """Write JSON values as Rison; keys must be plain words."""
    match value:
        case None:
            return "!n"
        case bool():
            return "!t" if value else "!f"
        case int():
            return str(value)
        case dict():
            return f"({','.join(f'{key}:{rison(each)}' for key, each in value.items())})"
        case list():
            return f"!({','.join(map(rison, value))})"
    return "'" + re.sub("[!']", r"!\g<0>", str(value)) + "'"


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
