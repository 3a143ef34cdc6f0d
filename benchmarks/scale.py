"""docs/scale.md: what up to a thousand million documents take, extrapolated from one node.

``python -m benchmarks scale`` simulates, and writes benchmarks/simulated.md, the page and its pictures, from
docs/benchmarks.md and random numbers with fixed seeds: the result is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from benchmarks import scale_machines, scale_simulation
from benchmarks.page import replace_section, tables_of
from benchmarks.scale_keys import curves
from benchmarks.scale_measured import Measured
from benchmarks.scale_model import SIZES
from benchmarks.scale_numbers import Numbers
from benchmarks.scale_page import sections
from benchmarks.scale_picture import picture
from benchmarks.svg import THEMES, path
from benchmarks.tables import Table
from es_simhash.plans.find_options import MOST_CANDIDATES

SIMULATED = Path(__file__).with_name("simulated.md")
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
    for name, text in files((docs / "benchmarks.md").read_text(encoding="utf-8"), simulated).items():
        (docs / name).parent.mkdir(exist_ok=True)
        (docs / name).write_text(text, encoding="utf-8")


def files(benchmarks: str, simulated: Iterable[Table]) -> dict[str, str]:
    """Make the page and its pictures from the page of benchmarks and simulated tables, by their paths."""
    numbers = Numbers(Measured.read(benchmarks), {table.title: table for table in simulated})
    drawn = curves(numbers)
    pictures = {path("scale", theme): picture(drawn, MOST_CANDIDATES, (SIZES[0], SIZES[-1]), theme) for theme in THEMES}
    return {"scale.md": page(numbers), **pictures}


def page(numbers: Numbers) -> str:
    """Write the page."""
    text = ""
    found = dict(sections(numbers))
    for title, section in found.items():
        text = replace_section(text, HEADING, list(found), title, section)
    return text


def simulated_before() -> list[Table]:
    """Read the tables of the last simulation."""
    return list(tables_of(SIMULATED.read_text(encoding="utf-8")).values())
