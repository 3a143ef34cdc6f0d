"""The saved objects: a data view, a search for groups, a visualization for each other panel, and the dashboard.

All that they show stands in ``dashboard.json``; it is filled in here for one subject, as an import reads it.
One form serves all versions: the attributes of Kibana 7.10, from which OpenSearch Dashboards was forked, and the newest
``migrationVersion`` that both know. One or the other refuses newer versions, and types such as ``lens``.

Requests have no query: the page sets its own, with its filters and time range. So aggregations choose what a chart
counts. Only decisions, which are in an index of their own, are all counted, whatever the page shows. A group has as
many documents as duplicates, and one: ``group_size`` is missing in groups that no run of `group` has seen, and too
small where documents have joined since.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from es_simhash._core.json_codec import Json
from es_simhash.cli.reports.chart_bins import MOST_PERIODS, SIZES, size_names
from es_simhash.cli.reports.dashboards.kibana import discover
from es_simhash.cli.reports.dashboards.subject import ALL_TIMES, UI, Subject
from es_simhash.documents.decisions import index_of_decisions
from es_simhash.scheme.mapping import DEFAULT_PREFIX

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
