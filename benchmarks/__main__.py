"""Run benchmarks, print their tables, and write them to docs/benchmarks.md, docs/quality.md or benchmarks/design.md.

``python -m benchmarks`` runs all, ``python -m benchmarks layouts bulk`` two of them; other sections stay as they are.
``python -m benchmarks pictures`` and ``scale`` measure nothing: they make the pictures and docs/scale.md from
docs/benchmarks.md, as does every run that changes it. ``python -m benchmarks core FILE…`` and ``news_copy FILE…`` score
published datasets, for those who have their files, and print the published results beside ours.
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
from benchmarks.peers import PEERS
from benchmarks.tables import Table, replace_section
from tools.nodes import RELEASES

DOCS = Path(__file__).parents[1] / "docs"
PAGE, QUALITY_PAGE = DOCS / "benchmarks.md", DOCS / "quality.md"
# Evidence for decisions in this package rather than by its users.
DESIGN_PAGE = Path(__file__).with_name("design.md")


@dataclass(frozen=True)
class Section:
    """A section of a page, measured by the module of its name: its packages, servers, page and peers."""

    packages: tuple[str, ...] = ()
    servers: Collection[str] = ()
    page: Path = PAGE
    peers: tuple[str, ...] = ()


CLIENTS = ("elasticsearch", "opensearch-py")
SECTIONS = {
    "fingerprints": Section(("gaoya", "simhash", "datasketch", "rensa")),
    "every_language": Section(("gaoya", "rensa")),
    "single_texts": Section(page=DESIGN_PAGE),
    "self_join": Section(("simhash", "faiss-cpu"), page=DESIGN_PAGE),
    "memory": Section(),
    "layouts": Section(CLIENTS, SERVERS),
    "finding": Section(CLIENTS, SERVERS),
    "bulk": Section(CLIENTS, SERVERS, DESIGN_PAGE),
    "backfill": Section(CLIENTS, SERVERS),
    "pipeline": Section(CLIENTS, SERVERS),
    "grouping": Section(("opensearch-py",), ("opensearch",)),
    "dedup": Section(("rensa", "gaoya", "datasketch"), peers=tuple(PEERS)),
    "key_join": Section(("duckdb",), page=DESIGN_PAGE),
    "million": Section(("tantivy", "elasticsearch"), ("elasticsearch",), DESIGN_PAGE),
    "growth": Section(("elasticsearch",), ("elasticsearch",)),
    "quality": Section(("datasketch", "elasticsearch"), ("elasticsearch",), QUALITY_PAGE),
    "candidates": Section(page=DESIGN_PAGE),
}
TITLES = {"every_language": "Every language", "single_texts": "Single texts"}
# Files made from docs/benchmarks.md.
DERIVED: dict[str, Callable[[Path], None]] = {"pictures": plots.write, "scale": scale.write}
# Published datasets, which are read from files that follow the name.
PUBLISHED = ("core", "news_copy")
# Sections that can run on a share of their documents.
SHARED = tuple(name for name in SECTIONS if name not in {"fingerprints", "self_join"})


def main() -> None:
    """Run the named benchmarks, or all of them."""
    options = _parser().parse_args()
    if options.names and options.names[0] in PUBLISHED:
        _score(*options.names)
        return
    if options.corpora:
        os.environ[CORPORA_VARIABLE] = options.corpora
    names = options.names or list(SECTIONS)
    for name in names:
        if name not in DERIVED:
            _measure(name, options.share)
    is_changed = any(name in SECTIONS and SECTIONS[name].page != QUALITY_PAGE for name in names)
    for name, write in DERIVED.items():
        if name in names or (is_changed and options.share is None):
            write(DOCS)


def _score(name: str, *files: str) -> None:
    """Print the scores of a published dataset."""
    module = import_module(f"benchmarks.{name}")
    print(f"{cleandoc(module.__doc__ or '')}\n")
    for table in module.run(files):
        print(table.markdown())


def _measure(name: str, share: float | None) -> None:
    """Run one benchmark, on a share of its documents if it can; write its section if it ran on all of them."""
    module = import_module(f"benchmarks.{name}")
    run: Callable[..., Iterable[Table]] = module.run
    section = [f"{_about(name, module.__doc__ or '')}\n"]
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
    path.write_text(replace_section(page, _heading(path), titles, _title(name), section), encoding="utf-8")


def _heading(path: Path) -> str:
    """Return what stands above the sections of a page, the machine and the versions among it."""
    return path.read_text(encoding="utf-8").partition("\n## ")[0] if path.exists() else f"# {path.stem.title()}\n"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"one of: {', '.join([*SECTIONS, *DERIVED])}; or one of {', '.join(PUBLISHED)}, and its files",
    )
    parser.add_argument(
        "--share", type=float, help=f"try {', '.join(SHARED)} on this share of their documents; write nothing"
    )
    parser.add_argument("--corpora", help=f"folder with real texts to measure on as well ({CORPORA_VARIABLE})")
    return parser


def _title(name: str) -> str:
    return TITLES.get(name, name.replace("_", "-").capitalize())


def _about(name: str, docstring: str) -> str:
    """Describe the measurement, its day, and what differs from the machine and the versions above all sections."""
    section = SECTIONS[name]
    packages = ("numpy", "es-simhash-native", *section.packages)
    used = [_processor(), f"Python {platform.python_version()}", *map(_package, packages)]
    used += [f"{peer} {PEERS[peer].version}" for peer in section.peers]
    used += [f"{RELEASES[server].engine} {RELEASES[server].version}" for server in section.servers]
    heading = " ".join(_heading(section.page).split())
    differing = ", ".join(each for each in used if each not in heading)
    return f"{cleandoc(docstring)}\n\nRun on {date.today()}{f' with {differing}' if differing else ''}."


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
