"""docs/scale.md: from what one node was measured to do, to a thousand million documents.

``python -m benchmarks scale`` simulates anew and writes the page and its pictures. The page is made of
docs/benchmarks.md and of random numbers with fixed seeds, so it comes out the same wherever it is made.
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

HEADING = """\
# Scale

What a hundred thousand to a thousand million documents take. Written by `python -m benchmarks scale`, of
[benchmarks.md](benchmarks.md) and of simulations; nothing was measured on more than a million texts, or [ten million
fingerprints](benchmarks.md#growth).

- *Computed*: arithmetic with numbers that were measured on one machine, listed
  [at the end](#the-numbers-that-all-this-is-made-of).
- *Simulated*: fingerprints drawn at random, with the keys and the code of this package, without a server.
- *Measured*: as benchmarks.md tells it.
"""


def write(docs: Path) -> None:
    """Simulate, and write the page and its pictures."""
    simulated = chain(scale_simulation.simulated(), scale_machines.simulated())
    for name, text in files((docs / "benchmarks.md").read_text(encoding="utf-8"), simulated).items():
        (docs / name).parent.mkdir(exist_ok=True)
        (docs / name).write_text(text, encoding="utf-8")


def files(benchmarks: str, simulated: Iterable[Table]) -> dict[str, str]:
    """The page and its pictures, by their paths, of the page of benchmarks and of what was simulated."""
    numbers = Numbers(Measured.read(benchmarks), {table.title: table for table in simulated})
    drawn = curves(numbers)
    pictures = {path("scale", theme): picture(drawn, MOST_CANDIDATES, (SIZES[0], SIZES[-1]), theme) for theme in THEMES}
    return {"scale.md": page(numbers), **pictures}


def page(numbers: Numbers) -> str:
    """The page."""
    text = ""
    found = dict(sections(numbers))
    for title, section in found.items():
        text = replace_section(text, HEADING, list(found), title, section)
    return text


def simulated_of(page: str) -> list[Table]:
    """All tables of a page that was written, by which it can be made again without simulating."""
    return list(tables_of(page).values())
