"""Pages in a real browser: they load nothing, run only their own script, fit a phone, and show hostile texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from es_simhash.cli.reports.evaluation_page import evaluation_page
from es_simhash.cli.reports.explanation_page import explanation_page
from es_simhash.cli.reports.group_report import GroupReport, SharedKey
from es_simhash.cli.reports.groups_page import report_page
from es_simhash.groups.groups import Group
from es_simhash.groups.options import GroupOptions
from es_simhash.plans.explanation import examine, explain
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.scheme import Scheme
from tests.support.browser import PHONE, Browser, started
from tests.support.corpus import corpus, edited
from tests.support.reports import group, group_of, member, pairs, report
from tests.system.cli.test_evaluation_page import EVALUATIONS, EVIL


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    yield from started(tmp_path_factory.mktemp("browser"))


def explained(a: str, b: str) -> str:
    scheme = Scheme()
    first, second = (examine(scheme, f"{EVIL} {place}", text, "index") for place, text in enumerate((a, b)))
    return explanation_page(explain(scheme, Criteria.of(scheme, "both"), (first, second)))


def grouped(language: int, name: str) -> GroupReport:
    """Groups of edited documents of a language, with ids and texts that begin with a name."""
    documents = corpus(60)[language::3][:8]
    groups, texts = list[Group](), dict[str, str]()
    for number, document in enumerate(documents):
        ids = [f"{name}{number}-{copy}" for copy in range(6)]
        groups.append(group(f"{name}{number}", *(member(id_, 0.9, 3, f"{name}index") for id_ in ids)))
        texts |= {id_: name + edited(document, 3 * copy)["body"] for copy, id_ in enumerate(ids)}
    days = [(date(2026, 1, 1) + timedelta(days=day)).isoformat() for day in range(60)]
    keys = [SharedKey(f"{name}band", 123456, member(id_, index=f"{name}index")) for id_ in (f"{name}0-0", "gone")]
    found = [pairs(np.linspace(0.4, 1, 90).tolist(), list(range(90)))]
    parts: dict[str, Any] = {
        "found": found,
        "dates": days,
        "keys": keys,
        "omitted": {"empty": 1234567, "cut_off": 12, "new": 3},
    }
    return report(groups, texts, name=f"{name} ", options=GroupOptions(filter={name: name}), **parts)


def many() -> GroupReport:
    """Very many groups, some of them very large."""
    sizes = [2 + 40_000 // (1 + number) ** 2 for number in range(5000)]
    moments = [1_500_000_000_000 + 30_000_000 * number for number in range(5000)]
    return report((group_of(str(number), size) for number, size in enumerate(sizes)), dates=moments, name=EVIL)


GROUPS = (("large", 0.7, "345"), ("middle", 0.9, "3"), ("small", 0.61, ""))
ENGLISH, CHINESE = (corpus(3)[place] for place in (0, 1))
PAGES: dict[str, Callable[[], str]] = {
    "explanation": lambda: explained(ENGLISH["body"] + EVIL, edited(ENGLISH, 5)["body"] + EVIL),
    "explanation of unrelated texts": lambda: explained(EVIL, CHINESE["body"]),
    "explanation of no text": lambda: explained("", EVIL),
    "groups": lambda: report_page(grouped(0, EVIL)),
    "groups in Chinese": lambda: report_page(grouped(1, f"新闻{EVIL}")),
    "many groups": lambda: report_page(many()),
    "no groups": lambda: report_page(report([], name=EVIL)),
    **{f"evaluation of {name}": lambda made=made: evaluation_page(made(), EVIL) for name, made in EVALUATIONS.items()},  # type: ignore[misc]
}


@pytest.fixture(scope="module", params=list(PAGES))
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "page of ü.html"
    path.write_text(PAGES[request.param](), encoding="utf-8")
    return path


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [1100, PHONE])
def test_a_page_loads_and_runs_nothing_from_outside_and_fits(
    browser: Browser, path: Path, width: int, colours: str
) -> None:
    browser.show(path, width=width, colours=colours)
    assert browser.requests == [path.as_uri()]
    assert browser.value("[...document.querySelectorAll('details')].every(each => each.open = true)")
    assert browser.value("document.documentElement.scrollWidth") <= width
    assert browser.complaints == []
    assert browser.value("document.querySelectorAll('main script, img, b[onclick]').length") == 0
    background = browser.value("getComputedStyle(document.body).backgroundColor")
    assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(15, 19, 24)"}[colours]
    assert EVIL in browser.value("document.body.textContent")


@pytest.mark.parametrize("width", [1100, PHONE])
def test_bars_lie_within_their_cells_and_are_wide_enough_to_compare(browser: Browser, path: Path, width: int) -> None:
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


def test_groups_are_searched_and_sorted_on_the_page(browser: Browser, tmp_path: Path) -> None:
    groups = [group(f"{name}", member("1"), member("2", near), *map(member, more)) for name, near, more in GROUPS]
    path = tmp_path / "page.html"
    path.write_text(report_page(report(groups, criteria=Criteria(None, 0.6))), encoding="utf-8")
    browser.show(path)
    names = (
        "[...document.querySelectorAll('#list > :not([hidden])')].map(each => each.querySelector('p bdi').textContent)"
    )
    assert browser.value(names) == ["large", "middle", "small"]
    browser.value("order.value = 'doubt'; order.dispatchEvent(new Event('change'))")
    assert browser.value(names) == ["small", "large", "middle"]
    browser.value("search.value = 'SMALL'; search.dispatchEvent(new Event('input'))")
    assert browser.value(names) == ["small"]
    assert browser.value("found.textContent") == "1 of 3"
    assert browser.complaints == []


def test_these_checks_notice_a_page_that_does_none_of_it(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "bad.html"
    markup = "<div style='width: 900px'>wide</div><img src='http://127.0.0.1:9/x'><script>console.error('ran')</script>"
    path.write_text(f"<!doctype html><meta name=viewport content='width=device-width'>{markup}", encoding="utf-8")
    browser.show(path, width=PHONE, colours="light")
    assert browser.requests == [path.as_uri(), "http://127.0.0.1:9/x"]
    assert browser.complaints
    assert browser.value("document.documentElement.scrollWidth") > PHONE
