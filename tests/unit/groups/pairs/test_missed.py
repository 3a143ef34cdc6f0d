from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.stages import OnProgress, counting, counts_shown
from es_simhash.groups.corpus import Corpus
from es_simhash.groups.groups import Groups
from es_simhash.groups.of_texts import group_texts
from es_simhash.groups.options import GroupOptions
from es_simhash.groups.pairs.compare import Missed, missed
from es_simhash.groups.union_find import Components
from es_simhash.scheme.scheme import Scheme
from tests.support.short_records import records


def deduplicated(texts: list[str]) -> Groups[Corpus]:
    return group_texts(
        ((str(place), text) for place, text in enumerate(texts)), Scheme.preset("short"), GroupOptions(threads=1)
    )


def recall(found: Groups[Corpus], planted: list[tuple[int, int]]) -> float:
    return float(np.mean([found.firsts[one] == found.firsts[other] for one, other in planted]))


def test_copies_with_typing_errors_are_found_among_few_candidates_by_chance() -> None:
    texts, planted = records(6_000, 200)
    with deduplicated(texts) as found:
        assert recall(found, planted) >= 0.97
        assert found.counts.compared < len(texts) ** 2 / 50


@given(st.integers(1, 1000), st.integers(0, 10**6), st.integers(0, 10**4))
def test_the_estimate_lies_between_its_bounds_which_meet_if_all_documents_were_compared(
    drawn: int, others: int, found: int
) -> None:
    estimate = Missed.of(drawn, drawn + others, found)
    assert estimate.low <= estimate.pairs <= estimate.high
    assert (estimate.low == estimate.high == estimate.pairs) or others


def test_if_nothing_is_compared_nothing_is_missed() -> None:
    assert Missed.of(0, 0, 0) == Missed(0, 0, 0, 0, 0)


@pytest.mark.parametrize("native", ["0", "1"])
def test_what_the_join_misses_is_counted_in_full_where_all_documents_are_drawn(
    native: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ES_SIMHASH_NATIVE", native)
    texts, _ = records(700, 40)
    with deduplicated(texts) as found:
        near = found.counts.near
        assert found.counts.missed is not None
        assert found.counts.missed.drawn == len(texts)
        assert found.counts.missed.found == 0
    # As if no pair had been found.
    apart = Components(np.arange(len(texts)))
    monkeypatch.setattr(
        "es_simhash.groups.corpus.missed",
        lambda store, comparison, groups: missed(store, comparison, apart.firsts),
    )
    with deduplicated(texts) as found:
        assert found.counts.missed is not None
        assert found.counts.missed.found >= 2 * near
        assert found.counts.near == near


def test_nothing_is_said_of_what_is_missed_where_all_that_share_a_key_are_compared() -> None:
    with deduplicated(["one short text of some words", "another one of quite other letters"]) as found:
        assert (found.counts.left_out, found.counts.missed) == (0, None)


def test_every_stage_reports_how_much_is_done_up_to_its_total() -> None:
    reports: dict[str, list[int]] = {}
    totals: dict[str, int] = {}

    @contextmanager
    def show(doing: str, total: int, unit: str) -> Iterator[OnProgress[int]]:
        totals[doing] = total
        yield reports.setdefault(doing, []).append

    texts, _ = records(700, 40)
    with counts_shown(show), deduplicated(texts) as found:
        assert list(found)
        assert list(found.pairs())
    assert {"Finding equal texts", "Sorting keys", "Comparing", "Linking"} < {*reports}
    assert {"Estimating what is missed", "Reading groups", "Reading pairs"} < {*reports}
    for doing, done in reports.items():
        assert done == sorted(done), doing
        assert done[-1] == totals[doing], doing


def test_counts_that_nobody_watches_are_not_shown() -> None:
    with counting("Reading", 3) as advance:
        advance(2)
