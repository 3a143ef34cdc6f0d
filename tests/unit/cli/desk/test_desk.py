"""What the desk asks of an index.

The order of the queue, and what answers say.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash import Decision, Index, connect, dedup
from es_simhash.cli.desk.desk import Answers, Desk, GroupFilter, Queue, desk_on_index, queue_of, wilson
from es_simhash.cli.show.output import Output
from es_simhash.plans.operations import Search, index_of
from tests.support.corpus import corpus, edited
from tests.support.meddling import Meddler
from tests.support.random_corpus import texts_of_two_kinds

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
        found = {value: desk.rows(GroupFilter(value=value))[1] for value in ("a", "t1", "2", "t", "['a', 't1']")}
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


def made(similarities: list[float], threshold: float | None = 0.6) -> Queue:
    duplicates = np.arange(len(similarities))
    return Queue(duplicates, duplicates, dict(enumerate(similarities)), threshold)


def test_the_pairs_nearest_to_the_threshold_come_first_and_all_come_once() -> None:
    with dedup(texts_of_two_kinds(), similarity=0.5) as groups:
        queue = queue_of(groups)
        duplicates, known = groups.known_similarities()
    assert sorted(queue.duplicates.tolist()) == duplicates.tolist()
    found = [queue.similarities[each] for each in queue.duplicates.tolist()]
    assert found == sorted(found, key=lambda each: abs(each - 0.5))
    assert set(queue.drawn.tolist()) == set(duplicates.tolist())
    assert not np.isnan(known).all()


def test_a_queue_without_duplicates_is_empty() -> None:
    with dedup(["The ferry leaves at noon.", "Trains stood still for hours."]) as groups:
        assert len(queue_of(groups)) == 0
        assert queue_of(groups).next_after(0, set()) is None


def test_the_next_pair_is_one_that_nobody_has_judged() -> None:
    queue = made([0.7, 0.8, 0.9])
    assert queue.next_after(0, set()) == 0
    assert queue.next_after(1, {1}) == 2
    assert queue.next_after(2, {1, 2}) == 0
    assert queue.next_after(0, {0, 1, 2}) is None


def test_nothing_is_said_of_all_pairs_from_few_or_doubtful_ones() -> None:
    answers = Answers(made([0.7] * 50), dict.fromkeys(range(5, 9), True))
    assert answers.sentence == (
        "Of 4 judged pairs, 0 were wrong: "
        "what that says of all pairs is known when 20 random ones are judged (0 so far)."
    )
    assert Answers(made([0.7]), {}).sentence == "Nothing judged yet."


def test_a_sample_judged_from_the_first_on_gives_the_precision_with_its_interval() -> None:
    right = {place: place % 20 != 0 for place in range(120)}
    answers = Answers(made([0.7] * 200), right)
    assert answers.sentence.startswith("Of 120 judged pairs, 6 were wrong: precision 0.95 (0.90–0.98), by 120 drawn")
    del right[30]
    assert "by 30 drawn at random" in answers.sentence


def test_a_threshold_that_fits_the_answers_is_named_with_what_it_costs() -> None:
    doubtful, sure = [0.60, 0.61, 0.62, 0.65, 0.70], dict.fromkeys(range(5, 20), True)
    answers = Answers(made(doubtful + 15 * [0.9]), {0: False, 1: False, 2: True, 3: False, 4: True, **sure})
    assert "--similarity 0.62 would fit your answers: 2 of 3 wrong ones go away." in answers.sentence
    assert "would fit" not in Answers(made(20 * [0.6] + [0.9]), {**dict.fromkeys(range(20), True), 20: False}).sentence
    assert (
        "would fit"
        not in Answers(made(20 * [0.6] + [0.9], None), {**dict.fromkeys(range(20), False), 20: True}).sentence
    )
    # One answer does not move a threshold.
    assert "would fit" not in Answers(made([0.6, 0.9]), {0: False, 1: True}).sentence


@given(st.integers(1, 500).flatmap(lambda count: st.tuples(st.integers(0, count), st.just(count))))
def test_the_interval_has_the_share_in_it(case: tuple[int, int]) -> None:
    right, count = case
    low, high = wilson(right, count)
    assert -1e-3 <= low <= right / count + 1e-4
    assert right / count - 1e-4 <= high <= 1 + 1e-3


def test_the_interval_is_that_of_the_books() -> None:
    assert wilson(10, 10) == pytest.approx((0.7225, 1.0), abs=1e-3)
    assert wilson(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-3)
