"""Candidates by the number of documents."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from benchmarks.log_plot import Axis, Curve, Level, LogPlot, Points
from benchmarks.scale_model import DEFAULT, SIZES
from benchmarks.scale_numbers import SIMHASH, Numbers, by_bits, text
from benchmarks.scale_simulation import BANDS, BLOCKS
from benchmarks.svg import shown
from es_simhash.sketches.key_plans import UNLIKE, false_share

# The ends of the vertical axis.
_CANDIDATES = (1e-2, 1e7)


def curves(numbers: Numbers) -> list[Curve]:
    """Draw the curves of the picture."""
    measured = numbers.measured
    blocks = numbers.simulated[BLOCKS].rows
    name = f"{SIMHASH.blocks} blocks, within {{}} bits"

    def simulated(distance: int) -> list[tuple[float, float]]:
        own = [row for row in blocks if row[0] == name.format(distance)]
        points = [(_value(row[1]), _value(row[3])) for row in own]
        return [point for point in points if point[1] >= 0.01]

    random = [(_value(row[0]), _value(row[2])) for row in numbers.simulated[BANDS].rows]
    default = DEFAULT.layout
    found = (measured.found_documents, measured.found_candidates - 2)
    line = partial(growing, sizes=(SIZES[0], SIZES[-1]))
    return [
        line("SimHash, 6 blocks, within 5 bits", by_bits(5), simulated=simulated(5)),
        line(f"MinHash, {default.count} × {default.rows}, texts", numbers.false_share(default), measured=[found]),
        line(
            f"MinHash, {default.count} × {default.rows}, by chance",
            false_share(default, UNLIKE),
            simulated=[point for point in random if point[1] >= 0.01],
        ),
        line("SimHash, 6 blocks, within 3 bits", by_bits(3), simulated=simulated(3)),
    ]


def _value(text: str) -> float:
    return float(text.replace(",", ""))


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


_PICTURE = f"""
{shown("scale", "Candidates of a query by the number of documents, both on logarithmic scales")}

Lines are computed, discs simulated, rings measured. Texts with nothing in common agree by chance, others by their
[similarity](explanation/keys.md#bands-of-minhash): the lines for texts are means over pairs of the benchmarks' texts,
mostly with a Jaccard similarity of .03. Shards change nothing.
"""


def candidates(_: Numbers) -> str:
    """Write about the number of candidates."""
    return text(_PICTURE)
