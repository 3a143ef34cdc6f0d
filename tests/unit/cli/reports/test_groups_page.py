""""""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

import pytest

from es_simhash.cli.reports.chart_bins import Bar, Chart
from es_simhash.cli.reports.group_report import GroupReport, SharedKey
from es_simhash.cli.reports.groups_page import report_page
from es_simhash.cli.reports.page import chart
from es_simhash.groups.canonical import Canonical
from es_simhash.groups.options import GroupOptions
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.scheme import Scheme
from tests.support.html_reader import Reader
from tests.support.reports import group, group_of, member, pairs, report
from tests.unit.cli.reports.test_pages import EVIL

TEXT = "A storm hit the coast last night. Trains stood still."


def read(made: GroupReport) -> Reader:
    return Reader(report_page(made))


def headings(found: Reader) -> list[str]:
    names = ["In numbers", "Groups by size", "Similarity of pairs", "Distance of pairs", "Duplicates over time"]
    names += ["To decide pair by pair", "Text that very many documents share", "Left out", "Settings"]
    return [name for name in names if name in found.text]


def whole() -> GroupReport:
    """One that has everything, with markup wherever a text may come from outside."""
    members = [member(f"{EVIL}{number}", 0.9 - 0.1 * number, number, f"in {EVIL}") for number in range(7)]
    members[0] = member(f"{EVIL}0", index=f"in {EVIL}")
    return report(
        [group(f"name {EVIL}", *members), group_of("plain", 3)],
        {f"{EVIL}{number}": f"{EVIL} {TEXT} " * number + EVIL for number in range(7)},
        found=[pairs([0.65, 0.99, 1.0, 0.3], [3, 0, 0, 1], [True, False, True, False])],
        dates=["2024-01-01T00:00:00Z", 1704067200000, None],
        keys=[SharedKey(f"band {EVIL}", 12345, member(f"{EVIL}1", index=""))],
        omitted={"empty": 1234, "cut_off": 1, "new": 17},
        others=1_000_000,
        name=EVIL,
        fields=[EVIL],
        options=GroupOptions(canonical=Canonical(EVIL), filter={"term": {EVIL: EVIL}}),
        date_field=EVIL,
    )


def test_a_group_leads_to_its_page_elsewhere() -> None:
    made = report_page(report([group_of(f"a {EVIL}", 2)], link=lambda name: f"http://ui/?group={name}&x"))
    assert f'<a href="http://ui/?group={escape(f"a {EVIL}")}&amp;x" rel="noreferrer">' in made
    links = [attributes["href"] for tag, attributes in read(report([group_of("a", 2)])).elements if tag == "a"]
    assert links == ["#in-numbers", "#groups-by-size", "#groups", "#left-out", "#settings"]


@pytest.mark.parametrize(
    ("sizes", "others", "shown"),
    [
        ([], 0, "No documents to compare."),
        ([], 1, "No near-duplicates among 1 document."),
        ([], 1000, "No near-duplicates among 1,000 documents."),
        ([2], 0, "1 of 2 documents is a duplicate, in 1 group."),
        ([1235, 2], 98765, "1,235 of 100,002 documents are duplicates, in 2 groups."),
    ],
)
def test_the_first_line_says_what_it_came_to(sizes: Sequence[int], others: int, shown: str) -> None:
    found = read(report([group_of("a", size) for size in sizes], others=others))
    assert shown in found.text


def test_all_that_comes_from_outside_is_shown_as_text() -> None:
    found = read(whole())
    assert not {tag for tag, _ in found.elements} & {"img", "link", "iframe"}
    assert [tag for tag, _ in found.elements].count("script") == 1
    assert all(str(attributes["href"]).startswith("#") for tag, attributes in found.elements if tag == "a")
    names = {name for _, attributes in found.elements for name in attributes}
    assert not {name for name in names if name.startswith("on") or name == "src"}
    for shown in (EVIL, f"name {EVIL}", f"in {EVIL}", f"By {EVIL}"):
        assert shown in found.text


def test_every_section_is_there_if_there_is_something_in_it() -> None:
    assert len(headings(read(whole()))) == 9
    assert headings(read(report([]))) == ["In numbers", "Left out", "Settings"]


def test_differences_are_marked_and_what_is_not_shown_is_counted() -> None:
    members = [member("0"), *(member(str(number), 0.9 + number / 100) for number in range(1, 9))]
    texts = {"0": TEXT, "1": TEXT.replace("Trains", "Buses"), "2": TEXT.upper(), "3": TEXT}
    made = report_page(report([group("a", *members)], texts))
    assert "<del>Trains</del><ins>Buses</ins>" in made
    text = Reader(made).text
    assert "The same text, except for differences that do not count." in text
    assert "The same text." in text
    assert "Its text is missing or cannot be read." in text
    assert "4 other members5 similarity 0.95" in text


def test_groups_that_are_not_shown_are_counted() -> None:
    made = report([group_of(str(number), 2) for number in range(1250)])
    found = read(made)
    assert "and 1,050 groups more" in found.text
    folded = [attributes for tag, attributes in found.elements if tag == "details"]
    assert len(folded) == 200
    assert ["open" in each for each in folded] == [True] + [False] * 199


def test_a_page_that_would_be_too_long_shows_fewer_groups_and_counts_the_others() -> None:
    long = [member(f"{number} {'x' * 500}", 1.0, 0) for number in range(600)]
    found = report_page(report([group(str(number), *long) for number in range(100)]))
    assert len(found) < 5_000_000
    shown = found.count("data-doubt=")
    assert f"and {100 - shown} groups more" in Reader(found).text
    assert "and 96 members more" not in Reader(found).text
    assert "and 95 members more" in Reader(found).text


@pytest.mark.parametrize(("name", "command"), [("news.csv", "news.csv"), ("a b", "'a b'"), ("a.csv, b.csv", "FILE")])
def test_the_page_says_how_to_decide_pair_by_pair(name: str, command: str) -> None:
    assert f"To decide pair by pair: es-simhash show {command}" in read(report([group_of("a", 2)], name=name)).text


def test_omissions_are_listed() -> None:
    text = read(whole()).text
    for shown in (
        "17 new documents were compared with the others",
        "1,234 documents have no text to compare",
        "1 comparison was left out",
    ):
        assert shown in text
    assert "The end of this page lists what is in no group, or was not compared." in text
    text = read(report([])).text
    assert "Nothing." in text
    assert "Not everything" not in text


def test_settings_say_how_groups_came_to_be() -> None:
    scheme = Scheme(name="mine")
    options = GroupOptions(canonical=Canonical("longest"), strip=["<!--.*-->"], max_bucket=5000)
    text = read(report([], scheme=scheme, criteria=Criteria(None, 0.75), options=options)).text
    for shown in (
        "mine",
        "a similarity of at least 0.75",
        "longest",
        "fingerprints, without reading texts",
    ):
        assert shown in text
    for shown in ("<!--.*-->", "5,000 documents at most"):
        assert shown in text


def test_a_chart_is_a_table_whose_bars_are_as_long_as_their_counts() -> None:
    made = chart(Chart("Groups by size", "By size.", ("size", "groups"), (Bar("2", 1200), Bar("3", 300), Bar("4", 0))))
    assert re.findall("width: ([0-9.]+)%", made) == ["100.0", "25.0"]
    found = Reader(made)
    assert [attributes.get("scope") for tag, attributes in found.elements if tag == "th"] == ["col"] * 3 + ["row"] * 3
    assert "21,200330040" in found.text
    assert [each["aria-hidden"] for _, each in found.elements if each.get("class") == "bar"] == ["true"] * 3
