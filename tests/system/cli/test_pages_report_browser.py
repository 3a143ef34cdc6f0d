"""The page of groups in a real browser: it loads nothing, runs nothing, and fits a phone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest

from es_simhash.cli.reports.group_report import GroupReport, Omitted, SharedKey
from es_simhash.cli.reports.html.groups import report_page
from es_simhash.groups.of_index.result import Group
from es_simhash.testing.corpus import corpus, edited
from tests.support.browser import PHONE, Browser, started
from tests.support.reports import group, group_of, member, pairs, report

EVIL = "<script>console.error('ran')</script><img src='http://127.0.0.1:9/x'> <b onclick=x>" + "long" * 60


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    yield from started(tmp_path_factory.mktemp("browser"))


def shown(language: int, name: str) -> GroupReport:
    """Groups of edited documents of a language, with ids and texts that begin with a name."""
    documents = corpus(60)[language::3][:8]
    groups, texts = list[Group](), dict[str, str]()
    for number, document in enumerate(documents):
        ids = [f"{name}{number}-{copy}" for copy in range(6)]
        groups.append(group(f"{name}{number}", *(member(id_, 0.9, 3, f"{name}index") for id_ in ids)))
        texts |= {id_: name + edited(document, 3 * copy)["body"] for copy, id_ in enumerate(ids)}
    days = [(date(2026, 1, 1) + timedelta(days=day)).isoformat() for day in range(92)]
    keys = [SharedKey(f"{name}band", 123456, (f"{name}index", id_)) for id_ in (f"{name}0-0", "gone")]
    found = [pairs(np.linspace(0.4, 1, 90).tolist(), list(range(90)))]
    parts = {"found": found, "dates": days, "keys": keys, "omitted": Omitted(1234567, 12, 3)}
    return report(groups, texts, name=f"{name} ", filter={name: name}, **parts)  # type: ignore[arg-type]


def many() -> GroupReport:
    """Very many groups, some of them very large."""
    sizes = [2 + 40_000 // (1 + number) ** 2 for number in range(5000)]
    moments = [1_500_000_000_000 + 30_000_000 * number for number in range(5000)]
    return report((group_of(str(number), size) for number, size in enumerate(sizes)), dates=moments, others=123_456_789)


REPORTS = {
    "english": lambda: shown(0, ""),
    "chinese": lambda: shown(1, "新闻"),
    "hostile": lambda: shown(0, EVIL),
    "one": lambda: report([group("only", member("a"), member("b"))], {"a": "one text", "b": "one texts"}),
    "none": lambda: report([]),
    "many": many,
}


@pytest.fixture(scope="module", params=list(REPORTS))
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "page of ü.html"
    path.write_text(report_page(REPORTS[request.param]()), encoding="utf-8")
    return path


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [1100, PHONE])
def test_the_page_of_groups_loads_and_runs_nothing_and_fits(
    browser: Browser, path: Path, width: int, colours: str
) -> None:
    browser.show(path, width=width, colours=colours)
    assert browser.requests == [path.as_uri()]
    assert browser.value("[...document.querySelectorAll('details')].every(each => each.open = true)")
    assert browser.value("document.documentElement.scrollWidth") <= width
    assert browser.complaints == []
    assert browser.value("document.scripts.length") == 0
    background = browser.value("getComputedStyle(document.body).backgroundColor")
    assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(15, 19, 24)"}[colours]


def test_hostile_texts_are_read_as_they_are(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "hostile.html"
    path.write_text(report_page(shown(0, EVIL)), encoding="utf-8")
    browser.show(path, width=PHONE, colours="light")
    assert EVIL in browser.value("document.querySelector('.text').textContent")
    assert browser.value("document.querySelectorAll('img, b[onclick]').length") == 0


@pytest.mark.parametrize("width", [1100, PHONE])
def test_bars_lie_within_their_cells_and_can_be_told_apart(browser: Browser, path: Path, width: int) -> None:
    browser.show(path, width=width, colours="light")
    outside = """
        [...document.querySelectorAll('.bar')].filter(bar => {
            const around = bar.getBoundingClientRect()
            return around.width < 50 || [...bar.children].some(each => {
                const box = each.getBoundingClientRect()
                return box.left < around.left - 2 || box.right > around.right + 4
            })
        }).length
    """
    assert browser.value(outside) == 0
