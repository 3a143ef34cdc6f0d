"""What the desk asks of an index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from es_simhash import Decision, Index, connect
from es_simhash.cli.desk.desk import Desk, Wanted
from es_simhash.cli.jobs.review import desk_on_index
from es_simhash.cli.show.output import Output
from es_simhash.plans.operations import Search, index_of
from tests.support.corpus import corpus, edited
from tests.support.meddling import Meddler

TEXTS = [edited(text, count, seed=seed)["body"] for seed, text in enumerate(corpus(4)) for count in (1, 2, 6)]


@pytest.fixture
def engine(tmp_path: Path) -> Meddler:
    return Meddler(connect(tmp_path))


@pytest.fixture
def desk(engine: Meddler) -> Iterator[Desk]:
    index = Index("news", engine, fields=["body"])
    index.init()
    index.add([{"_id": str(place), "body": text} for place, text in enumerate(TEXTS)], refresh=True)
    index.decide([Decision.between("0", f"gone {number}", same=False, who="Ben") for number in range(50)])
    with desk_on_index(index, [], None, "Mia", Output(quiet=True)) as desk:
        yield desk


def asked(engine: Meddler) -> list[set[str]]:
    """Return the documents of each request for decisions."""
    found = [each for each in engine.seen if index_of(each) == "dedup-decisions"]
    assert all(isinstance(each, Search) for each in found)
    return [set(each.body["query"]["terms"]["about"]) for each in found if isinstance(each, Search)]


def test_of_decisions_a_page_reads_those_on_what_it_shows(
    engine: Meddler, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = 0.0
    monkeypatch.setattr("es_simhash.cli.desk.desk.monotonic", lambda: clock)
    engine.seen.clear()
    desk.answers()
    [of_queue] = asked(engine)
    assert of_queue == {f"news/{place}" for place in range(len(TEXTS))}
    engine.seen.clear()
    pair = desk.pair_at(3)
    desk.answers()
    assert asked(engine) == [{f"news/{each.name}" for each in pair.documents}]
    clock = 6.0
    engine.seen.clear()
    desk.answers()
    assert asked(engine) == [of_queue]


def test_groups_are_filtered_by_values_within_objects_and_lists(engine: Meddler) -> None:
    index = Index("news", engine, fields=["body"])
    index.init()
    rows = [{"body": TEXTS[place], "meta": {"tags": ["a", f"t{place // 3}"], "n": place // 3}} for place in range(12)]
    index.add([{"_id": str(place), **row} for place, row in enumerate(rows)], refresh=True)
    with desk_on_index(index, ["meta.tags", "meta.n"], None, "Mia", Output(quiet=True)) as desk:
        found = {value: desk.rows(Wanted(value=value))[1] for value in ("a", "t1", "2", "t", "['a', 't1']")}
    assert found == {"a": 4, "t1": 1, "2": 1, "t": 0, "['a', 't1']": 0}


def test_answers_of_this_desk_count_at_once(engine: Meddler, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("es_simhash.cli.desk.desk.monotonic", lambda: 0.0)
    assert not desk.answers().are_right
    positions = list(desk.pair_at(0).positions)
    desk.decide(positions, "different")
    assert desk.answers().are_right == {positions[1]: False}
    desk.decide(positions, "same")
    assert desk.answers().are_right == {positions[1]: True}
    desk.undo()
    assert desk.answers().are_right == {positions[1]: False}
    desk.undo()
    assert not desk.answers().are_right
    assert desk.undo() == "/"
