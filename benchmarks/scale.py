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
from benchmarks.scale_candidates import candidates, curves, picture
from benchmarks.scale_costs import costs, measured
from benchmarks.scale_measured import Measured
from benchmarks.scale_model import DEFAULT, SIZES, Finding
from benchmarks.scale_numbers import Numbers, by_bits, noted, text
from benchmarks.scale_words import duration, rounded, size
from benchmarks.svg import THEMES, path
from benchmarks.tables import Table, tables_of
from es_simhash.plans.find_options import MOST_CANDIDATES

SIMULATED, DESIGN = (Path(__file__).with_name(name) for name in ("simulated.md", "design.md"))
HEADING = """\
# Scale

What 100,000 to 1,000,000,000 documents take. `python -m benchmarks scale` makes this page from what was measured on one
machine ([benchmarks.md](benchmarks.md)) and from fingerprints drawn at random (`benchmarks/simulated.md`).
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
    published = {table.title: table for table in tables_of(measured).values()}
    numbers = Numbers(Measured.read(measured), {table.title: table for table in simulated}, published)
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
    yield "Measured", measured(numbers)
    yield "Computed", _in_short(numbers)
    yield "Computed: candidates", candidates(numbers)
    yield "What it is computed from", costs(numbers)


def _in_short(numbers: Numbers) -> str:
    found, default = numbers.measured, numbers.false_share(DEFAULT.layout)
    table = noted(
        "The default scheme",
        [
            *("documents", "index with our fields", "shards", "false candidates, SimHash", "MinHash"),
            *("find, ms", "backfill, one machine"),
        ],
        "*False candidates* of a query are not duplicates, here among texts like those of the benchmarks.",
    )
    finding = Finding.of(found)
    for documents in SIZES:
        table.add(
            f"{documents:,}",
            size(documents * numbers.document_bytes),
            f"{model.shards(documents, numbers.document_bytes):,}",
            rounded(documents * by_bits(3)),
            f"{rounded(documents * default)}{' *' if documents * default > MOST_CANDIDATES else ''}",
            rounded(finding(documents * default)),
            duration(model.backfill_seconds(documents, 1, found)),
        )
    return text(
        table,
        f"""
\\* `find` stops at {MOST_CANDIDATES:,}, and reports `complete=False`.
""",
    )
