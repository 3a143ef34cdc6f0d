"""What notebooks show, in a real browser: hostile texts do nothing, and light and dark are both legible."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from es_simhash._core.html import in_notebook
from es_simhash._core.rows import Shown
from es_simhash.scheme.rerank import Match, Matches
from tests.support.browser import Browser, started
from tests.unit.core.test_html import HOSTILE

# As notebooks do: the colours are those of the page around.
_FRAME = "<!doctype html><meta charset=utf-8><body style='background: {}; color: {}'>{}</body>"
COLOURS = {"light": ("rgb(255, 255, 255)", "rgb(0, 0, 0)"), "dark": ("rgb(17, 17, 17)", "rgb(255, 255, 255)")}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    yield from started(tmp_path_factory.mktemp("browser"))


def show(browser: Browser, folder: Path, markup: str, colours: str = "light") -> Path:
    path = folder / "notebook.html"
    path.write_text(_FRAME.format(*COLOURS[colours], markup), encoding="utf-8")
    browser.show(path, width=1100, colours=colours)
    return path


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_shown_and_does_nothing(browser: Browser, tmp_path: Path, text: str) -> None:
    matches = Matches((Match(text, text, 0, 1.0, source={text: text}), Match("i", "last", 0, 1.0)), missing=(text,))
    markup = matches._repr_html_() + in_notebook(Shown(text, [text], [[text]], 1, [text])) + "<p id=after>after</p>"
    path = show(browser, tmp_path, markup)
    assert browser.requests == [path.as_uri()]
    assert browser.complaints == []
    assert browser.value("document.querySelectorAll('script, img, style, b b, td td').length") == 0
    assert browser.value("document.querySelectorAll('body > *').length") == 3
    assert browser.value("document.querySelector('#after').parentNode === document.body")
    assert browser.value("document.querySelectorAll('tr').length") == 3 + 2
    if text.isprintable():
        cells = browser.value("[...document.querySelectorAll('td:nth-child(2)')].map(cell => cell.innerText)")
        assert cells == [text.strip(), "last"]


@pytest.mark.parametrize("colours", COLOURS)
def test_text_has_the_colour_of_the_notebook(browser: Browser, tmp_path: Path, colours: str) -> None:
    show(browser, tmp_path, in_notebook(Shown("heading", ["", ""], [["a", "b"]], 1)), colours)
    used = browser.value("[...new Set([...document.querySelectorAll('td, b')].map(e => getComputedStyle(e).color))]")
    assert used == [COLOURS[colours][1]]
    grounds = browser.value("[...document.querySelectorAll('body *')].map(e => getComputedStyle(e).backgroundColor)")
    assert set(grounds) == {"rgba(0, 0, 0, 0)"}
