"""The saved objects: a data view, a search for groups, a visualization for each other panel, and the dashboard.

One form serves all versions: the attributes of Kibana 7.10, from which OpenSearch Dashboards was forked, and the newest
``migrationVersion`` that both know. One or the other refuses newer versions, and types such as ``lens``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from es_simhash._core.json_paths import Json
from es_simhash.cli.reports.dashboards import charts, controls, terms
from es_simhash.cli.reports.dashboards.subject import ALL_TIMES, Subject
from es_simhash.cli.reports.dashboards.tiles import totals
from es_simhash.cli.reports.dashboards.timeline import over_time

_VERSIONS = {"index-pattern": "7.6.0", "search": "7.9.3", "visualization": "7.10.0", "dashboard": "7.9.3"}
_PANEL_VERSION = "7.10.0"
_WIDTH = 48


VEGA = "vega"


@dataclass(frozen=True)
class Panel:
    """A part of the dashboard, ``width`` of 48 columns wide and ``height`` rows high.

    It is a ``kind`` of visualization with ``parameters``, those of Vega with their ``chart``, or else the search.
    """

    part: str
    title: str
    width: int
    height: int
    kind: str | None = None
    parameters: Json = field(default_factory=dict)
    chart: Json | None = None


def panels(subject: Subject) -> list[Panel]:
    """Return the parts of the dashboard, row by row."""
    near, by_field = subject.measure == "similarity", subject.by_field
    made = [
        _charted("totals", "In numbers", 48, 6, totals(subject)),
        Panel("controls", "Choose", 24, 8, controls.KIND, controls.parameters(subject)),
        Panel("terms", "What the words mean", 24, 8, terms.KIND, terms.parameters(subject)),
    ]
    if subject.date_field:
        made.append(_charted("over-time", "Duplicates over time", 48, 11, over_time(subject)))
    made.append(_charted("sizes", "Groups by size", 24, 13, charts.sizes(subject)))
    if near:
        made.append(_charted("similarity", "Duplicates by similarity", 24, 13, charts.similarities(subject)))
    else:
        made.append(_charted("distance", "Duplicates by distance", 24, 13, charts.distances(subject)))
    made.append(_charted("largest", "The largest groups", 24 if by_field else 48, 16, charts.largest(subject)))
    if by_field:
        title = f"Share of duplicates by {by_field.removesuffix('.keyword')}"
        made.append(_charted("by-field", title, 24, 16, charts.by_field(subject)))
    return [*made, Panel("documents", "Documents of groups, the canonical one first", 48, 20)]


def _charted(part: str, title: str, width: int, height: int, chart: Json) -> Panel:
    return Panel(part, title, width, height, VEGA, {"spec": charts.text_of(chart)}, chart)


def saved_objects(subject: Subject) -> list[Json]:
    """Return all saved objects, each after those it refers to."""
    shown = panels(subject)
    return [
        _data_view(subject),
        _search(subject),
        *(_visualization(subject, panel) for panel in shown if panel.kind),
        _dashboard(subject, shown),
    ]


def ndjson(objects: Sequence[Json]) -> str:
    """Write saved objects as a file to import."""
    return "".join(f"{_json(each)}\n" for each in objects)


def _data_view(subject: Subject) -> Json:
    time = {"timeFieldName": subject.date_field} if subject.date_field else {}
    return _object("index-pattern", subject.data_view_id, {"title": subject.index, **time})


def _search(subject: Subject) -> Json:
    """Make the search for groups, the largest first, each canonical document before its duplicates."""
    near = ["group", "group_size", "canonical", "is_canonical", subject.measure]
    others = [field for field in (subject.by_field, *subject.text_fields) if field and field != "_index"]
    order = {"group_size": "desc", "group": "asc", "canonical": "asc", "is_canonical": "desc"}
    return _object(
        "search",
        subject.id_of("documents"),
        {
            "title": f"{subject.name}: documents of groups",
            "description": "Documents of groups, canonical ones before their duplicates.",
            "hits": 0,
            "columns": [*map(subject.field, near), *others],
            "sort": [[subject.field(name), direction] for name, direction in order.items()],
            "version": 1,
            "kibanaSavedObjectMeta": _meta(
                query=f"{subject.field('group')}: *",
                highlightAll=True,
                version=True,
                indexRefName="kibanaSavedObjectMeta.searchSourceJSON.index",
            ),
        },
        [("kibanaSavedObjectMeta.searchSourceJSON.index", "index-pattern", subject.data_view_id)],
    )


def _visualization(subject: Subject, panel: Panel) -> Json:
    title = f"{subject.name}: {panel.title[0].lower()}{panel.title[1:]}"
    state: Json = {"title": title, "type": panel.kind, "aggs": [], "params": panel.parameters}
    attributes = {
        "title": title,
        "description": "",
        "visState": _json(state),
        "uiStateJSON": "{}",
        "version": 1,
        "kibanaSavedObjectMeta": _meta(),
    }
    references = controls.references(subject, panel.parameters) if panel.kind == controls.KIND else ()
    return _object("visualization", subject.id_of(panel.part), attributes, references)


def _dashboard(subject: Subject, shown: Sequence[Panel]) -> Json:
    grid = [
        {
            "version": _PANEL_VERSION,
            "gridData": {"x": x, "y": y, "w": panel.width, "h": panel.height, "i": panel.part},
            "panelIndex": panel.part,
            "embeddableConfig": {"title": panel.title},
            "panelRefName": f"panel_{number}",
        }
        for number, (panel, x, y) in enumerate(placed(shown))
    ]
    references = [
        (f"panel_{number}", "visualization" if panel.kind else "search", subject.id_of(panel.part))
        for number, panel in enumerate(shown)
    ]
    times = {"timeFrom": ALL_TIMES["from"], "timeTo": ALL_TIMES["to"]} if subject.date_field else {}
    attributes = {
        "title": f"Near-duplicates in {subject.name}",
        "description": "Groups of near-duplicates, as they are stored on the documents.",
        "hits": 0,
        "panelsJSON": _json(grid),
        "optionsJSON": _json({"useMargins": True, "hidePanelTitles": False}),
        "version": 1,
        "timeRestore": bool(times),
        **times,
        "kibanaSavedObjectMeta": _meta(),
    }
    return _object("dashboard", subject.id_of("dashboard"), attributes, references)


def placed(shown: Sequence[Panel]) -> Iterator[tuple[Panel, int, int]]:
    """Yield each panel with its column and row: beside the previous one while they fit."""
    x = y = below = 0
    for panel in shown:
        if x + panel.width > _WIDTH:
            x, y = 0, below
        yield panel, x, y
        x, below = x + panel.width, max(below, y + panel.height)


def _meta(query: str = "", **source: Any) -> Json:
    return {"searchSourceJSON": _json({"query": {"language": "kuery", "query": query}, "filter": [], **source})}


def _object(type_: str, id_: str, attributes: Json, references: Sequence[tuple[str, str, str]] = ()) -> Json:
    return {
        "id": id_,
        "type": type_,
        "attributes": attributes,
        "references": [{"name": name, "type": kind, "id": to} for name, kind, to in references],
        "migrationVersion": {type_: _VERSIONS[type_]},
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
