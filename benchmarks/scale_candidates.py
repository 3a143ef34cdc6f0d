"""Candidates by the number of documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.log_plot import Axis, Curve, Level, LogPlot, Points
from benchmarks.scale_model import MINHASH, SIMHASH, SIZES, by_bits
from benchmarks.scale_simulation import BLOCKS
from benchmarks.svg import shown
from benchmarks.tables import Table, number
from es_simhash.sketches.keys import by_chance

# The ends of the vertical axis.
_CANDIDATES = (1e-2, 1e7)
_TITLE = "Candidates of a query by the number of documents"
PICTURE = shown("scale", f"{_TITLE}, both on logarithmic scales")


def curves(simulated: Mapping[str, Table]) -> list[Curve]:
    """Draw the curves of the picture."""

    def blocks(distance: int) -> Curve:
        rows = [[number(cell) for cell in row[:4]] for row in simulated[BLOCKS].rows]
        drawn = [(row[1], row[3]) for row in rows if row[0] == distance and row[3] >= _CANDIDATES[0]]
        return growing(f"SimHash, {SIMHASH.blocks} blocks, within {distance} bits", by_bits(distance), drawn)

    def bands(least: int) -> Curve:
        return growing(f"MinHash, {least} of {MINHASH.bands} bands", by_chance(MINHASH.layout, least))

    return [blocks(5), bands(MINHASH.shared), bands(MINHASH.shared + 1), blocks(3)]


def growing(label: str, rate: float, simulated: Points = ()) -> Curve:
    """Draw ``rate`` candidates per document: a line, and discs where simulated."""
    first, last = max(SIZES[0], _CANDIDATES[0] / rate), SIZES[-1]
    return Curve(label, [(first, first * rate), (last, last * rate)], simulated)


def picture(curves: Sequence[Curve], limit: float, theme: str) -> str:
    """Draw the picture as SVG, with a line at ``limit``, where searches ask for one more band."""
    return LogPlot(
        _TITLE,
        Axis("documents", (SIZES[0], SIZES[-1])),
        Axis("candidates of a query by chance", _CANDIDATES),
        curves,
        Level(limit, "searches by MinHash ask for one more band"),
    ).svg(theme)
