"""Duplicates over time: dates counted by day, month or year for a readable number of columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Literal, TypeAlias

from es_simhash._core.dates import timestamp

Unit: TypeAlias = Literal["day", "month", "year"]

_UNITS: tuple[Unit, ...] = ("day", "month", "year")
_MOST_COLUMNS = 92
_EPOCH = date(1970, 1, 1)
_SECONDS_A_DAY = 86_400


@dataclass(frozen=True)
class Period:
    """A day, month or year, given by its first day, and the number of ``duplicates`` in it."""

    start: date
    duplicates: int


@dataclass(frozen=True)
class Timeline:
    """Duplicates by consecutive periods, in UTC.

    Placeholder dates, such as the year 1 or 9999, would make it very long; so if there are too many years, those with
    the most duplicates are shown, and the others are ``earlier`` or ``later``. ``undated`` ones have no valid date.
    """

    unit: Unit
    periods: tuple[Period, ...]
    earlier: int
    later: int
    undated: int


class Dates:
    """Counts dates as engines write them: ISO 8601, or milliseconds since 1970."""

    def __init__(self) -> None:
        self._days: Counter[date] = Counter()
        self._undated = 0

    def add(self, values: Iterable[Any]) -> None:
        """Count the dates of some duplicates; an invalid date counts as none."""
        for value in values:
            day = _day(value)
            if day is None:
                self._undated += 1
            else:
                self._days[day] += 1

    def timeline(self) -> Timeline | None:
        """Return the timeline; None if there were no duplicates."""
        if not self._days:
            return Timeline("day", (), 0, 0, self._undated) if self._undated else None
        days = sorted(self._days)
        first, last = self._shown(days)
        unit = next(unit for unit in _UNITS if _count(unit, first, last) <= _MOST_COLUMNS)
        counts: Counter[date] = Counter()
        for day in days:
            if first <= day <= last:
                counts[_start(unit, day)] += self._days[day]
        return Timeline(
            unit,
            tuple(Period(start, counts[start]) for start in _starts(unit, first, last)),
            sum(self._days[day] for day in days if day < first),
            sum(self._days[day] for day in days if day > last),
            self._undated,
        )

    def _shown(self, days: list[date]) -> tuple[date, date]:
        """Return the first and the last day, or those of the years with the most duplicates."""
        if _count("year", days[0], days[-1]) <= _MOST_COLUMNS:
            return days[0], days[-1]
        years: Counter[int] = Counter()
        for day, count in self._days.items():
            years[day.year] += count
        first = max(sorted(years), key=lambda year: sum(years[year + later] for later in range(_MOST_COLUMNS)))
        shown = [day for day in days if first <= day.year < first + _MOST_COLUMNS]
        return shown[0], shown[-1]


def _day(value: Any) -> date | None:
    try:
        seconds = timestamp(value)
        return None if seconds is None else _EPOCH + timedelta(days=seconds // _SECONDS_A_DAY)
    except (OverflowError, ValueError):
        return None


def _start(unit: Unit, day: date) -> date:
    """Return the first day of a day's period."""
    if unit == "day":
        return day
    return day.replace(day=1) if unit == "month" else day.replace(month=1, day=1)


def _count(unit: Unit, first: date, last: date) -> int:
    """Count the periods from one day to another."""
    if unit == "day":
        return (last - first).days + 1
    years = last.year - first.year
    return (years if unit == "year" else 12 * years + last.month - first.month) + 1


def _starts(unit: Unit, first: date, last: date) -> Iterator[date]:
    for number in range(_count(unit, first, last)):
        if unit == "day":
            yield first + timedelta(days=number)
        elif unit == "month":
            months = first.month - 1 + number
            yield date(first.year + months // 12, months % 12 + 1, 1)
        else:
            yield date(first.year + number, 1, 1)
