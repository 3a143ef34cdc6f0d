"""Candidates by the size of the corpus as a picture, both on logarithmic scales."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.log_plot import Axis, Curve, Level, LogPlot, Points

_CANDIDATES = (1e-2, 1e7)


def growing(
    label: str, rate: float, sizes: tuple[float, float], simulated: Points = (), measured: Points = ()
) -> Curve:
    """What grows by ``rate`` candidates a document: a line, discs that were simulated, rings that were measured."""
    first, last = sizes
    start = max(first, _CANDIDATES[0] / rate)
    return Curve(label, [(start, start * rate), (last, last * rate)], simulated, measured)


def picture(curves: Sequence[Curve], limit: float, sizes: tuple[float, float], theme: str) -> str:
    """The picture as SVG; ``limit`` is the number of candidates of which a line tells that searches stop there."""
    return LogPlot(
        "Candidates of a query by the number of documents",
        Axis("documents", sizes),
        Axis("candidates of a query that are no duplicates", _CANDIDATES),
        curves,
        Level(limit, "no more are fetched, unless told to"),
    ).svg(theme)
