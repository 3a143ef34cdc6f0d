"""The order of the queue, and what answers say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash import dedup
from es_simhash.cli.desk.queue import Answers, Queue, queue_of, wilson
from tests.support.random_corpus import texts_of_two_kinds


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
