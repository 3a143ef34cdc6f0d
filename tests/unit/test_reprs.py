"""A repr is short, says what a value is, and asks no engine; notebooks show tables that are safe."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from es_simhash import PRESETS, AsyncIndex, Index, Scheme, dedup
from es_simhash.live.doctor.facts import Finding, Findings
from es_simhash.plans.operations import Operation
from tests.support.html_reader import Reader

STORM = "The storm has left many houses along the coast without power since Monday night."
HOSTILE = "<script>alert(1)</script>\x1b[2J"


class Unasked:
    """An engine that fails when it is asked."""

    def perform(self, operation: Operation[Any]) -> Any:
        raise AssertionError(operation)

    def close(self) -> None:
        pass


@pytest.fixture
def index(tmp_path: Path) -> Index:
    index = Index("articles", tmp_path, fields=["title", "body"])
    index.init()
    index.add([{"_id": "1", "title": "a", "body": STORM}, {"_id": "2", "title": "b", "body": STORM}], refresh=True)
    return index


def test_an_index_says_what_it_is_without_asking_the_engine() -> None:
    assert repr(Index("news", Unasked())) == "Index('news' by Unasked)"
    index = Index("news", Unasked(), fields=["title", "body"], scheme="short")
    assert repr(index) == "Index('news' by Unasked, fields title and body, preset short)"
    mine = Index("news", Unasked(), scheme=Scheme(name="ours"))
    assert repr(mine) == "Index('news' by Unasked, scheme ours)"


def test_the_place_of_an_index_has_no_password(tmp_path: Path) -> None:
    url = "https://elastic:secret@a.example:9200,http://b.example"
    assert repr(AsyncIndex("news", url)) == "AsyncIndex('news' at https://a.example:9200, http://b.example)"
    assert repr(AsyncIndex("news", tmp_path)) == f"AsyncIndex('news' in {tmp_path})"
    assert repr(AsyncIndex("news")) == "AsyncIndex('news' in .es-simhash)"


def test_an_index_that_was_read_says_its_fields_and_preset(tmp_path: Path, index: Index) -> None:
    again = Index("articles", index.engine)
    assert repr(again) == "Index('articles' by EmbeddedEngine)"
    again.find(id="1")
    assert repr(again) == "Index('articles' by EmbeddedEngine, fields title and body, preset default)"


def test_an_asynchronous_index_says_the_same(tmp_path: Path, index: Index) -> None:
    async def read() -> str:
        async with AsyncIndex("articles", tmp_path, fields=["title", "body"]) as found:
            await found.info()
            return repr(found)

    index.close()
    assert asyncio.run(read()) == f"AsyncIndex('articles' in {tmp_path}, fields title and body, preset default)"


def test_results_are_short(index: Index) -> None:
    assert repr(dedup([STORM, STORM])) == "Deduplicated(2 documents, 1 group, 1 duplicate)"
    with index.group() as groups:
        assert repr(groups) == "Groups(2 documents, 1 group, 1 duplicate)"
    assert repr(index.find(id="1")).startswith("Matches(1 near-duplicate")
    assert repr(index.find(id="1")).endswith("'2' 1.00)") or "'2' 0." in repr(index.find(id="1"))
    assert repr(index.info()) == "Info(articles: 2 documents, 0 without fingerprint)"
    assert repr(index.search({}, distinct=True)) == "DistinctPage(1 hit without near-duplicates, of 2 read)"
    assert "A backfill can begin" in repr(index.doctor())
    assert len(repr(index.scheme)) < 80
    assert repr(index.scheme) == f"Scheme(preset 'default', id {index.scheme.id})"
    assert repr(Scheme(name="default", floor=2)).startswith("Scheme(custom 'default', id ")
    assert repr(PRESETS) == "Presets(5 presets: default, short, passages, chinese-keywords, strict)"


def test_notebooks_show_tables(index: Index) -> None:
    assert "title, body" in Reader(index.info()._repr_html_()).text
    assert "Passed: " in Reader(index.doctor()._repr_html_()).text
    assert "minhash" in Reader(index.scheme._repr_html_()).text
    assert "Almost identical texts only" in Reader(PRESETS._repr_html_()).text


def test_the_most_urgent_findings_come_first() -> None:
    kinds = [("speed", "note"), ("mapping", "ok"), ("closed", "stop"), ("nested", "warning")]
    found = Findings(Finding(code, level, f"About {code}.") for code, level in kinds)  # type: ignore[arg-type]
    text = Reader(found._repr_html_()).text
    assert text.index("1 problem stops a backfill") < text.index("closed") < text.index("nested") < text.index("speed")
    assert "Passed: mapping." in text


@pytest.mark.parametrize(
    "result",
    [
        Findings([Finding("closed", "stop", HOSTILE, HOSTILE, HOSTILE)]),
        Scheme(name=HOSTILE),
    ],
    ids=["findings", "scheme"],
)
def test_tables_are_safe_whatever_they_show(result: Any) -> None:
    html = result._repr_html_()
    assert "<script" not in html
    assert all(tag != "script" for tag, _ in Reader(html).elements)


def test_the_repr_of_an_index_commands_no_terminal() -> None:
    assert "\x1b" not in repr(Index(HOSTILE, Unasked(), fields=[HOSTILE]))
