"""Run the benchmarks, print their tables, and write them to docs/benchmarks.md.

``python -m benchmarks`` runs all, ``python -m benchmarks self_join`` those named; only a run of all is written.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np

from benchmarks import fingerprints, memory, self_join
from benchmarks.tables import Table

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
PEERS = ("gaoya", "simhash", "datasketch", "rensa", "faiss-cpu", "numba")

BENCHMARKS: dict[str, Callable[[], list[Table]]] = {
    "fingerprints": fingerprints.run,
    "self_join": self_join.run,
    "memory": memory.run,
}

INTRODUCTION = """\
# Benchmarks

Written by `make bench`. What counts are the ratios: all that stand in one table ran in the same process, in turns, on
the same texts, so a busy or slow machine slows all of them. Times are CPU time of one thread, medians of {rounds}
turns. Each section is one module of `benchmarks/`, which says what exactly was run.

Machine: {machine}, Python {python}, numpy {numpy}; {peers}.
"""


def main(names: list[str]) -> None:
    """Run the named benchmarks, or all."""
    sections = []
    for name in names or BENCHMARKS:
        tables = [table.markdown() for table in BENCHMARKS[name]()]
        sections.append("\n".join([f"## {name.replace('_', '-').capitalize()}", "", *tables]))
        print(sections[-1], flush=True)
    if not names:
        PAGE.write_text("\n".join([introduction(), *sections]), encoding="utf-8")


def introduction() -> str:
    """What a reader must know of the run."""
    return INTRODUCTION.format(
        rounds=fingerprints.ROUNDS,
        machine=_processor(),
        python=platform.python_version(),
        numpy=np.__version__,
        peers=", ".join(f"{peer} {version(peer)}" for peer in PEERS),
    )


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    return f"{len(names)} × {names[0]}" if names else platform.machine()


if __name__ == "__main__":
    main(sys.argv[1:])
