"""The sections of docs/scale.md: what it comes to, how, and where the numbers are from."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import scale_model as model
from benchmarks.scale_costs import backfill, groups, query, shards
from benchmarks.scale_keys import candidates, documents_for, layouts
from benchmarks.scale_measured import Measured, cells
from benchmarks.scale_model import DEFAULT, SIZES, KeyBytes
from benchmarks.scale_numbers import MOST, MOST_BY_BITS, Numbers, by_bits, noted, text
from benchmarks.scale_simulation import BANDS, BLOCKS, CROWDED, IN_VAIN, RECALL, SIMILARITIES, in_words
from benchmarks.scale_words import duration, rounded, size
from benchmarks.tables import Table
from es_simhash.plans.find_options import MOST_CANDIDATES


def sections(numbers: Numbers) -> Iterator[tuple[str, str]]:
    """The title and the text of each section."""
    yield "In short", _in_short(numbers)
    yield "Candidates", candidates(numbers)
    yield "Which keys from when on", layouts(numbers)
    yield "Shards, disk and memory", shards(numbers)
    yield "A query", query(numbers)
    yield "The backfill", backfill(numbers)
    yield "Groups", groups(numbers)
    yield "Simulated", _simulated(numbers)
    yield "The numbers that all this is made of", _sources(numbers.measured)


# ---- in short


def _in_short(numbers: Numbers) -> str:
    measured = numbers.measured
    table = noted(
        "The default scheme",
        [
            *("documents", "index with our fields", "our fields", "shards", "in vain by SimHash, 3 bits"),
            *("in vain by MinHash", "backfill, 1 machine", "16 machines", "groups, 1 machine, at least"),
        ],
        "Computed. *In vain* are candidates of a query that are no duplicates; by MinHash for texts like those of the "
        "benchmarks. [Groups](#groups) tells what their time leaves out.",
    )
    for documents in SIZES:
        table.add(
            f"{documents:,}",
            size(documents * numbers.document_bytes),
            size(documents * measured.default_bytes),
            f"{model.shards(documents, numbers.document_bytes):,}",
            rounded(documents * by_bits(3)),
            rounded(documents * numbers.in_vain(DEFAULT.layout)),
            *(duration(model.backfill_seconds(documents, machines, measured)) for machines in (1, 16)),
            duration(model.grouping_seconds(documents, measured)),
        )
    largest, default = numbers.largest, numbers.in_vain(DEFAULT.layout)
    lower = model.smallest(0.6, numbers.is_searched(SIZES[-1]), numbers.key_bytes)
    also = f"; for pairs of .6 it takes {in_words(lower)}, and {numbers.key_bytes(lower):,.0f} bytes" if lower else ""
    found = dict(zip(numbers.simulated[CROWDED].columns, numbers.simulated[CROWDED].rows[-1], strict=True))
    return text(
        table,
        f"""
- Within 3 bits the default blocks are enough for {SIZES[-1]:,} documents. Within 5 bits they are enough for no more
  than {documents_for(MOST_BY_BITS, by_bits(5))}, if {MOST_BY_BITS} candidates in vain are the most that are wanted:
  take more blocks.
- By MinHash it is not chance that makes candidates but what all texts share. The default bands meet more than
  {MOST:,} candidates in vain from {documents_for(MOST, default)} documents on, and more than the {MOST_CANDIDATES:,}
  that `find` fetches from {documents_for(MOST_CANDIDATES, default)} on, for texts like those of the benchmarks.
  Other texts have more or fewer phrases in common: `es-simhash tune` counts it on yours.
- {SIZES[-1]:,} documents want more rows a band and longer keys: {in_words(largest)} find {model.RECALL:.0%} of the
  pairs of similarity .8 with {rounded(SIZES[-1] * numbers.in_vain(largest))} candidates in vain, in
  {numbers.key_bytes(largest):,.0f} bytes a document instead of {measured.default_bytes:,.0f}{also}. Choose keys
  before the backfill: another scheme is another backfill.
- A group run over {SIZES[-1]:,} documents still finds {found["found of 0.6"]} of the pairs of similarity .6 and
  {found["found of 0.8"]} of those of .8 with the default fields, but makes {found["pairs a document of 0.6"]} pairs a
  document for the former. Beyond some ten million documents it wants more memory than the default, or more machines
  ([spark.md](spark.md)).
""",
    )


# ---- simulated, sources


def _simulated(numbers: Numbers) -> str:
    return text(*(numbers.table(title) for title in (BLOCKS, BANDS, RECALL, IN_VAIN, SIMILARITIES)))


def _sources(measured: Measured) -> str:
    table = Table("Measured", ["what", "number", "section", "table", "row: column", "measured anew by"])
    for name, cell in cells().items():
        place = f"{cell.row}: {cell.column}" if cell.row else "above the table"
        section = f"[{cell.section}](benchmarks.md#{cell.section.lower()})"
        table.add(cell.what, f"{getattr(measured, name):,g}", section, cell.table, place, f"`{cell.command}`")
    return text(
        "All are read from [benchmarks.md](benchmarks.md) when this page is made; none is copied by hand.",
        table,
        f"""
From these: a key takes {KeyBytes.of(measured).key:.2f} bytes and {KeyBytes.of(measured).character:.2f} for each of
its characters of 6 bits; all other fields take {measured.simhash_bytes:g}.
""",
    )
