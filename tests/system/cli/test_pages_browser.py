"""Pages in a real browser: they load nothing, run nothing, and fit a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from es_simhash.cli.reports.html.explanation import explanation_page
from es_simhash.plans.explain.explanation import explain
from es_simhash.plans.explain.field_states import ComparedDocument, examine
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.scheme import Scheme
from tests.support.browser import PHONE, Browser, started
from tests.support.corpus import corpus, edited

EVIL = "<script>console.error('ran')</script><img src='http://127.0.0.1:9/x'> <b onclick=x>" + "long" * 60


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    yield from started(tmp_path_factory.mktemp("browser"))


def texts() -> dict[str, tuple[str, str]]:
    english, chinese = corpus(3)[0], corpus(3)[1]
    return {
        "english": (english["body"] + EVIL, edited(english, 5)["body"] + EVIL),
        "chinese": (chinese["body"], edited(chinese, 5)["body"]),
        "unrelated": (english["body"], chinese["body"]),
        "empty": ("", english["body"]),
    }


@pytest.fixture(params=["english", "chinese", "unrelated", "empty"])
def explanation(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    scheme = Scheme()
    documents = [ComparedDocument(f"{EVIL} {i}", text, "index") for i, text in enumerate(texts()[request.param])]
    first, second = (examine(scheme, each) for each in documents)
    path = tmp_path / "page of ü.html"
    found = explain(scheme, Criteria.of(scheme, "both"), (first, second))
    path.write_text(explanation_page(found), encoding="utf-8")
    return path


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [1100, PHONE])
def test_the_page_of_an_explanation_loads_and_runs_nothing_and_fits(
    browser: Browser, explanation: Path, width: int, colours: str
) -> None:
    browser.show(explanation, width=width, colours=colours)
    assert browser.requests == [explanation.as_uri()]
    assert browser.complaints == []
    assert browser.value("document.documentElement.scrollWidth") <= width
    background = browser.value("getComputedStyle(document.body).backgroundColor")
    assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(15, 19, 24)"}[colours]
    assert "<script>console.error('ran')</script>" in browser.value("document.body.innerText")
    assert browser.value("document.scripts.length") == 0


def test_these_checks_notice_a_page_that_does_none_of_it(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "bad.html"
    markup = "<div style='width: 900px'>wide</div><img src='http://127.0.0.1:9/x'><script>console.error('ran')</script>"
    path.write_text(f"<!doctype html><meta name=viewport content='width=device-width'>{markup}", encoding="utf-8")
    browser.show(path, width=PHONE, colours="light")
    assert browser.requests == [path.as_uri(), "http://127.0.0.1:9/x"]
    assert browser.complaints
    assert browser.value("document.documentElement.scrollWidth") > PHONE
