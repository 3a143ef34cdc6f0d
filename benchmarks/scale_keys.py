"""Candidates by the size of the corpus, and the keys that it wants."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from benchmarks import scale_model as model
from benchmarks.log_plot import Curve
from benchmarks.scale_model import DEFAULT, SIZES, UNLIKE
from benchmarks.scale_numbers import MOST, MOST_BY_BITS, SIMHASH, Numbers, by_bits, noted, text
from benchmarks.scale_picture import growing
from benchmarks.scale_simulation import BANDS, BLOCKS, IN_VAIN, in_words
from benchmarks.scale_words import rounded
from benchmarks.svg import shown
from benchmarks.tables import Table
from es_simhash.sketches.bands import Bands

_DISTANCES = ((64, 3), (64, 5), (64, 8), (128, 12))

# ---- candidates


def curves(numbers: Numbers) -> list[Curve]:
    """What the picture shows."""
    measured = numbers.measured
    blocks = numbers.simulated[BLOCKS].rows
    name = f"{SIMHASH.blocks} blocks, within {{}} bits"

    def simulated(distance: int) -> list[tuple[float, float]]:
        own = [row for row in blocks if row[0] == name.format(distance)]
        points = [(_value(row[1]), _value(row[3])) for row in own]
        return [point for point in points if point[1] >= 0.01]

    random = [(_value(row[0]), _value(row[2])) for row in numbers.simulated[BANDS].rows]
    default, largest = DEFAULT.layout, numbers.largest
    found = (
        (measured.found_documents, measured.found_bits - 2),
        (measured.found_documents, measured.found_candidates - 2),
    )
    line = partial(growing, sizes=(SIZES[0], SIZES[-1]))
    return [
        line("SimHash, 6 blocks, within 5 bits", by_bits(5), simulated=simulated(5), measured=found[:1]),
        line(f"MinHash, {default.count} × {default.rows}, texts", numbers.in_vain(default), measured=found[1:]),
        line(f"MinHash, {largest.count} × {largest.rows}, {largest.key_bits} bits, texts", numbers.in_vain(largest)),
        line(
            f"MinHash, {default.count} × {default.rows}, by chance",
            model.in_vain(default, UNLIKE),
            simulated=[point for point in random if point[1] >= 0.01],
        ),
        line("SimHash, 6 blocks, within 3 bits", by_bits(3), simulated=simulated(3)),
    ]


def _value(text: str) -> float:
    return float(text.replace(",", ""))


_PICTURE = f"""
{shown("scale", "Candidates of a query by the number of documents, both on logarithmic scales")}

Lines are computed, discs simulated, rings measured. All grow with the number of documents, however many shards there
are: each has its share of the candidates.
"""


def candidates(numbers: Numbers) -> str:
    """How many candidates there are, computed, simulated and measured."""
    default = DEFAULT.layout
    rates = {
        "SimHash within 3 bits, 6 blocks": by_bits(3),
        "SimHash within 5 bits, 6 blocks": by_bits(5),
        "SimHash within 5 bits, 8 blocks (preset `short`)": by_bits(5, 8),
        "MinHash, default bands, documents that have nothing in common": model.in_vain(default, UNLIKE),
        "MinHash, default bands, texts": numbers.in_vain(default),
        f"MinHash, {in_words(numbers.largest)}, texts": numbers.in_vain(numbers.largest),
    }
    table = noted(
        "How many documents have so many candidates in vain",
        ["search", "100 candidates", "1,000", "10,000"],
        "Computed, in documents.",
    )
    for search, rate in rates.items():
        table.add(search, *(documents_for(most, rate) for most in (100, 1_000, 10_000)))
    return text(
        _PICTURE,
        table,
        """
Blocks and keys of documents that have nothing in common are random bits: the arithmetic is that of
`sketches.tradeoffs`. Texts have phrases in common. Two documents of Jaccard similarity j have the same value in a
row of the signature with the probability j, and otherwise the same v bits of it with 2⁻ᵛ; so b bands of r rows let
them meet with 1 − (1 − (j + (1 − j) 2⁻ᵛ)ʳ)ᵇ. The line is the mean of that over the pairs of a sample of the
benchmarks' texts, of which most have j = .03. Their SimHashes are somewhat alike as well, which the arithmetic leaves
out.
""",
        _in_vain_beside_measured(numbers),
        """
Simulated are the signatures of a sample of these texts. A scheme has one hash function, and is lucky or not: where
the least hash in some rows is that of a common word, many texts agree there. [Other hash
functions](#candidates-in-vain-by-bands) have from a fifth to four times as many candidates as the arithmetic tells,
and in the mean about as many.
""",
    )


def _in_vain_beside_measured(numbers: Numbers) -> Table:
    measured = numbers.measured
    found = {24: measured.candidates_of_24_bits, 30: measured.layout_candidates, 36: measured.candidates_of_36_bits}
    table = noted(
        "Computed, simulated and measured",
        ["layout", "computed", "simulated", f"measured, {measured.layout_documents:,.0f} documents"],
        "Candidates in vain of a query, for each million documents, by MinHash with keys of several lengths.",
    )
    simulated = {row[0]: row for row in numbers.simulated[IN_VAIN].rows}
    for bits, candidates in found.items():
        layout = in_words(Bands(DEFAULT.bands, DEFAULT.rows, bits))
        _, computed, *_, first = simulated[layout]
        # The query itself is a candidate too.
        table.add(layout, computed, first, f"{1e6 * (candidates - 1) / measured.layout_documents:,.0f}")
    return table


def documents_for(candidates: float, rate: float) -> str:
    """From how many documents on there are so many candidates."""
    return rounded(candidates / rate)


# ---- layouts


def layouts(numbers: Numbers) -> str:
    """Which keys have few enough candidates."""
    by_bands = noted(
        "Bands",
        [
            *("pairs of", "documents", "keys", "values of the signature", "bytes a document"),
            *("in vain", "with keys of 30 bits", "standard error of estimates"),
        ],
        f"Computed: the smallest of the planner's layouts (`plan_bands`) that finds {model.RECALL:.0%} of the pairs "
        f"with at most {MOST:,} candidates in vain, for texts like those of the benchmarks.",
    )
    for similarity in (0.6, 0.7, 0.8):
        for documents in SIZES[1:]:
            by_bands.add(f"{similarity}", f"{documents:,}", *_smallest(numbers, similarity, documents))
    blocks = noted(
        "Blocks",
        ["pairs within", *(f"{documents:,}" for documents in SIZES)],
        f"Computed: the fewest blocks that find all pairs with at most {MOST_BY_BITS} random candidates "
        "(`plan_blocks`), and these candidates, by the number of documents.",
    )
    for bits, distance in _DISTANCES:
        plans = [model.blocks(bits, distance, documents, MOST_BY_BITS) for documents in SIZES]
        cells = [f"{plan.blocks}: {rounded(plan.candidates)}" if plan else "none" for plan in plans]
        blocks.add(f"{distance} of {bits} bits", *cells)
    return text(
        by_bands,
        """
More rows make a band more selective, and more bands are needed then; the higher the similarity, the fewer. A key of
30 bits that holds 8 rows has 3 bits of each, and unlike rows agree in these by chance, as the last column but one
shows: with more rows keys must be longer. Fewer values tell similarities less well (the last column, √(j (1 − j) /
values)), which matters where texts are not compared. `es-simhash tune --documents N` ([tune.md](tune.md)) counts on
your own texts what meets in vain; it tries keys of 30 bits. Longer ones are `key_bits` of the `minhash` of a scheme's
file.
""",
        blocks,
        f"""
A scheme that is changed later costs a [backfill](#the-backfill) of all documents, and the bytes of both schemes until
the old one is taken out ([backfill.md](backfill.md#another-scheme)). Real SimHashes are skewed: within 5 bits
{rounded(numbers.measured.found_bits - 2, 3)} candidates were measured among {numbers.measured.found_documents:,.0f}
documents where {rounded(numbers.measured.found_documents * by_bits(5), 3)} are computed.
""",
    )


def _smallest(numbers: Numbers, similarity: float, documents: int) -> Sequence[str]:
    bands = model.smallest(similarity, numbers.is_searched(documents), numbers.key_bytes)
    if bands is None:
        return "none", *[""] * 5
    size_ = next(size for size in model.SIGNATURES if size >= bands.size)
    short = Bands(bands.count, bands.rows, 30)
    return (
        in_words(bands),
        str(size_),
        f"{numbers.key_bytes(bands):,.0f}",
        rounded(documents * numbers.in_vain(bands)),
        rounded(documents * numbers.in_vain(short)),
        f"{math.sqrt(similarity * (1 - similarity) / bands.size):.3f}",
    )
