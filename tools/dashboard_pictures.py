"""Pictures of the dashboard with real data; ``python -m tools.dashboard_pictures`` makes those of the documentation.

Each chart is drawn by Vega itself, from what a server answers to the chart's own request, in the colours that Kibana
gives it; the frames around the charts, the texts and the outlines of controls are ours.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from html import escape
from textwrap import wrap
from typing import Any

import vl_convert

from es_simhash.cli.reports.dashboards import Panel, Subject, inspect_index, panels
from es_simhash.engines.base import run
from es_simhash.groups.canonical import canonical_named
from es_simhash.index import Index
from es_simhash.plans.operations import Search
from tools import ROOT
from tools.nodes.sources import start_node

DIRECTORY = ROOT / "docs" / "pictures"
# What the charts get from Kibana, by its theme.
THEMES: dict[str, dict[str, str]] = {
    "light": {"page": "#f7f8fc", "panel": "#ffffff", "label": "#646a77", "title": "#1a1c21", "line": "#e3e8f2"},
    "dark": {"page": "#141519", "panel": "#1d1e24", "label": "#98a2b3", "title": "#dfe5ef", "line": "#343741"},
}
_MARKS = "#54B399"
_COLUMN, _ROW, _GAP, _TITLE = 25, 20, 8, 30

Ask = Callable[[dict[str, Any]], dict[str, Any]]


def drawn(chart: dict[str, Any], ask: Ask, theme: str, width: int, height: int) -> dict[str, Any]:
    """Complete a chart as the UI does before drawing it: with data, a size and colours.

    Clicks are left out, since only the UI has the functions that they call.
    """
    return {**completed(chart, ask, theme, width, height), "signals": [_still(each) for each in chart["signals"]]}


def completed(chart: dict[str, Any], ask: Ask, theme: str, width: int, height: int) -> dict[str, Any]:
    """Complete a chart with data, a size and colours."""
    colours = THEMES[theme]
    first, *others = chart["data"]
    answer = {name: value for name, value in first.items() if name != "url"}
    config = {
        "rect": {"fill": _MARKS},
        "style": {"guide-label": {"fill": colours["label"]}, "guide-title": {"fill": colours["title"]}},
        "axis": dict.fromkeys(("tickColor", "domainColor", "gridColor"), colours["line"]),
        "background": "transparent",
    }
    return {
        **chart,
        "data": [{**answer, "values": ask(first["url"]["body"])}, *others],
        "config": {**config, **chart["config"]},
        "autosize": {"type": "fit", "contains": "padding"},
        "width": width,
        "height": height,
    }


def _still(signal: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in signal.items() if name != "on"}


def dashboard_picture(subject: Subject, ask: Ask, theme: str = "light") -> str:
    """Draw the charts of a dashboard in their places, as SVG."""
    parts, below = [], 0
    for panel in panels(subject):
        if panel.kind:
            parts.append(_framed(panel, ask, theme))
            below = max(below, (panel.y + panel.height) * _ROW)
    width = 48 * _COLUMN
    colours = THEMES[theme]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {below}" width="{width}" height="{below}">'
    ground = f'<rect width="{width}" height="{below}" fill="{colours["page"]}"/>'
    return "\n".join([head, ground, *parts, "</svg>\n"])


def main() -> None:
    """Load generated documents into a server, group them, and draw the dashboard in each theme."""
    documents = subprocess.run(
        [sys.executable, str(ROOT / "compose" / "documents.py")],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
        encoding="utf-8",
    ).stdout
    with start_node("opensearch") as node, Index("demo", node.url, fields=("title", "body")) as index:
        index.init()
        index.add(map(json.loads, documents.splitlines()), refresh=True)
        oldest = canonical_named("oldest:published", ())
        with index.group(canonical=oldest, copy=("site", "published")) as grouped:
            index.write_groups(grouped)
        index.refresh()
        named = Subject("demo", date_field="published", by_field="site.keyword")
        subject = run(inspect_index(named), index.engine).subject
        for theme in THEMES:
            made = dashboard_picture(subject, lambda body: index.engine.perform(Search("demo", body)), theme)
            (DIRECTORY / f"dashboard-{theme}.svg").write_text(made, encoding="utf-8")


def _framed(panel: Panel, ask: Ask, theme: str) -> str:
    colours = THEMES[theme]
    x, y = panel.x * _COLUMN + _GAP // 2, panel.y * _ROW + _GAP // 2
    width, height = panel.width * _COLUMN - _GAP, panel.height * _ROW - _GAP
    match panel.kind:
        case "input_control_vis":
            inside = _controls(panel.parameters["controls"], colours, width - 24)
        case "markdown":
            inside = _text(panel.parameters["markdown"], colours)
        case _:
            inside = _chart(panel, ask, theme, width - 24, height - _TITLE - 12)
    title = f'<text x="12" y="20" fill="{colours["title"]}" font-weight="600">{escape(panel.title)}</text>'
    return (
        f'<g transform="translate({x} {y})" font-family="sans-serif" font-size="14">'
        f'<rect width="{width}" height="{height}" rx="6" fill="{colours["panel"]}"/>{title}'
        f'<g transform="translate(12 {_TITLE})">{inside}</g></g>'
    )


def _chart(panel: Panel, ask: Ask, theme: str, width: int, height: int) -> str:
    assert panel.chart
    svg = vl_convert.vega_to_svg(drawn(panel.chart, ask, theme, width, height))
    # Ids hold for the whole picture, so each chart has its own. Screen readers get the page's text instead.
    return re.sub(r' (aria-\w+|role|class)="[^"]*"', "", re.sub(r'(id="|url\(#)', rf"\g<1>{panel.part}-", svg))


def _controls(shown: list[dict[str, Any]], colours: dict[str, str], within: int) -> str:
    """Draw the place of each control: these panels are drawn by the UI, and only outlined here."""
    width = min(180, within // len(shown) - 10)
    boxes = [
        f'<g transform="translate({number * (width + 10)} 18)"><text fill="{colours["label"]}" font-size="12">'
        f'{escape(each["label"])}</text><rect y="8" width="{width}" height="32" rx="4" fill="none" '
        f'stroke="{colours["label"]}"/></g>'
        for number, each in enumerate(shown)
    ]
    return "".join(boxes)


def _text(markdown: list[str], colours: dict[str, str]) -> str:
    items = (each.replace("**", "") for each in markdown)
    lines = [line for item in items for line in wrap(item, 92, subsequent_indent="  ")]
    spans = [f'<tspan x="0" y="{12 + 15 * number}">{escape(line)}</tspan>' for number, line in enumerate(lines)]
    return f'<text fill="{colours["title"]}" font-size="12" xml:space="preserve">{"".join(spans)}</text>'


if __name__ == "__main__":
    main()
