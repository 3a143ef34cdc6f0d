from __future__ import annotations

import random
from collections import Counter
from datetime import date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.cli.reports.groups.timeline import Dates, Timeline


def timeline(*values: Any) -> Timeline:
    dates = Dates()
    dates.add(values)
    found = dates.timeline()
    assert found is not None
    return found


@pytest.mark.parametrize(
    "value",
    [
        "2024-02-29T23:59:59Z",
        "2024-02-29T23:59:59.999Z",
        "2024-03-01T01:00:00+02:00",
        "2024-02-29",
        "2024-02-29T12:00:00",
        1709164800000,
        1709164800000.0,
        "1709251199999",
    ],
)
def test_a_day_is_read_in_utc_from_every_form_of_a_date(value: str | float) -> None:
    found = timeline(value)
    assert [(each.start, each.duplicates) for each in found.periods] == [(date(2024, 2, 29), 1)]
    assert found.undated == 0


NO_DATES: list[Any] = [
    None,
    "",
    "soon",
    "9" * 400,
    "²" * 9,
    True,
    {},
    ["2024-02-29"],
    float("nan"),
    float("inf"),
    1e30,
    -1e18,
]


@pytest.mark.parametrize("value", NO_DATES)
def test_an_invalid_date_counts_as_none(value: Any) -> None:
    assert timeline(value) == Timeline("day", (), 0, 0, 1)


def test_without_any_duplicates_there_is_no_timeline() -> None:
    assert Dates().timeline() is None


@pytest.mark.parametrize(
    ("last", "unit", "columns"),
    [
        ("2024-01-31", "day", 1),
        ("2024-05-01", "day", 92),
        ("2024-05-02", "month", 5),
        ("2031-08-01", "month", 92),
        ("2031-09-01", "year", 8),
        ("2115-01-01", "year", 92),
    ],
)
def test_the_span_decides_whether_days_months_or_years_are_shown(last: str, unit: str, columns: int) -> None:
    found = timeline("2024-01-31", last)
    assert (found.unit, len(found.periods)) == (unit, columns)
    assert sum(each.duplicates for each in found.periods) == 2


@given(st.lists(st.integers(min_value=-200_000, max_value=200_000), min_size=1))
def test_every_duplicate_is_counted_once_and_periods_follow_one_another(days: list[int]) -> None:
    values = [86_400_000 * day for day in days]
    found = timeline(*values, None)
    assert 0 < len(found.periods) <= 92
    assert sum(each.duplicates for each in found.periods) + found.earlier + found.later == len(days)
    assert found.undated == 1
    starts = [each.start for each in found.periods]
    assert starts == sorted(set(starts))
    assert found.periods[0].duplicates
    assert found.periods[-1].duplicates


def test_months_are_counted_as_by_the_calendar() -> None:
    rng = random.Random(1)
    moments = [datetime(2023, 1, 1, tzinfo=timezone.utc) + timedelta(hours=rng.randrange(24 * 900)) for _ in range(999)]
    found = timeline(*(each.isoformat() for each in moments))
    expected = Counter(date(each.year, each.month, 1) for each in moments)
    assert {each.start: each.duplicates for each in found.periods} == expected


def test_years_that_stand_for_unknown_dates_do_not_stretch_the_timeline() -> None:
    found = timeline(*["0001-01-01"] * 3, *["2024-01-01", "2024-01-03"] * 5, "9999-12-31")
    assert (found.unit, len(found.periods)) == ("day", 3)
    assert (found.earlier, found.later) == (3, 1)
