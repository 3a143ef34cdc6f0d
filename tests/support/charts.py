"""What a chart of the dashboard asks for and shows."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import vl_convert

from es_simhash.cli.reports.dashboards import Subject, panels
from tools.dashboard_pictures import drawn


def charts(subject: Subject) -> dict[str, Any]:
    """Return all charts about a subject by their parts, those of similarities and of distances."""
    both = (panels(replace(subject, measure=measure)) for measure in ("distance", "similarity"))
    return {panel.part: panel.chart for shown in both for panel in shown if panel.chart}


def request(subject: Subject, part: str) -> dict[str, Any]:
    """Return the search request behind a chart."""
    body: dict[str, Any] = charts(subject)[part]["data"][0]["url"]["body"]
    return body


def svg(
    chart: dict[str, Any], answer: dict[str, Any], theme: str = "light", width: int = 600, height: int = 300
) -> str:
    """Draw a chart of what a server answered."""
    made: str = vl_convert.vega_to_svg(drawn(chart, lambda _: answer, theme, width, height))
    return made


def seen(made: str) -> list[str]:
    """Return the texts of a picture that are not transparent, line by line."""
    drawn = re.sub('<text[^>]* fill-opacity="0"[^>]*>[^<]*<', "", made)
    return re.findall("<(?:text|tspan)(?: [^>]*(?<!/))?>([^<]+)<", drawn)


def marks(made: str) -> list[dict[str, str]]:
    """Return what readers of screens hear of each bar: its values by their titles."""
    heard = re.findall('aria-label="([^"]*)" role="graphics-symbol" aria-roledescription="bar"', made)
    return [dict(re.findall("([^:;]+): ([^;]*)(?:; |$)", each)) for each in heard]
