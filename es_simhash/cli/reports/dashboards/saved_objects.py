"""The saved objects: a data view, a search for duplicates, a visualization for each chart, and the dashboard.

One form serves all versions: the attributes of Kibana 7.10, from which OpenSearch Dashboards was forked, and the newest
``migrationVersion`` that both know. One or the other refuses newer versions, and types such as ``lens``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from es_simhash._core.json_paths import Json
from es_simhash.cli.reports.dashboards import charts
from es_simhash.cli.reports.dashboards.subject import ALL_TIMES, Subject

_VERSIONS = {"index-pattern": "7.6.0", "search": "7.9.3", "visualization": "7.10.0", "dashboard": "7.9.3"}
_PANEL_VERSION = "7.10.0"
_WIDTH = 48


@dataclass(frozen=True)
class Panel:
    """A part of the dashboard, ``width`` of 48 columns wide and ``height`` rows high; the search has no ``chart``."""

    part: str
    title: str
    width: int
    height: int
    chart: Json | None = None


def panels(subject: Subject) -> list[Panel]:
    """Return the parts of the dashboard, row by row."""
    made: list[tuple[str, str, int, int, Callable[[Subject], Json] | None]] = [
        ("totals", "In numbers", 48, 6, charts.totals),
    ]
    if subject.date_field:
        made.append(("over-time", "Duplicates over time", 48, 11, charts.over_time))
    made.append(("sizes", "Groups by size", 24, 13, charts.sizes))
    if subject.measure == "similarity":
        made.append(("similarity", "Duplicates by similarity", 24, 13, charts.similarities))
    else:
        made.append(("distance", "Duplicates by distance", 24, 13, charts.distances))
    made.append(("largest", "The largest groups", 24 if subject.by_field else 48, 16, charts.largest))
    if subject.by_field:
        by = subject.by_field.removesuffix(".keyword")
        made.append(("by-field", f"Share of duplicates by {by}", 24, 16, charts.by_field))
    made.append(("duplicates", "Duplicates only", 48, 20, None))
    return [
        Panel(part, title, width, height, chart(subject) if chart else None)
        for part, title, width, height, chart in made
    ]


def saved_objects(subject: Subject) -> list[Json]:
    """Return all saved objects, each after those it refers to."""
    shown = panels(subject)
    return [
        _data_view(subject),
        _search(subject),
        *(_visualization(subject, panel, panel.chart) for panel in shown if panel.chart),
        _dashboard(subject, shown),
    ]


def ndjson(objects: Sequence[Json]) -> str:
    """Write saved objects as a file to import."""
    return "".join(f"{_json(each)}\n" for each in objects)


def _data_view(subject: Subject) -> Json:
    time = {"timeFieldName": subject.date_field} if subject.date_field else {}
    return _object("index-pattern", subject.data_view_id, {"title": subject.index, **time})


def _search(subject: Subject) -> Json:
    """Make the search for duplicates, ordered by group."""
    near = ["group", "group_size", subject.measure]
    others = [field for field in (subject.by_field, *subject.text_fields) if field and field != "_index"]
    return _object(
        "search",
        subject.id_of("duplicates"),
        {
            "title": f"{subject.name}: duplicates only",
            "description": "Documents of groups, without the canonical ones.",
            "hits": 0,
            "columns": [*map(subject.field, near), *others],
            "sort": [[subject.field("group_size"), "desc"], [subject.field("group"), "asc"]],
            "version": 1,
            "kibanaSavedObjectMeta": _meta(
                query=f"{subject.field('is_canonical')}: false",
                highlightAll=True,
                version=True,
                indexRefName="kibanaSavedObjectMeta.searchSourceJSON.index",
            ),
        },
        [("kibanaSavedObjectMeta.searchSourceJSON.index", "index-pattern", subject.data_view_id)],
    )


def _visualization(subject: Subject, panel: Panel, chart: Json) -> Json:
    title = f"{subject.name}: {panel.title[0].lower()}{panel.title[1:]}"
    state = {"title": title, "type": "vega", "aggs": [], "params": {"spec": charts.text_of(chart)}}
    attributes = {
        "title": title,
        "description": "",
        "visState": _json(state),
        "uiStateJSON": "{}",
        "version": 1,
        "kibanaSavedObjectMeta": _meta(),
    }
    return _object("visualization", subject.id_of(panel.part), attributes)


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
        (f"panel_{number}", "visualization" if panel.chart else "search", subject.id_of(panel.part))
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
