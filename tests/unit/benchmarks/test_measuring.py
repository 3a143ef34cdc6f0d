"""Latencies are taken in turns, and come with intervals that other queries would fall into."""

from __future__ import annotations

import time

import numpy as np
import pytest

from benchmarks import intervals
from benchmarks.intervals import Estimate
from benchmarks.measuring import BLOCK, Latency, in_turns, in_turns_but_slow
from benchmarks.tables import number

RNG = np.random.default_rng(3)


def latency(*rounds: list[float]) -> Latency:
    return Latency(np.array(rounds), 0.5, 1.5)


# ---- intervals


@pytest.mark.nightly
def test_an_interval_holds_the_true_quantile_about_as_often_as_it_says() -> None:
    held = 0
    for _ in range(100):
        found = intervals.quantile(RNG.exponential(1.0, (1, 80)), 0.5)
        held += found.low <= np.log(2) <= found.high
    assert 85 <= held <= 100


def test_rounds_of_the_same_queries_do_not_make_an_interval_narrower() -> None:
    times = RNG.exponential(1.0, (1, 60))
    once, often = intervals.quantile(times, 0.5), intervals.quantile(np.repeat(times, 9, axis=0), 0.5)
    assert often.high - often.low == pytest.approx(once.high - once.low, rel=0.2)


def test_a_ratio_of_the_same_queries_is_narrower_than_its_sides() -> None:
    others = RNG.exponential(1.0, (3, 60))
    found, side = intervals.ratio(2 * others, others), intervals.quantile(others, 0.5)
    assert found == Estimate(2.0, 2.0, 2.0)
    assert side.high > 1.1 * side.low


def test_a_spread_of_times_that_only_differ_in_scale_is_that_of_each() -> None:
    times = RNG.exponential(1.0, (1, 500))
    found = intervals.spread(times, 0.99)
    assert found == intervals.spread(8 * times, 0.99)
    assert found.low <= np.log(100) / np.log(2) <= found.high


def test_a_ratio_takes_the_queries_that_both_sides_have() -> None:
    few, many = np.full((2, 3), 6.0), np.array([[2.0, 2.0, 2.0, 99.0, 99.0]])
    assert intervals.ratio(few, many).value == intervals.ratio(few, many).high == 3.0
    assert intervals.ratio(many, few).value == pytest.approx(1 / 3)


def test_a_number_is_read_without_its_interval() -> None:
    assert str(Estimate(1234.5, 2, 3)) == "1234.50 (2.00–3.00)"
    assert number(str(Estimate(1234.5, 2, 3))) == 1234.5
    assert number("12,345") == 12345
    with pytest.raises(ValueError, match="could not convert"):
        number("")


# ---- latencies


def test_a_latency_has_its_quantiles_and_shares_them_by_batch() -> None:
    found = latency([1, 2, 3], [3, 4, 5])
    assert (found.p50, found.within(0.5).value) == (3, 3)
    assert found.p90 == found.within(0.9).value == 4.5
    assert found.spread(0.9).value == 1.5
    assert found.over(latency([2, 4, 6], [6, 8, 10]), 0.9).value == 0.5
    shared = found.shared_by(2)
    assert (shared.p50, shared.client, shared.server) == (1.5, 0.25, 0.75)


class Clocks:
    """Clocks that go on only while a way answers: a second for ours, three for theirs, two of them the server's."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.wall = self.cpu = self.server = 0.0
        self.asked: list[tuple[str, int]] = []
        monkeypatch.setattr(time, "perf_counter", lambda: self.wall)
        monkeypatch.setattr(time, "process_time", lambda: self.cpu)

    def ours(self, query: int) -> None:
        self.asked.append(("ours", query))
        self.wall += 1
        self.cpu += 1

    def theirs(self, query: int) -> None:
        self.asked.append(("theirs", query))
        self.wall += 3
        self.cpu += 1
        self.server += 2


def test_all_ways_answer_all_queries_in_each_round_and_each_has_its_own_cpu_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clocks = Clocks(monkeypatch)
    queries = range(2 * BLOCK + 1)
    found = in_turns({"ours": clocks.ours, "theirs": clocks.theirs}, queries, 2, [], lambda: clocks.server)
    assert {name: each.times.tolist() for name, each in found.items()} == {
        "ours": [[1000.0] * len(queries)] * 2,
        "theirs": [[3000.0] * len(queries)] * 2,
    }
    assert [round(each.client) for each in found.values()] == [1000, 1000]
    assert [round(each.server) for each in found.values()] == [0, 2000]
    assert sorted(clocks.asked) == sorted((name, query) for name in found for query in [*queries, *queries])
    # Neither way is ever far ahead of the other.
    lead = np.cumsum([1 if name == "ours" else -1 for name, _ in clocks.asked])
    assert np.abs(lead).max() <= 2 * BLOCK


def test_a_slow_way_answers_fewer_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = Clocks(monkeypatch)
    ways = {"theirs": clocks.theirs, "ours": clocks.ours}
    found = in_turns_but_slow(ways, range(10), 3, range(4), 2000, lambda: clocks.server)
    assert {name: each.times.shape for name, each in found.items()} == {"theirs": (3, 2), "ours": (3, 10)}
    assert list(found) == ["theirs", "ours"]
    assert found["theirs"].over(found["ours"]).value == 3


def test_a_way_is_warmed_up_until_it_gets_no_quicker(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = Clocks(monkeypatch)
    calls = 0

    def compiled_after_ten_calls(_: int) -> None:
        nonlocal calls
        calls += 1
        clocks.wall += 0.2 / min(calls, 10)

    in_turns({"theirs": compiled_after_ten_calls}, range(2), 1, range(2))
    # Six passes get quicker, three more show that it is warm, and one is measured.
    assert calls == 2 * (6 + 3 + 1)
