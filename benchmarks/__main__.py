"""Run benchmarks, print their tables, and write them to docs/benchmarks.md, those of quality to docs/quality.md.

``python -m benchmarks`` runs all, ``python -m benchmarks layouts bulk`` those named; the page keeps the other sections.
``python -m benchmarks pictures`` and ``scale`` measure nothing: they draw the pictures of docs/benchmarks.md from its
tables, and make docs/scale.md of it. So does every run that changes it.
"""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import date
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from inspect import cleandoc
from pathlib import Path

from benchmarks import plots, scale
from benchmarks.corpora import CORPORA_VARIABLE
from benchmarks.nodes import SERVERS
from benchmarks.page import replace_section
from benchmarks.peers import PEERS
from benchmarks.tables import Table
from tools.nodes import RELEASES

DOCS = Path(__file__).parents[1] / "docs"
PAGE, QUALITY_PAGE = DOCS / "benchmarks.md", DOCS / "quality.md"
HEADING = """\
# Benchmarks

Written by `make bench`. What counts are the ratios: all that stand in one table ran in the same run, in turns, on the
same texts, so a busy or slow machine slows all of them. Each section is one module of `benchmarks/`, which says what
exactly was run, and it was run on the day, the machine and the versions that it names. [scale.md](scale.md) tells what
comes of these numbers with more documents.
"""
QUALITY_HEADING = """\
# Quality

Written by `python -m benchmarks quality --corpora DIRECTORY`; [evaluate.md](evaluate.md) tells what the scores are, and
how to have those of your own documents.
"""


@dataclass(frozen=True)
class Section:
    """A section of a page: the module of its name, the packages measured, the servers, the page, and the peers."""

    packages: tuple[str, ...] = ()
    servers: Collection[str] = ()
    page: Path = PAGE
    peers: tuple[str, ...] = ()


CLIENTS = ("elasticsearch", "opensearch-py")
SECTIONS = {
    "fingerprints": Section(("gaoya", "simhash", "datasketch", "rensa", "numba")),
    "self_join": Section(("simhash", "faiss-cpu", "numba")),
    "memory": Section(("numba",)),
    "layouts": Section(("numba", *CLIENTS), SERVERS),
    "finding": Section(("numba", *CLIENTS), SERVERS),
    "rerank": Section(("numba", *CLIENTS), SERVERS),
    "bulk": Section(("numba", *CLIENTS), SERVERS),
    "backfill": Section(("numba", *CLIENTS), SERVERS),
    "pipeline": Section(("numba", *CLIENTS), SERVERS),
    "grouping": Section(("numba", "opensearch-py"), ("opensearch",)),
    "dedup": Section(("rensa", "gaoya", "datasketch", "numba"), peers=tuple(PEERS)),
    "key_join": Section(("duckdb",)),
    "million": Section(("tantivy", "elasticsearch"), ("elasticsearch",)),
    "growth": Section(("numba", "elasticsearch"), ("elasticsearch",)),
    "quality": Section(("datasketch", "elasticsearch"), ("elasticsearch",), QUALITY_PAGE),
    "candidates": Section(page=QUALITY_PAGE),
}
# What is made of docs/benchmarks.md, and how.
DERIVED: dict[str, Callable[[Path], None]] = {"pictures": plots.write, "scale": scale.write}
# The sections that can be run on a share of their documents.
SHARED = tuple(name for name in SECTIONS if name not in {"fingerprints", "self_join", "memory"})


def main() -> None:
    """Run the named benchmarks, or all."""
    options = _parser().parse_args()
    if options.corpora:
        os.environ[CORPORA_VARIABLE] = options.corpora
    names = options.names or list(SECTIONS)
    for name in names:
        if name not in DERIVED:
            _measure(name, options.share)
    is_changed = any(name in SECTIONS and SECTIONS[name].page == PAGE for name in names)
    for name, write in DERIVED.items():
        if name in names or (is_changed and options.share is None):
            write(DOCS)


def _measure(name: str, share: float | None) -> None:
    """Run one benchmark, on a share of its documents if it can be, and write its section if it ran on all of them."""
    module = import_module(f"benchmarks.{name}")
    run: Callable[..., Iterable[Table]] = module.run
    section = [f"{_about(name, module.__doc__ or '')}\n"]
    if SECTIONS[name].servers:
        # Whoever talks to a server goes on for long: the compiled loops are loaded from the start.
        os.environ["ES_SIMHASH_NATIVE"] = "1"
    print(f"## {_title(name)}\n\n{section[0]}", flush=True)
    for table in run() if share is None or name not in SHARED else run(share):
        section.append(table.markdown())
        print(section[-1], flush=True)
    if share is None and len(section) > 1:
        _write(name, "\n".join(section))


def _write(name: str, section: str) -> None:
    path = SECTIONS[name].page
    page = path.read_text(encoding="utf-8") if path.exists() else ""
    titles = [_title(each) for each, other in SECTIONS.items() if other.page == path]
    heading = QUALITY_HEADING if path == QUALITY_PAGE else HEADING
    path.write_text(replace_section(page, heading, titles, _title(name), section), encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of: {', '.join([*SECTIONS, *DERIVED])}")
    parser.add_argument(
        "--share", type=float, help=f"only try it, on this share of the documents of {', '.join(SHARED)}: write nothing"
    )
    parser.add_argument("--corpora", help=f"a folder with real texts to measure on as well ({CORPORA_VARIABLE})")
    return parser


def _title(name: str) -> str:
    return name.replace("_", "-").capitalize()


def _about(name: str, docstring: str) -> str:
    """What was measured, when, and on which versions."""
    section = SECTIONS[name]
    servers = [f"{RELEASES[server].engine} {RELEASES[server].version}" for server in section.servers]
    packages = [_package(package) for package in ("numpy", *section.packages)]
    packages += [f"{peer} {PEERS[peer].version}" for peer in section.peers]
    run = f"Run on {date.today()}: {_processor()}, Python {platform.python_version()}, {', '.join(packages)}"
    return f"{cleandoc(docstring)}\n\n{run}{'; servers ' + ', '.join(servers) if servers else ''}."


def _package(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return f"no {name}"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    return f"{len(names)} × {names[0]}" if names else platform.machine()


if __name__ == "__main__":
    main()
