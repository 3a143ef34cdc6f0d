"""Charts about groups count every group, pair and duplicate once, in bins that say what is in them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.cli.reports.chart_bins import Bar, Chart, PairCounts, dates, sizes
from es_simhash.groups.pairs.compare import pair_type
from es_simhash.scheme.query import Criteria
from tests.support.reports import pairs


def counted(chart: Chart) -> dict[str, int]:
    return {bar.name: bar.count for bar in chart.bars if bar.count}


# ---- sizes


def test_groups_are_counted_by_their_documents_one_by_one_and_then_by_ranges() -> None:
    [chart] = sizes(Counter((2, 2, 3, 5, 6, 10, 12)))
    assert chart.bars == (
        *(Bar("2", 2, ("4",)), Bar("3", 1, ("3",)), Bar("4", 0, ("0",)), Bar("5", 1, ("5",))),
        *(Bar("6–10", 2, ("16",)), Bar("11–20", 1, ("12",))),
    )
    assert list(sizes({})) == []


@given(st.lists(st.integers(min_value=2, max_value=10**7), min_size=1))
def test_each_group_is_counted_once(given_sizes: list[int]) -> None:
    [chart] = sizes(Counter(given_sizes))
    assert sum(bar.count for bar in chart.bars) == len(given_sizes)
    assert sum(int(bar.cells[0].replace(",", "")) for bar in chart.bars) == sum(given_sizes)
    assert (chart.bars[-1].name == "over 1,000") == (max(given_sizes) > 1000)


# ---- pairs


def similarities(threshold: float | None, *pieces: Any) -> Chart | None:
    counts = PairCounts(threshold)
    for piece in pieces:
        counts.add(piece)
    return next(counts.similarities("alike", None), None)


@pytest.mark.parametrize(
    ("threshold", "first"),
    [
        *((0.6, "0.60 to below 0.62"), (0.8, "0.80 to below 0.81"), (0.59, "0.500 to below 0.525")),
        *((0.1, "0.00 to below 0.05"), (1.0, "0.9900 to below 0.9905")),
    ],
)
def test_bins_of_similarity_are_round_and_begin_near_the_threshold(threshold: float, first: str) -> None:
    found = similarities(threshold, pairs([0.999], [0]))
    assert found
    assert (len(found.bars), found.bars[0].name, found.bars[-1].name.endswith("to below 1")) == (20, first, True)


def test_a_similarity_at_an_edge_is_in_the_bin_that_begins_there() -> None:
    found = similarities(0.6, pairs([0.6, 0.7, 0.7, 0.98, 1.0, 0.5], [0] * 6, [True, False, False, False, True, False]))
    assert found
    assert counted(found) == {"0.60 to below 0.62": 1, "0.70 to below 0.72": 2, "0.98 to below 1": 1}
    for said in ("6 pairs, 2 measured on their texts", "1 at exactly 1 are not drawn", "1 below 0.6 are not drawn"):
        assert said in found.said


def test_where_texts_part_is_said_if_it_is_known() -> None:
    counts = PairCounts(0.6)
    counts.add(pairs([0.7], [1]))
    [known], [unknown] = (list(counts.similarities("alike", valley)) for valley in (0.34, None))
    assert "Near-duplicates have alike. Few pairs are about 0.34 similar" in known.said
    assert "part" not in unknown.said


@given(st.lists(st.lists(st.floats(min_value=0, max_value=0.999)), min_size=1))
def test_pairs_that_come_in_pieces_are_all_counted(pieces: list[list[float]]) -> None:
    found = similarities(0.0, *(pairs(piece, [3] * len(piece)) for piece in pieces))
    every = [each for piece in pieces for each in piece]
    assert bool(found) == bool(every)
    if found:
        assert list(counted(found).values()) == [
            count for count in np.histogram(every, np.linspace(0, 1, 21).round(2))[0].tolist() if count
        ]


@given(st.lists(st.integers(min_value=0, max_value=128), min_size=1))
def test_many_distances_share_bars(distances: list[int]) -> None:
    counts = PairCounts(0.6)
    counts.add(pairs([0.7] * len(distances), distances))
    [chart] = counts.distances(128)
    assert len(chart.bars) <= 45
    for bar in chart.bars:
        least, _, most = bar.name.partition("–")
        assert bar.count == sum(int(least) <= distance <= int(most or least) for distance in distances)
    assert sum(bar.count for bar in chart.bars) == len(distances)


def test_only_known_measures_of_pairs_are_counted() -> None:
    assert similarities(None, np.zeros(2, dtype=pair_type(Criteria(3, None)))) is None
    counts = PairCounts(0.6)
    counts.add(np.ones(2, dtype=pair_type(Criteria(None, 0.6))))
    assert list(counts.distances(64)) == []


# ---- dates


def timeline(*values: Any) -> Chart:
    [found] = dates(values, "published")
    return found


@pytest.mark.parametrize(
    "value",
    [
        *("2024-02-29T23:59:59Z", "2024-02-29T23:59:59.999Z", "2024-03-01T01:00:00+02:00", "2024-02-29"),
        *("2024-02-29T12:00:00", 1709164800000, 1709164800000.0, "1709251199999"),
    ],
)
def test_a_day_is_read_in_utc_from_every_form_of_a_date(value: str | float) -> None:
    assert timeline(value).bars == (Bar("2024-02-29", 1),)


NO_DATES: list[Any] = [None, "", "soon", "9" * 400, "²" * 9, True, {}, ["2024-02-29"], float("nan"), 1e30, -1e18]


@pytest.mark.parametrize("value", NO_DATES)
def test_an_invalid_date_counts_as_none(value: Any) -> None:
    found = timeline(value)
    assert (found.bars, found.said) == ((), "1 duplicate without a valid date.")


def test_without_any_duplicates_there_is_not_a_timeline() -> None:
    assert list(dates([], "published")) == []


@pytest.mark.parametrize(
    ("last", "unit", "bars"),
    [
        *(("2024-01-31", "day", 1), ("2024-03-30", "day", 60), ("2024-03-31", "month", 3)),
        *(("2028-12-01", "month", 60), ("2029-01-01", "year", 6), ("2083-01-01", "year", 60)),
    ],
)
def test_the_span_decides_whether_days_months_or_years_are_shown(last: str, unit: str, bars: int) -> None:
    found = timeline("2024-01-31", last)
    assert (found.heads[0], len(found.bars), sum(bar.count for bar in found.bars)) == (unit, bars, 2)
    assert f"a bar for each {unit} in UTC" in found.said


@given(st.lists(st.integers(min_value=-200_000, max_value=200_000), min_size=1))
def test_every_duplicate_is_counted_once_and_periods_follow_one_another(days: list[int]) -> None:
    found = timeline(*(86_400_000 * day for day in days), None)
    assert 0 < len(found.bars) <= 60
    drawn = sum(bar.count for bar in found.bars)
    outside = Counter(word.replace(",", "") for word in found.said.split() if word[0].isdigit())
    assert drawn == len(days) or sum(int(number) * times for number, times in outside.items()) == len(days) - drawn + 1
    names = [bar.name for bar in found.bars]
    assert names == sorted(set(names))
    assert found.bars[0].count
    assert found.bars[-1].count


def test_years_that_stand_for_unknown_dates_do_not_stretch_the_timeline() -> None:
    found = timeline(*["0001-01-01"] * 3, *["2024-01-01", "2024-01-03"] * 5, "9999-12-31")
    assert counted(found) == {"2024-01-01": 5, "2024-01-03": 5}
    assert "3 earlier and 1 later than the chart." in found.said
