"""Candidates by the number of documents, and the keys that keep them few."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from benchmarks.log_plot import Axis, Curve, Level, LogPlot, Points
from benchmarks.scale_model import DEFAULT, SIZES
from benchmarks.scale_numbers import MOST, SIMHASH, Numbers, by_bits, noted, text
from benchmarks.scale_simulation import BANDS, BLOCKS, in_words
from benchmarks.scale_words import rounded
from benchmarks.svg import shown
from es_simhash.sketches.key_plans import UNLIKE, Goal, false_share, plan_keys

# The ends of the vertical axis.
_CANDIDATES = (1e-2, 1e7)

# ---- candidates


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
    default, largest = DEFAULT.layout, numbers.largest
    found = (measured.found_documents, measured.found_candidates - 2)
    line = partial(growing, sizes=(SIZES[0], SIZES[-1]))
    return [
        line("SimHash, 6 blocks, within 5 bits", by_bits(5), simulated=simulated(5)),
        line(f"MinHash, {default.count} × {default.rows}, texts", numbers.false_share(default), measured=[found]),
        line(
            f"MinHash, {largest.count} × {largest.rows}, {largest.key_bits} bits, texts", numbers.false_share(largest)
        ),
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


# ---- layouts


def layouts(numbers: Numbers) -> str:
    """Write about the keys that have few enough candidates."""
    by_bands = noted(
        "Bands",
        [
            "pairs of",
            "documents",
            "keys",
            "bytes a document",
            "false candidates",
        ],
        f"The keys that `init --documents` chooses find {Goal(1).recall:.0%} of the pairs with at most {MOST:,} false "
        "candidates, for texts like those of the benchmarks.",
    )
    for similarity in (0.6, 0.8):
        for documents in SIZES[2:]:
            by_bands.add(f"{similarity}", f"{documents:,}", *_smallest(numbers, similarity, documents))
    return text(
        by_bands,
        """
If an index has texts, `init --documents` goes by these, and [`tune`](tune.md) counts their candidates.
""",
    )


def _smallest(numbers: Numbers, similarity: float, documents: int) -> Sequence[str]:
    bands = plan_keys(similarity, Goal(documents))
    assert bands
    return (
        in_words(bands),
        f"{numbers.key_bytes(bands):,.0f}",
        rounded(documents * numbers.false_share(bands)),
    )
