"""The picture of candidates by the number of documents, both on logarithmic scales."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.log_plot import Axis, Curve, Level, LogPlot, Points

_CANDIDATES = (1e-2, 1e7)


def growing(
    label: str, rate: float, sizes: tuple[float, float], simulated: Points = (), measured: Points = ()
) -> Curve:
    """Draw ``rate`` candidates per document: a line, discs where simulated, rings where measured."""
    first, last = sizes
    start = max(first, _CANDIDATES[0] / rate)
    return Curve(label, [(start, start * rate), (last, last * rate)], simulated, measured)


def picture(curves: Sequence[Curve], limit: float, sizes: tuple[float, float], theme: str) -> str:
    """Draw the picture as SVG, with a line at ``limit``, where searches stop."""
    return LogPlot(
        "Candidates of a query by the number of documents",
        Axis("documents", sizes),
        Axis("candidates of a query that are not duplicates", _CANDIDATES),
        curves,
        Level(limit, "`find` stops here by default"),
    ).svg(theme)
