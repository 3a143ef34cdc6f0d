"""Line charts of scores by threshold: SVG without scripts that fills any page, with the numbers in a table below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from es_simhash._core.html import Html, element, table
from es_simhash.cli.reports.html.column_chart import Tick, labels_below
from es_simhash.quality.curve import Curve, Point

_ABOVE, _HEIGHT, _BELOW = 10, 220, 24
_LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)
# The size of the grid on which lines are drawn before they are stretched.
_UNITS = 1000
_LINES = {"precision": "precision", "recall": "recall", "f1": "F1"}
# Every tenth similarity threshold has a label, and a row in the table.
_EVERY = 10


def threshold_chart(curve: Curve, used: float | None, exact: Curve | None = None) -> Html:
    """Draw precision, recall and F1 by threshold, marking the ``used`` one, and the F1 of the ``exact`` Jaccard."""
    description = (
        f"Precision, recall and F1 by the threshold of {curve.axis}{_best(curve)}. The numbers are in the table below."
    )
    drawn = element(
        "svg",
        [_level(level) for level in _LEVELS],
        element("svg", _lines(curve, exact), **_frame()),
        [] if used is None else [_mark(_place(curve, used))],
        labels_below([Tick(_place(curve, point.threshold), _label(curve, point)) for point in _some(curve)], _bottom()),
        role="img",
        aria_label=description,
        width="100%",
        height=str(_bottom() + _BELOW),
    )
    numbers = element("details", element("summary", "The numbers"), _table(curve))
    plot = element("div", drawn, class_="plot", style="--gutter: 4")
    return element("figure", _legend(used is not None, exact is not None), plot, numbers, class_="chart")


def number(value: float | None) -> str:
    """Format a score."""
    return "–" if value is None else f"{value:.3f}"


def _bottom() -> int:
    return _ABOVE + _HEIGHT


def _best(curve: Curve) -> str:
    return f", the highest F1 being {number(curve.best.f1)} at {_label(curve, curve.best)}" if curve.best else ""


def _label(curve: Curve, point: Point) -> str:
    return f"{point.threshold:.0f}" if curve.axis == "distance" else f"{point.threshold:.2f}"


def _some(curve: Curve) -> Sequence[Point]:
    return curve.points if curve.axis == "distance" else curve.points[::_EVERY]


def _place(curve: Curve, threshold: float) -> float:
    """Return the position of a threshold, from 0 (left) to 1."""
    first, last = curve.points[0].threshold, curve.points[-1].threshold
    return (threshold - first) / (last - first) if last > first else 0.0


def _frame() -> dict[str, str]:
    """Return the attributes of the frame that lines are stretched to."""
    return {
        "y": str(_ABOVE),
        "width": "100%",
        "height": str(_HEIGHT),
        "viewBox": f"0 0 {_UNITS} {_UNITS}",
        "preserveAspectRatio": "none",
    }


def _lines(curve: Curve, exact: Curve | None) -> Iterator[Html]:
    if exact:
        yield _line(curve, exact, "f1", "exact")
    for name in _LINES:
        yield _line(curve, curve, name, name)


def _line(frame: Curve, curve: Curve, score: str, name: str) -> Html:
    first, last = frame.points[0].threshold, frame.points[-1].threshold
    shown = [
        (_place(frame, point.threshold), value)
        for point in curve.points
        if (value := getattr(point, score)) is not None and first <= point.threshold <= last
    ]
    points = " ".join(f"{_UNITS * x:.1f},{_UNITS * (1 - y):.1f}" for x, y in shown)
    return element("polyline", points=points, class_=f"curve {name}", vector_effect="non-scaling-stroke")


def _level(level: float) -> Html:
    y = f"{_ABOVE + _HEIGHT * (1 - level):.1f}"
    label = element("text", f"{level:g}", x="-8", y=y, dy="0.32em", text_anchor="end")
    return element("g", element("line", x1="0", x2="100%", y1=y, y2=y), label, class_="line")


def _mark(place: float) -> Html:
    x = f"{100 * place:.2f}%"
    return element("line", x1=x, x2=x, y1=str(_ABOVE), y2=str(_bottom()), class_="used")


def _legend(has_used: bool, has_exact: bool) -> Html:
    names = {**_LINES, **({"exact": "F1 of the exact Jaccard similarity"} if has_exact else {})}
    names |= {"used": "the threshold in use"} if has_used else {}
    return element("figcaption", [element("span", label, class_=f"key {name}") for name, label in names.items()])


def _table(curve: Curve) -> Html:
    rows = [
        [_label(curve, point), number(point.precision), number(point.recall), number(point.f1)]
        for point in _some(curve)
    ]
    return table([curve.axis, "precision", "recall", "F1"], rows)
