"""Run benchmarks, print their tables, and write them to docs/benchmarks.md, docs/quality.md or benchmarks/design.md.

``python -m benchmarks`` runs all, ``python -m benchmarks layouts bulk`` two of them; other sections stay as they are.
A section is written only if others leave the machine alone (`benchmarks.machine_load`).
``python -m benchmarks pictures`` and ``scale`` measure nothing: they make the pictures and docs/scale.md from
docs/benchmarks.md, as does every run that changes it. ``python -m benchmarks core FILE…`` and ``news_copy FILE…`` score
published datasets, for those who have their files, and print the published results next to ours. ``check`` compares the
most important ratios with those of the pages (`benchmarks.check`).
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from inspect import cleandoc, signature
from pathlib import Path

from benchmarks import machine_load, plots, scale
from benchmarks.corpora import CORPORA_VARIABLE
from benchmarks.nodes import SERVERS
from benchmarks.peers import PEERS
from benchmarks.tables import Table, replace_section, tables_of
from es_simhash._core.environment import native
from tools.nodes import RELEASES

DOCS = Path(__file__).parents[1] / "docs"
PAGE, QUALITY_PAGE = DOCS / "benchmarks.md", DOCS / "quality.md"
# Evidence for decisions in this package rather than by its users.
DESIGN_PAGE = Path(__file__).with_name("design.md")


@dataclass(frozen=True)
class Section:
    """A section of a page, measured by the module of its name: its packages, servers, page and peers.

    Untimed sections are the same on a busy machine.
    """

    packages: tuple[str, ...] = ()
    servers: Collection[str] = ()
    page: Path = PAGE
    peers: tuple[str, ...] = ()
    is_timed: bool = True


CLIENTS = ("elasticsearch", "opensearch-py")
SECTIONS = {
    "fingerprints": Section(("gaoya", "simhash", "datasketch", "rensa")),
    "every_language": Section(("gaoya", "rensa")),
    "single_texts": Section(page=DESIGN_PAGE),
    "self_join": Section(("simhash", "faiss-cpu"), page=DESIGN_PAGE),
    "memory": Section(),
    "layouts": Section(CLIENTS, SERVERS),
    "keys": Section(is_timed=False),
    "keys_on_servers": Section(CLIENTS, SERVERS),
    "finding": Section(CLIENTS, SERVERS),
    "long_texts": Section(CLIENTS, SERVERS),
    "steady": Section(CLIENTS, SERVERS),
    "distinct": Section(CLIENTS, SERVERS),
    "passages": Section(("elasticsearch",), ("elasticsearch",)),
    "bulk": Section(CLIENTS, SERVERS, DESIGN_PAGE),
    "field_costs": Section(CLIENTS, SERVERS, DESIGN_PAGE),
    "backfill": Section(CLIENTS, SERVERS),
    "pipeline": Section(CLIENTS, SERVERS),
    "grouping": Section(CLIENTS, SERVERS),
    "scale_groups": Section(),
    "spark": Section(("pyspark", "pyarrow")),
    "scopes": Section(("opensearch-py",), ("opensearch",)),
    "dedup": Section(("rensa", "gaoya", "datasketch"), peers=tuple(PEERS)),
    "titles": Section(),
    "key_join": Section(("duckdb",), page=DESIGN_PAGE),
    "embedded": Section(("tantivy",), page=DESIGN_PAGE),
    "gate": Section(("tantivy", "starlette", "uvicorn")),
    "million": Section(("tantivy", "elasticsearch"), ("elasticsearch",), DESIGN_PAGE),
    "growth": Section(("elasticsearch",), ("elasticsearch",)),
    "quality": Section(("datasketch", "elasticsearch"), ("elasticsearch",), QUALITY_PAGE),
    "levels": Section(page=QUALITY_PAGE),
    "candidates": Section(page=DESIGN_PAGE),
}
TITLES = {
    "every_language": "Every language",
    "single_texts": "Single texts",
    "long_texts": "Long texts",
    "field_costs": "Field costs",
    "keys_on_servers": "Keys on servers",
    "scale_groups": "Grouping at scale",
}
# Files made from docs/benchmarks.md.
DERIVED: dict[str, Callable[[Path], None]] = {"pictures": plots.write, "scale": scale.write}
CHECK = "check"
# Published datasets, which are read from files that follow the name.
PUBLISHED = ("core", "news_copy")


def main() -> None:
    """Run the named benchmarks, or all of them; exit with 1 if a busy machine kept one from being published."""
    options = _parser().parse_args()
    _refuse_stale_kernels()
    if options.names and options.names[0] in PUBLISHED:
        _score(*options.names)
        return
    if options.names == [CHECK]:
        sys.exit(_check())
    if options.corpora:
        os.environ[CORPORA_VARIABLE] = options.corpora
    names = options.names or list(SECTIONS)
    is_published = options.share is None and not options.print
    measured = [name for name in names if name not in DERIVED]
    written = [name for name in measured if _measure(name, _arguments(options), is_published)]
    is_changed = any(SECTIONS[name].page != QUALITY_PAGE for name in written)
    for name, write in DERIVED.items():
        if name in names or is_changed:
            write(DOCS)
    if is_published and written != measured:
        sys.exit(1)


def _refuse_stale_kernels() -> None:
    """Exit if the compiled kernels that are installed do not fit, so that numpy would be measured in their place."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        native()
    if caught:
        sys.exit(str(caught[0].message))


def _check() -> int:
    """Compare the most important ratios with those of the pages; return 1 if any has become worse."""
    from benchmarks.check import WATCHED, compared

    pages = tables_of("".join(page.read_text(encoding="utf-8") for page in (PAGE, DESIGN_PAGE)))
    watch, worse = machine_load.Watch.begun(), 0
    for table, found in compared(WATCHED, pages):
        watch.part_ended()
        print(table.markdown(), flush=True)
        worse += found
    print(f"{worse} worse than on the pages; {watch}.{' Try again on a quiet machine.' if watch.is_busy else ''}")
    return int(worse > 0)


def _arguments(options: argparse.Namespace) -> dict[str, object]:
    """Collect what a benchmark is asked for in another way than it does by itself."""
    asked = {"share": options.share, "sizes": options.sizes}
    return {name: value for name, value in asked.items() if value is not None}


def _score(name: str, *files: str) -> None:
    """Print the scores of a published dataset."""
    module = import_module(f"benchmarks.{name}")
    print(f"{cleandoc(module.__doc__ or '')}\n")
    for table in module.run(files):
        print(table.markdown())


def _measure(name: str, arguments: Mapping[str, object], is_published: bool) -> bool:
    """Run one benchmark with those arguments that it takes; return whether its section was written."""
    module = import_module(f"benchmarks.{name}")
    run: Callable[..., Iterable[Table | None]] = module.run
    own = {key: value for key, value in arguments.items() if key in signature(run).parameters}
    watch = machine_load.Watch.begun()
    is_refused = SECTIONS[name].is_timed and is_published
    if is_refused and watch.is_busy:
        print(machine_load.refusal(name, watch), file=sys.stderr)
        return False
    print(f"## {_title(name)}\n", flush=True)
    tables = []
    for table in run(**own):
        if table is None:  # all that the next table needs is prepared
            watch.prepared()
            print(f"{name}: measuring", file=sys.stderr, flush=True)
            continue
        watch.part_ended()
        tables.append(table.markdown())
        print(tables[-1], flush=True)
    about = _about(name, module.__doc__ or "", watch)
    print(about, flush=True)
    is_busy = is_refused and watch.is_busy
    if is_busy:
        print(machine_load.refusal(name, watch), file=sys.stderr)
    if not is_published or is_busy or not tables:
        return False
    _write(name, "\n".join([f"{about}\n", *tables]))
    return True


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
        help=f"some of: {', '.join([*SECTIONS, *DERIVED])}; or {CHECK}; or {' or '.join(PUBLISHED)}, and its files",
    )
    parser.add_argument("--share", type=float, help="take this share of the documents, where it can; write nothing")
    parser.add_argument("--sizes", type=int, nargs="+", help="measure these numbers of documents, where there are some")
    parser.add_argument("--print", action="store_true", help="write nothing; a busy machine will do")
    parser.add_argument("--corpora", help=f"folder with real texts to measure on as well ({CORPORA_VARIABLE})")
    return parser


def _title(name: str) -> str:
    return TITLES.get(name, name.replace("_", "-").capitalize())


def _about(name: str, docstring: str, watch: machine_load.Watch) -> str:
    """Describe the measurement, its day and load, and what differs from the versions above all sections."""
    section = SECTIONS[name]
    packages = ("numpy", "es-simhash-native", *section.packages)
    used = [_processor(), f"Python {platform.python_version()}", *map(_package, packages)]
    used += [f"{peer} {PEERS[peer].version}" for peer in section.peers]
    used += [f"{RELEASES[server].engine} {RELEASES[server].version}" for server in section.servers]
    heading = " ".join(_heading(section.page).split())
    differing = ", ".join(each for each in used if each not in heading)
    return f"{cleandoc(docstring)}\n\nRun on {date.today()}{f' with {differing}' if differing else ''}; {watch}."


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
