"""Curves on two logarithmic scales, as a picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, log10

from benchmarks.svg import HUES, THEMES, document, line, text

Points = Sequence[tuple[float, float]]

# The frame lies between these, with the labels of the curves on its right.
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 638, 24, 408
_HEIGHT, _LEAST_WIDTH, _LETTER = 460, 900, 7
# The least distance between the labels of two curves.
_APART = 18


@dataclass(frozen=True)
class Axis:
    """The unit along an edge, and its ends."""

    title: str
    ends: tuple[float, float]

    @classmethod
    def around(cls, title: str, values: Iterable[float]) -> Axis:
        """Make an axis between powers of ten that enclose these values."""
        logarithms = [log10(value) for value in values]
        low = floor(min(logarithms))
        return cls(title, (10.0**low, 10.0 ** max(ceil(max(logarithms)), low + 1)))

    def share(self, value: float) -> float:
        """Return the position of a value on the axis, from 0 to 1."""
        low, high = map(log10, self.ends)
        return (log10(value) - low) / (high - low)

    def ticks(self) -> Iterator[tuple[float, str]]:
        """Return its powers of ten, and their double and fivefold if these are few, with labels."""
        low, high = (round(log10(end)) for end in self.ends)
        for power in range(low, high + 1):
            for factor in (1, 2, 5) if high - low < 3 else (1,):
                if factor == 1 or power < high:
                    yield factor * 10.0**power, f"{factor * 10.0**power:,.{max(-power, 0)}f}"


@dataclass(frozen=True)
class Curve:
    """A line through points, with discs at some, and the label at its end."""

    label: str
    line: Points
    discs: Points = ()


@dataclass(frozen=True)
class Level:
    """A value with a line across the picture."""

    value: float
    label: str


@dataclass(frozen=True)
class LogPlot:
    """Curves in a frame."""

    title: str
    across: Axis
    up: Axis
    curves: Sequence[Curve]
    level: Level | None = None

    def svg(self, theme: str) -> str:
        """Draw the picture."""
        colours = THEMES[theme]
        parts = [*self._grid(colours), *self._level(colours), *self._curves(HUES[theme], colours)]
        width = max(_LEAST_WIDTH, _RIGHT + 10 + _LETTER * max(len(curve.label) for curve in self.curves))
        return document(self.title, width, _HEIGHT, parts, theme)

    def _place(self, point: tuple[float, float]) -> tuple[float, float]:
        across, up = point
        return (
            _LEFT + (_RIGHT - _LEFT) * self.across.share(across),
            _TOP + (_BOTTOM - _TOP) * (1 - self.up.share(up)),
        )

    def _grid(self, colours: dict[str, str]) -> Iterator[str]:
        for value, words in self.up.ticks():
            _, y = self._place((self.across.ends[0], value))
            yield line((_LEFT, y), (_RIGHT, y), colours["line"])
            yield text(words, (_LEFT - 8, y + 4), colours["faint"], "end")
        for value, words in self.across.ticks():
            x, _ = self._place((value, self.up.ends[0]))
            yield line((x, _TOP), (x, _BOTTOM), colours["line"])
            yield text(words, (x, _BOTTOM + 18), colours["faint"], "middle")
        middle = (_LEFT + _RIGHT) / 2
        yield text(self.across.title, (middle, _HEIGHT - 12), colours["text"], "middle")
        yield text(self.up.title, (_LEFT, _TOP - 9), colours["text"])

    def _level(self, colours: dict[str, str]) -> Iterator[str]:
        if self.level:
            _, y = self._place((self.across.ends[0], self.level.value))
            yield line((_LEFT, y), (_RIGHT, y), colours["faint"], ' stroke-dasharray="5 4"')
            yield text(self.level.label, (_LEFT + 6, y - 6), colours["faint"])

    def _curves(self, hues: Sequence[str], colours: dict[str, str]) -> Iterator[str]:
        labels = self._labels()
        for curve, hue in zip(self.curves, hues[: len(self.curves)], strict=True):
            places = [self._place(point) for point in curve.line]
            for start, end in pairwise(places):
                yield line(start, end, hue, ' stroke-width="2.5"')
            for x, y in map(self._place, curve.discs):
                yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{hue}" stroke="{hue}" stroke-width="2"/>'
            yield text(curve.label, (_RIGHT + 10, labels[curve.label] + 4), hue)

    def _labels(self) -> dict[str, float]:
        """Return the height of each label: at its curve's end, or one line below the label above."""
        ends = {curve.label: self._place(curve.line[-1])[1] for curve in self.curves}
        places: dict[str, float] = {}
        lowest = -float("inf")
        for label in sorted(ends, key=ends.__getitem__):
            lowest = places[label] = max(ends[label], lowest + _APART)
        return places
