"""The charts about groups, described once: what each counts, its bins, and what is said of it.

The dashboard has the same bins for the sizes of groups, and as many periods; its server counts them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from es_simhash._core.dates import timestamp
from es_simhash._core.humanize import counted
from es_simhash.cli.show.groups import valley_sentence
from es_simhash.groups.pairs.compare import Pairs

# The most documents in a group of each bin but the last, and the most periods of time.
SIZES = (2, 3, 4, 5, 10, 20, 50, 100, 1000)
MOST_PERIODS = 60

# The characters of an ISO 8601 date that name a period.
_NAMED = {"day": 10, "month": 7, "year": 4}
_EPOCH = date(1970, 1, 1)
_SECONDS_A_DAY = 86_400
_BINS = 20
_WIDTHS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.025, 0.05)
_DIGITS = 4
_MOST_BITS = 128
_MOST_DISTANCES = 44


@dataclass(frozen=True)
class Bar:
    """A bar: what it counts, how many, and further cells of its row."""

    name: str
    count: int
    cells: tuple[str, ...] = ()


@dataclass(frozen=True)
class Chart:
    """A chart: its title, what is said of it, and ``bars``, with heads of their names, counts and further cells."""

    title: str
    said: str
    heads: tuple[str, ...]
    bars: tuple[Bar, ...]


def size_names() -> list[str]:
    """Return the names of the bins of sizes."""
    return [*(_range(least + 1, most) for least, most in zip((1, *SIZES), SIZES, strict=False)), f"over {SIZES[-1]:,}"]


def sizes(groups: Mapping[int, int]) -> Iterator[Chart]:
    """Yield the chart of the numbers of groups by their documents, up to the largest groups, if there are any."""
    if not groups:
        return
    found, documents = Counter[int](), Counter[int]()
    for size, count in groups.items():
        place = bisect_left(SIZES, size)
        found[place] += count
        documents[place] += count * size
    names = size_names()[: max(found) + 1]
    bars = tuple(Bar(name, found[place], (f"{documents[place]:,}",)) for place, name in enumerate(names))
    heads = ("documents in a group", "groups", "documents")
    yield Chart("Groups by size", "The number of groups by their documents.", heads, bars)


class PairCounts:
    """Counts pairs by similarity and by distance, if known; ``threshold`` is the minimum similarity."""

    def __init__(self, threshold: float | None) -> None:
        self._edges = _edges(threshold or 0.0)
        self._counts = np.zeros(_BINS, dtype=np.int64)
        self._below = self._equal = self._exact = 0
        self._distances = np.zeros(_MOST_BITS + 1, dtype=np.int64)

    def add(self, pairs: Pairs) -> None:
        """Count some pairs."""
        names = pairs.dtype.names or ()
        if "similarity" in names:
            found = pairs["similarity"]
            self._counts += np.histogram(found[found < 1], self._edges)[0]
            self._below += int((found < self._edges[0]).sum())
            self._equal += int((found >= 1).sum())
            self._exact += int(pairs["is_exact"].sum()) if "is_exact" in names else 0
        if "distance" in names:
            self._distances += np.bincount(pairs["distance"], minlength=len(self._distances))

    def similarities(self, near: str, valley: float | None) -> Iterator[Chart]:
        """Yield the chart if any pair has a similarity; its text has ``near`` and the ``valley``.

        Pairs of similarity 1 are too many for its scale, and those below all bins too few for its range.
        """
        drawn, edges = int(self._counts.sum()), self._edges.tolist()
        pairs = self._below + self._equal + drawn
        if not pairs:
            return
        said = [f"{counted(pairs, 'pair')}, {self._origin(pairs)}. Near-duplicates have {near}."]
        if self._equal:
            said.append(f"{self._equal:,} at exactly 1 are not drawn: their texts are equal in all that counts.")
        if self._below:
            said.append(f"{self._below:,} below {edges[0]:g} are not drawn: only their fingerprints are similar.")
        if valley is not None:
            said.append(valley_sentence(valley))
        digits = max(len(f"{edge:g}") for edge in edges[:-1]) - 2
        names = [*(f"{edge:.{digits}f}" for edge in edges[:-1]), "1"]
        counts = zip(pairwise(names), self._counts.tolist(), strict=True)
        bars = tuple(Bar(f"{least} to below {below}", count) for (least, below), count in counts)
        heads = ("similarity", "pairs")
        yield Chart("Similarity of pairs", " ".join(said), heads, bars if drawn else ())

    def distances(self, bits: int) -> Iterator[Chart]:
        """Yield the chart, up to the largest distance, if any pair has one, of SimHashes of this number of ``bits``."""
        if not self._distances.any():
            return
        last = int(np.flatnonzero(self._distances)[-1])
        width = last // _MOST_DISTANCES + 1
        bars = (
            Bar(_range(least, least + width - 1), int(self._distances[least : least + width].sum()))
            for least in range(0, last + 1, width)
        )
        said = f"The number of bits in which their fingerprints differ, of {bits}."
        yield Chart("Distance of pairs", said, ("bits that differ", "pairs"), tuple(bars))

    def _origin(self, pairs: int) -> str:
        """Describe how the similarities were computed."""
        if self._exact == pairs:
            return "measured on their texts"
        estimated = "estimated from their fingerprints"
        return f"{self._exact:,} measured on their texts, the others {estimated}" if self._exact else estimated


def dates(values: Iterable[Any], field: str) -> Iterator[Chart]:
    """Yield the chart of duplicates by days, months or years in UTC, as far as there are duplicates.

    Dates are as engines write them: ISO 8601, or milliseconds since 1970. Placeholders, such as the year 1 or 9999,
    would make the chart very long; so if there are too many years, those with the most duplicates are shown.
    """
    found = Counter(map(_day, values))
    undated = found.pop(None, 0)
    days = Counter({day: count for day, count in found.items() if day})
    said, unit, bars = list[str](), "day", tuple[Bar, ...]()
    if days:
        first, last = _shown(days)
        unit, names = next(each for each in _periods(first, last) if len(each[1]) <= MOST_PERIODS)
        counts: Counter[str] = Counter()
        for day, count in days.items():
            counts[_name(unit, day)] += count if first <= day <= last else 0
        bars = tuple(Bar(name, counts[name]) for name in names)
        said.append(f"By {field}, a bar for each {unit} in UTC.")
    if undated:
        said.append(f"{counted(undated, 'duplicate')} without a valid date.")
    if sum(bar.count for bar in bars) < days.total():
        earlier = sum(count for day, count in days.items() if day < first)
        later = sum(count for day, count in days.items() if day > last)
        said.append(f"{earlier:,} earlier and {later:,} later than the chart.")
    if said:
        yield Chart("Duplicates over time", " ".join(said), (unit, "duplicates"), bars)


def _shown(counts: Mapping[date, int]) -> tuple[date, date]:
    """Return the first and the last day, or those of the years with the most duplicates."""
    days = sorted(counts)
    if days[-1].year - days[0].year < MOST_PERIODS:
        return days[0], days[-1]
    years: Counter[int] = Counter()
    for day, count in counts.items():
        years[day.year] += count
    first = max(sorted(years), key=lambda year: sum(years[year + later] for later in range(MOST_PERIODS)))
    shown = [day for day in days if first <= day.year < first + MOST_PERIODS]
    return shown[0], shown[-1]


def _range(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,}–{most:,}"


def _edges(threshold: float) -> npt.NDArray[np.float64]:
    """Return the edges of the bins: round numbers from at or just below the threshold to 1."""
    width = next(width for width in _WIDTHS if round(1 - _BINS * width, _DIGITS) <= threshold or width == _WIDTHS[-1])
    return np.array([round(1 - width * (_BINS - place), _DIGITS) for place in range(_BINS + 1)])


def _day(value: Any) -> date | None:
    try:
        seconds = timestamp(value)
        return None if seconds is None else _EPOCH + timedelta(days=seconds // _SECONDS_A_DAY)
    except (OverflowError, ValueError):
        return None


def _periods(first: date, last: date) -> Iterator[tuple[str, list[str]]]:
    """Yield each unit with the names of all its periods from one day to another."""
    days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    for unit in _NAMED:
        yield unit, list(dict.fromkeys(_name(unit, day) for day in days))


def _name(unit: str, day: date) -> str:
    return day.isoformat()[: _NAMED[unit]]
