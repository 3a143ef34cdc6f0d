"""What an import of saved objects accepts, as far as Kibana 7.10 to 9 and OpenSearch Dashboards 2 and 3 agree.

Attributes are those of the types' mappings in Kibana 7.10, which are strict. What stands in strings is not looked at by
the import, but by the page that shows it, so it is here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any

Json = dict[str, Any]

_META = {"searchSourceJSON": str}
ATTRIBUTES: dict[str, Json] = {
    "index-pattern": {
        "title": str,
        "timeFieldName": str,
        "fields": str,
        "fieldFormatMap": str,
        "sourceFilters": str,
        "type": str,
        "typeMeta": str,
    },
    "search": {
        "title": str,
        "description": str,
        "hits": int,
        "columns": list,
        "sort": list,
        "version": int,
        "kibanaSavedObjectMeta": _META,
    },
    "visualization": {
        "title": str,
        "description": str,
        "visState": str,
        "uiStateJSON": str,
        "savedSearchRefName": str,
        "version": int,
        "kibanaSavedObjectMeta": _META,
    },
    "dashboard": {
        "title": str,
        "description": str,
        "hits": int,
        "panelsJSON": str,
        "optionsJSON": str,
        "timeRestore": bool,
        "timeFrom": str,
        "timeTo": str,
        "refreshInterval": {"pause": bool, "value": int},
        "version": int,
        "kibanaSavedObjectMeta": _META,
    },
}
CEILINGS = {"index-pattern": (7, 6, 0), "dashboard": (7, 9, 3), "visualization": (7, 10, 0), "search": (7, 9, 3)}
_KEYS = {"id", "type", "attributes", "references", "migrationVersion"}
_COLUMNS = 48


def problems(objects: list[Json]) -> list[str]:
    """Why these objects could not be imported, or would not be shown; nothing if they are fine."""
    there = {(each.get("type"), each.get("id")) for each in objects}
    found = ["an id twice"] if len(there) < len(objects) else []
    return found + [f"{each.get('type')}: {problem}" for each in objects for problem in _problems(each, there)]


def _problems(one: Json, there: set[tuple[Any, Any]]) -> Iterator[str]:
    type_ = one.get("type")
    if type_ not in ATTRIBUTES:
        yield "the type is not known everywhere"
        return
    if set(one) != _KEYS:
        yield f"keys {sorted(one)}"
    if not isinstance(one.get("id"), str) or not one["id"]:
        yield "no id"
    version = one.get("migrationVersion", {})
    if set(version) != {type_} or tuple(map(int, version[type_].split("."))) > CEILINGS[type_]:
        yield f"migrationVersion {version}"
    yield from _unfit(one["attributes"], ATTRIBUTES[type_], "")
    yield from _references(one, there)
    if "title" not in one["attributes"]:
        yield "no title"
    yield from _unformatted(json.loads(one["attributes"].get("fieldFormatMap", "{}")))
    if type_ != "index-pattern":
        source = json.loads(one["attributes"]["kibanaSavedObjectMeta"]["searchSourceJSON"])
        if not {"query", "filter"} <= set(source) or set(source["query"]) != {"language", "query"}:
            yield f"search source {source}"
    if type_ == "visualization":
        yield from _unseen(json.loads(one["attributes"]["visState"]))
    if type_ == "dashboard":
        yield from _misplaced(one)


def _unformatted(formats: Json) -> Iterator[str]:
    """What both UIs show as it is: links to other places of theirs, and colours by numbers from one to another."""
    for name, each in formats.items():
        params = each["params"]
        match each["id"]:
            case "url":
                if not params["urlTemplate"].startswith("../app/") or "{{value}}" not in params["urlTemplate"]:
                    yield f"the link of {name} leads to {params['urlTemplate']}"
            case "color":
                ranges = [re.fullmatch(r"[\d.]+:[\d.]+", colour["range"]) for colour in params["colors"]]
                if params["fieldType"] != "number" or not all(ranges):
                    yield f"the colours of {name} are {params}"
            case other:
                yield f"a format that is not known everywhere: {other}"


def _unfit(value: Json, wanted: Json, path: str) -> Iterator[str]:
    for name, each in value.items():
        type_ = wanted.get(name)
        if type_ is None:
            yield f"attribute {path}{name} is not known"
        elif isinstance(type_, dict):
            yield from _unfit(each, type_, f"{path}{name}.")
        elif type(each) is not type_:
            yield f"attribute {path}{name} is {each!r}"


def _references(one: Json, there: set[tuple[Any, Any]]) -> Iterator[str]:
    names = [each["name"] for each in one["references"]]
    if len(set(names)) < len(names) or any(set(each) != {"name", "type", "id"} for each in one["references"]):
        yield f"references {one['references']}"
    for each in one["references"]:
        if (each["type"], each["id"]) not in there:
            yield f"refers to {each}, which is not there"
    used = set(re.findall(r'RefName\\*": ?\\*"([^"\\]+)', json.dumps(one["attributes"])))
    if used != set(names):
        yield f"uses {sorted(used)}, but refers to {sorted(names)}"


def _unseen(state: Json) -> Iterator[str]:
    if set(state) != {"title", "type", "aggs", "params"} or state["aggs"] != []:
        yield f"visState {sorted(state)}"
    match state["type"]:
        case "vega":
            yield from _undrawn(json.loads(state["params"]["spec"]))
        case "markdown":
            if set(state["params"]) != {"fontSize", "openLinksInNewTab", "markdown"}:
                yield f"parameters of text {sorted(state['params'])}"
        case "input_control_vis":
            yield from _uncontrolled(state["params"])
        case other:
            yield f"a visualization that is not known everywhere: {other}"


def _undrawn(spec: Json) -> Iterator[str]:
    if not spec["$schema"].startswith("https://vega.github.io/schema/vega/v5"):
        yield f"schema {spec['$schema']}"
    [url] = [each["url"] for each in spec["data"] if "url" in each]
    if not set(url) <= {"%context%", "%timefield%", "index", "body"} or url.get("%context%", True) is not True:
        yield f"data {sorted(url)}"
    if ("query" in url["body"]) is ("%context%" in url):
        yield "a query of its own, which %context% forbids, or none at all"


def _uncontrolled(params: Json) -> Iterator[str]:
    if set(params) != {"controls", "updateFiltersOnChange", "useTimeFilter", "pinFilters"}:
        yield f"parameters of controls {sorted(params)}"
    keys = {"id", "indexPatternRefName", "fieldName", "parent", "label", "type", "options"}
    known = {
        "list": {"type", "multiselect", "dynamicOptions", "size", "order"},
        "range": {"decimalPlaces", "step"},
    }
    for each in params["controls"]:
        if set(each) != keys or set(each["options"]) != known[each["type"]]:
            yield f"control {each}"


def _misplaced(dashboard: Json) -> Iterator[str]:
    attributes = dashboard["attributes"]
    if attributes["timeRestore"] != ("timeFrom" in attributes and "timeTo" in attributes):
        yield "half a time range"
    json.loads(attributes["optionsJSON"])
    panels = json.loads(attributes["panelsJSON"])
    if {each["panelRefName"] for each in panels} != {each["name"] for each in dashboard["references"]}:
        yield "panels and references differ"
    for panel in panels:
        grid = panel["gridData"]
        if set(panel) != {"version", "gridData", "panelIndex", "embeddableConfig", "panelRefName"}:
            yield f"panel {sorted(panel)}"
        if grid["i"] != panel["panelIndex"] or grid["x"] + grid["w"] > _COLUMNS or min(grid["x"], grid["y"]) < 0:
            yield f"grid {grid}"
    for one, other in combinations([panel["gridData"] for panel in panels], 2):
        adjacent = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        below = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
        if one["i"] == other["i"] or not (adjacent or below):
            yield f"{one} and {other} overlap"
