"""Candidates by the size of the corpus as a picture, both on logarithmic scales, for light pages and for dark ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import log10

THEMES = {
    "light": {"page": "#ffffff", "text": "#1a1c21", "faint": "#646a77", "line": "#e3e8f2"},
    "dark": {"page": "#141519", "text": "#dfe5ef", "faint": "#98a2b3", "line": "#343741"},
}
# Told apart by whoever sees few colours, on both grounds (Okabe and Ito, "Color universal design", 2008).
_COLOURS = ("#D55E00", "#E69F00", "#CC79A7", "#0072B2", "#009E73")
_DARK_COLOURS = ("#F08344", "#E69F00", "#DD9ABF", "#56B4E9", "#2FC79C")

_WIDTH, _HEIGHT = 900, 460
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 262, 24, 52
# The least distance between the labels of two lines.
_APART = 18


@dataclass(frozen=True)
class Curve:
    """What grows with the corpus: its label, its candidates a document, and points that were simulated or measured."""

    label: str
    rate: float
    simulated: Sequence[tuple[float, float]] = ()
    measured: Sequence[tuple[float, float]] = ()


@dataclass(frozen=True)
class Frame:
    """Where numbers lie on the picture."""

    sizes: tuple[float, float]
    candidates: tuple[float, float]

    def x(self, size: float) -> float:
        """The place of a number of documents."""
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * _share(size, self.sizes)

    def y(self, candidates: float) -> float:
        """The place of a number of candidates."""
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - _share(candidates, self.candidates))


def _share(value: float, ends: tuple[float, float]) -> float:
    low, high = map(log10, ends)
    return (log10(value) - low) / (high - low)


def picture(curves: Sequence[Curve], limit: float, sizes: tuple[float, float], theme: str) -> str:
    """The picture as SVG; ``limit`` is the number of candidates of which a line tells that searches stop there."""
    frame, colours = Frame(sizes, (1e-2, 1e7)), THEMES[theme]
    hues = _DARK_COLOURS if theme == "dark" else _COLOURS
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" '
        f'height="{_HEIGHT}" font-family="sans-serif" font-size="13" role="img">',
        "<title>Candidates of a query by the number of documents</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="{colours["page"]}"/>',
        *_grid(frame, colours),
        *_limit(frame, limit, colours),
        *_curves(frame, curves, hues, colours),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _grid(frame: Frame, colours: dict[str, str]) -> Iterator[str]:
    for power in range(-2, 8):
        y = frame.y(10.0**power)
        yield _line((_LEFT, y), (_WIDTH - _RIGHT, y), colours["line"])
        yield _text(f"{10.0**power:,.{max(-power, 0)}f}", (_LEFT - 8, y + 4), colours["faint"], "end")
    for power in range(5, 10):
        x = frame.x(10.0**power)
        yield _line((x, _TOP), (x, _HEIGHT - _BOTTOM), colours["line"])
        yield _text(f"{10**power:,}", (x, _HEIGHT - _BOTTOM + 18), colours["faint"], "middle")
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    yield _text("documents", (middle, _HEIGHT - 12), colours["text"], "middle")
    yield _text("candidates of a query that are no duplicates", (_LEFT, _TOP - 9), colours["text"], "start")


def _limit(frame: Frame, limit: float, colours: dict[str, str]) -> Iterator[str]:
    y = frame.y(limit)
    yield _line((_LEFT, y), (_WIDTH - _RIGHT, y), colours["faint"], ' stroke-dasharray="5 4"')
    yield _text("no more are fetched, unless told to", (_LEFT + 6, y - 6), colours["faint"], "start")


def _curves(frame: Frame, curves: Sequence[Curve], hues: Sequence[str], colours: dict[str, str]) -> Iterator[str]:
    labels = _labels(frame, curves)
    for curve, hue in zip(curves, hues, strict=True):
        first, last = frame.sizes
        start, end = ((frame.x(size), frame.y(size * curve.rate)) for size in (max(first, 1e-2 / curve.rate), last))
        yield _line(start, end, hue, ' stroke-width="2.5"')
        yield from _points(frame, curve, hue, colours["page"])
        yield _text(curve.label, (_WIDTH - _RIGHT + 10, labels[curve.label] + 4), hue, "start")


def _points(frame: Frame, curve: Curve, hue: str, page: str) -> Iterator[str]:
    """Discs are simulated, rings measured."""
    for points, fill in ((curve.simulated, hue), (curve.measured, page)):
        for size, candidates in points:
            x, y = frame.x(size), frame.y(candidates)
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{fill}" stroke="{hue}" stroke-width="2"/>'


def _labels(frame: Frame, curves: Sequence[Curve]) -> dict[str, float]:
    """The height of each label: that of its line's end, or as far below the label above as letters need."""
    height: Callable[[Curve], float] = lambda curve: frame.y(frame.sizes[1] * curve.rate)  # noqa: E731
    places: dict[str, float] = {}
    lowest = -float("inf")
    for curve in sorted(curves, key=height):
        lowest = places[curve.label] = max(height(curve), lowest + _APART)
    return places


def _line(start: tuple[float, float], end: tuple[float, float], colour: str, more: str = "") -> str:
    (x1, y1), (x2, y2) = start, end
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"{more}/>'


def _text(text: str, place: tuple[float, float], colour: str, anchor: str) -> str:
    x, y = place
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}">{escape(text)}</text>'
