"""docs/scale.md: what up to a thousand million documents take, extrapolated from one node.

``python -m benchmarks scale`` simulates, and writes benchmarks/simulated.md, the page and its pictures, from
docs/benchmarks.md and random numbers with fixed seeds: the result is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from benchmarks import scale_machines, scale_simulation
from benchmarks import scale_model as model
from benchmarks.scale_costs import backfill, groups, query, shards
from benchmarks.scale_keys import candidates, curves, documents_for, layouts, picture
from benchmarks.scale_measured import Measured
from benchmarks.scale_model import DEFAULT, SIZES
from benchmarks.scale_numbers import MOST, Numbers, by_bits, noted, text
from benchmarks.scale_simulation import CROWDED, in_words
from benchmarks.scale_words import duration, rounded, size
from benchmarks.svg import THEMES, path
from benchmarks.tables import Table, tables_of
from es_simhash.plans.find_options import MOST_CANDIDATES
from es_simhash.sketches.key_plans import Goal, plan_keys

SIMULATED, DESIGN = (Path(__file__).with_name(name) for name in ("simulated.md", "design.md"))
HEADING = """\
# Scale

What 100,000 to 1,000,000,000 documents take. `python -m benchmarks scale` computes this page from numbers measured on
one machine ([benchmarks.md](benchmarks.md)) and from fingerprints drawn at random (`benchmarks/simulated.md`). The
largest indices measured had a million texts and [ten million fingerprints](benchmarks.md#growth).
"""


def write(docs: Path) -> None:
    """Simulate, and write the simulated tables, the page and its pictures."""
    simulated = list(chain(scale_simulation.simulated(), scale_machines.simulated()))
    tables = "\n".join(table.markdown() for table in simulated)
    SIMULATED.write_text(f"# Simulated by `python -m benchmarks scale`\n\n## Tables\n\n{tables}", encoding="utf-8")
    measured = "".join(page.read_text(encoding="utf-8") for page in (docs / "benchmarks.md", DESIGN))
    for name, made in files(measured, simulated).items():
        (docs / name).parent.mkdir(exist_ok=True)
        (docs / name).write_text(made, encoding="utf-8")


def files(measured: str, simulated: Iterable[Table]) -> dict[str, str]:
    """Make the page and its pictures from the pages of benchmarks and simulated tables, by their paths."""
    numbers = Numbers(Measured.read(measured), {table.title: table for table in simulated})
    drawn = curves(numbers)
    pictures = {path("scale", theme): picture(drawn, MOST_CANDIDATES, (SIZES[0], SIZES[-1]), theme) for theme in THEMES}
    return {"scale.md": page(numbers), **pictures}


def page(numbers: Numbers) -> str:
    """Write the page."""
    return "\n".join([HEADING, *(f"## {title}\n\n{section.strip()}\n" for title, section in sections(numbers))])


def simulated_before() -> list[Table]:
    """Read the tables of the last simulation."""
    return list(tables_of(SIMULATED.read_text(encoding="utf-8")).values())


def sections(numbers: Numbers) -> Iterator[tuple[str, str]]:
    """Write the sections; yield their titles and texts."""
    yield "In short", _in_short(numbers)
    yield "Candidates", candidates(numbers)
    yield "Which keys at which size", layouts(numbers)
    yield "Shards, disk and memory", shards(numbers)
    yield "A query", query(numbers)
    yield "The backfill", backfill(numbers)
    yield "Groups", groups(numbers)


# ---- in short


def _in_short(numbers: Numbers) -> str:
    measured = numbers.measured
    table = noted(
        "The default scheme",
        [
            *("documents", "index with our fields", "our fields", "shards", "false candidates, SimHash, 3 bits"),
            *("false candidates, MinHash", "backfill, 1 machine", "16 machines", "groups, 1 machine, at least"),
        ],
        "Computed. *False candidates* of a query are not duplicates; by MinHash for texts like those of the "
        "benchmarks.",
    )
    for documents in SIZES:
        table.add(
            f"{documents:,}",
            size(documents * numbers.document_bytes),
            size(documents * measured.default_bytes),
            f"{model.shards(documents, numbers.document_bytes):,}",
            rounded(documents * by_bits(3)),
            rounded(documents * numbers.false_share(DEFAULT.layout)),
            *(duration(model.backfill_seconds(documents, machines, measured)) for machines in (1, 16)),
            duration(model.grouping_seconds(documents, measured)),
        )
    largest, default = numbers.largest, numbers.false_share(DEFAULT.layout)
    lower = plan_keys(0.6, Goal(SIZES[-1]))
    also = f" (for .6: {in_words(lower)}, {numbers.key_bytes(lower):,.0f} bytes)" if lower else ""
    found = dict(zip(numbers.simulated[CROWDED].columns, numbers.simulated[CROWDED].rows[-1], strict=True))
    return text(
        table,
        f"""
- SimHash: the default blocks suffice for {SIZES[-1]:,} documents within 3 bits. Within 5 bits they exceed
  {MOST} false candidates at {documents_for(MOST, by_bits(5))} documents: use more blocks.
- MinHash: candidates come from phrases that all texts share, not from chance. For the benchmarks' texts the default
  bands exceed {MOST:,} false candidates at {documents_for(MOST, default)} documents, and the {MOST_CANDIDATES:,} that
  `find` fetches at {documents_for(MOST_CANDIDATES, default)}. `es-simhash tune` counts them on your texts.
- {SIZES[-1]:,} documents need more rows per band and longer keys: {in_words(largest)} find {Goal(1).recall:.0%} of the
  pairs of similarity .8 with {rounded(SIZES[-1] * numbers.false_share(largest))} false candidates, in
  {numbers.key_bytes(largest):,.0f} bytes a document instead of {measured.default_bytes:,.0f}{also}. Choose keys before
  the backfill, since another scheme requires another one.
- A group run over {SIZES[-1]:,} documents with the default fields finds {found["found of 0.6"]} of the pairs of
  similarity .6 and {found["found of 0.8"]} of those of .8. Beyond some ten million documents raise its memory, or use
  [Spark](spark.md).
""",
    )
