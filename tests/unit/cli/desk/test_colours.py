"""What the desk writes can be read in light and in dark."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from es_simhash.cli.reports.page import style
from tests.support.contrast import contrast

CSS = style() + files("es_simhash.cli.desk").joinpath("desk.css").read_text(encoding="utf-8")
# What texts without a ground of their own stand on.
GROUNDS = ("ground", "raised")


def colours(theme: str) -> dict[str, str]:
    light, dark = (dict(re.findall(r"--([\w-]+): (#\w{6});", part)) for part in CSS.split("@media")[:2])
    return light if theme == "light" else light | dark


def declared(body: str, *names: str) -> list[str]:
    """Return the variables that declarations of these names have."""
    return re.findall(rf"(?:^|[; ])(?:{'|'.join(names)}):[^;]*var\(--([\w-]+)\)", body)


def pairs() -> list[tuple[str, str, str]]:
    """Return each rule with a colour of a text and what the text stands on."""
    found = []
    for selector, body in re.findall(r"([^{}]+)\{([^{}]*)\}", CSS):
        own = declared(body, "background", "background-color")
        for text in declared(body, "color"):
            found += [(selector.strip(), text, ground) for ground in own or GROUNDS]
        # A ground without a colour has the one of the page.
        found += [(selector.strip(), "ink", ground) for ground in own if ground not in ("bar", "line")]
    return found


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_all_texts_have_the_contrast_that_wcag_asks_for(theme: str) -> None:
    """4.5 : 1 (1.4.3)."""
    shown, every = colours(theme), pairs()
    assert {"a", "del", "ins", ".faint", ".said", ".heads h3:first-child"} <= {selector for selector, *_ in every}
    assert [each for each in every if contrast(shown[each[1]], shown[each[2]]) < 4.5] == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_edges_of_controls_and_of_the_focus_are_seen(theme: str) -> None:
    """3 : 1 (1.4.11)."""
    shown = colours(theme)
    edges = [*declared(CSS, "outline"), "faint"]
    assert "bar" in edges
    assert [edge for edge in edges for ground in GROUNDS if contrast(shown[edge], shown[ground]) < 3] == []
