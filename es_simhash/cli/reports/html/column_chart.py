"""Column charts as SVG without scripts, each with its numbers in a table below.

Horizontal positions are percentages, vertical ones pixels: so a chart fills any page, and its letters keep their size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log10

from es_simhash._core.html import Html, element, table

_HEIGHT = 150
_ABOVE = 10
_BELOW = 24
_LEAST = 2.0
_MOST_LINES = 4
# Fewer columns do not fill the width.
_LEAST_COLUMNS = 8

# Approximate widths of a character, the space between labels, and a chart on phones and elsewhere, in pixels.
_CHARACTER = 6.6
_BETWEEN = 14
_WIDTHS = {"narrow": 300, "wide": 900}


@dataclass(frozen=True)
class Column:
    """A column: its ``label``, its ``count``, and more cells for its row in the table."""

    label: str
    count: int
    cells: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tick:
    """A label below the columns, at a place from 0 (left) to 1."""

    place: float
    label: str


def between(labels: Sequence[str]) -> list[Tick]:
    """Return ticks at the edges of columns; there is one more label than columns."""
    return [Tick(number / _places(len(labels) - 1), label) for number, label in enumerate(labels)]


def below(labels: Sequence[str]) -> list[Tick]:
    """Return ticks below the middles of columns."""
    return [Tick((number + 0.5) / _places(len(labels)), label) for number, label in enumerate(labels)]


def chart(heads: Sequence[str], columns: Sequence[Column], ticks: Sequence[Tick]) -> Html:
    """Draw a chart of columns; ``heads`` title their labels, counts and further cells."""
    top, lines = _scale(max(column.count for column in columns))
    highest = max(columns, key=lambda column: column.count)
    description = (
        f"{heads[1]} by {heads[0]}, {len(columns)} columns, the highest at {highest.label}: {highest.count:,}. "
        "The numbers are in the table below."
    )
    drawn = element(
        "svg",
        [_line(count, top) for count in lines],
        [_column(number, _places(len(columns)), column, top, heads[1]) for number, column in enumerate(columns)],
        labels_below(ticks, _ABOVE + _HEIGHT),
        role="img",
        aria_label=description,
        width="100%",
        height=str(_ABOVE + _HEIGHT + _BELOW),
    )
    rows = [[column.label, f"{column.count:,}", *column.cells] for column in columns]
    numbers = element("details", element("summary", "The numbers"), table(heads, rows))
    gutter = f"--gutter: {max(len(f'{count:,}') for count in lines)}"
    return element("figure", element("div", drawn, class_="plot", style=gutter), numbers, class_="chart")


def _places(columns: int) -> int:
    """Return the number of columns that the width is divided into."""
    return max(columns, _LEAST_COLUMNS)


def _scale(most: int) -> tuple[int, list[int]]:
    """Return the count at the top of a chart, and the round numbers with a line."""
    power = 10 ** int(log10(max(most / _MOST_LINES, 1)))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power * _MOST_LINES >= most)
    lines = list(range(0, step * ceil(max(most, 1) / step) + 1, step))
    return lines[-1], lines


def _height(count: int, top: int) -> float:
    return max(_HEIGHT * count / top, _LEAST) if count else 0.0


def _line(count: int, top: int) -> Html:
    y = f"{_ABOVE + _HEIGHT * (1 - count / top):.1f}"
    label = element("text", f"{count:,}", x="-8", y=y, dy="0.32em", text_anchor="end")
    return element("g", element("line", x1="0", x2="100%", y1=y, y2=y), label, class_="line")


def _column(number: int, places: int, column: Column, top: int, what: str) -> Html:
    """Draw a column, with a tooltip above and on it."""
    width, height = 100 / places, _height(column.count, top)
    place = {"x": f"{width * (number + 0.1):.3f}%", "width": f"{0.8 * width:.3f}%"}
    whole = element("rect", y=str(_ABOVE), height=str(_HEIGHT), class_="whole", **place)
    bar = element("rect", y=f"{_ABOVE + _HEIGHT - height:.1f}", height=f"{height:.1f}", class_="column", **place)
    return element("g", element("title", f"{column.label}: {column.count:,} {what}"), whole, bar)


def labels_below(ticks: Sequence[Tick], bottom: int) -> list[Html]:
    """Draw the labels below a chart, as many as fit on a phone, and elsewhere."""
    return [
        element("g", [_tick(tick, bottom) for tick in _sparse(ticks, width)], class_=name)
        for name, width in _WIDTHS.items()
    ]


def _tick(tick: Tick, bottom: int) -> Html:
    return element("text", tick.label, x=f"{100 * tick.place:.2f}%", y=str(bottom + 17), text_anchor="middle")


def _sparse(ticks: Sequence[Tick], width: int) -> Sequence[Tick]:
    """Choose as many evenly spaced ticks as fit, with the last one if that drops only a few."""
    widest = max(len(tick.label) for tick in ticks) * _CHARACTER + _BETWEEN
    apart = ticks[1].place - ticks[0].place if len(ticks) > 1 else 1.0
    needed = ceil(widest / (apart * width))
    even = (every for every in range(needed, 2 * needed) if not (len(ticks) - 1) % every)
    return ticks[:: next(even, needed)]
