"""What a chart of the dashboard shows."""

from __future__ import annotations

import re
from typing import Any

import vl_convert

from tools.dashboard_pictures import drawn


def svg(chart: dict[str, Any], answer: dict[str, Any], theme: str = "light") -> str:
    """Draw a chart of what a server answered."""
    made: str = vl_convert.vega_to_svg(drawn(chart, lambda _: answer, theme, 600, 300))
    return made


def seen(made: str) -> list[str]:
    """Return the texts of a picture."""
    return re.findall("<text[^>]*(?<!/)>([^<]*)<", made)


def marks(made: str) -> list[dict[str, str]]:
    """Return what readers of screens hear of each bar: its values by their titles."""
    heard = re.findall('aria-label="([^"]*)" role="graphics-symbol" aria-roledescription="bar"', made)
    return [dict(re.findall("([^:;]+): ([^;]*)(?:; |$)", each)) for each in heard]
