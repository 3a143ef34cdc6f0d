"""The size and shape of the house in numbers, each with its bound; ``python -m tools.measure`` prints them."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import click

import es_simhash
from es_simhash.cli.program import COMMANDS, app
from tools import ROOT
from tools.calques import calques
from tools.doors import WAYS, doors
from tools.reference_tables import without_tables
from tools.translations import LANGUAGES

PACKAGE, NATIVE = ROOT / "es_simhash", ROOT / "native"


@dataclass(frozen=True)
class Number:
    """A measured number, and the most that it may be."""

    name: str
    value: float
    most: float | None = None

    @property
    def holds(self) -> bool:
        return self.most is None or self.value <= self.most


def numbers() -> Iterator[Number]:
    """Measure everything, in the order in which it is printed."""
    yield Number("entries at the root of the package", len(_entries()), 15)
    yield from _ways()
    yield from _shape()
    yield Number("words of the README", _words([ROOT / "README.md"]), 700)
    yield Number("words of docs, but of generated pages and tables", _words(_written_pages()), 35_300)
    verbs = [app.get_command(click.Context(app), verb) for verb in COMMANDS]
    slots = [len(verb.params) for verb in verbs if verb]
    yield Number("verbs", len(slots), 24)
    yield Number("option slots", sum(slots), 258)
    yield Number("names at the root", len(es_simhash.__all__), 44)
    yield from _sizes()
    yield Number("lines of the package", _lines(PACKAGE.rglob("*.py")), 61_300)
    yield Number("lines that a find loads", _loaded_by_find(), 22_000)
    yield Number("lines of Rust", _lines(NATIVE.glob("[!t]*/**/*.rs")), 10_500)
    yield Number("functions that write JSON, CSV or HTML of a result", len(_writers()), 10)
    yield Number("types named OnProgress", _definitions("OnProgress"), 1)
    yield Number("calques", len(list(calques())), 0)


# The most doors of each way, and the most files that run in addition to those of the engine.
_DOORS = {"fingerprint": 4, "add": 8, "find": 8, "explain": 8, "backfill": 10, "group": 10, "gate": 10, "dedup": 10}
_FILES = {"find": 36, "explain": 42, "group": 51, "gate": 46}


def _ways() -> Iterator[Number]:
    """Count what runs on each way through the package: entries at the root, and files."""
    for way in WAYS:
        found = doors(way)
        files = {name.partition(":")[0] for names in found.values() for name in names}
        yield Number(f"doors: {way}", len(found), _DOORS[way])
        without_embedded = [file for file in files if not file.startswith("engines.embedded")]
        yield Number(f"files: {way}", len(without_embedded), _FILES.get(way))


def _written_pages() -> Iterator[Path]:
    docs = ROOT / "docs"
    names = (
        "benchmarks.md",
        "cli.md",
        "quality.md",
        "scale.md",
        "soak.md",
        "reference/modules.md",
        "reference/python.md",
    )
    others = {docs / name for name in names} | {page for each in LANGUAGES for page in (docs / each).rglob("*.md")}
    return (page for page in docs.rglob("*.md") if page not in others)


def _words(pages: Iterable[Path]) -> int:
    # The numbers and lines of tables are not words.
    words = (word for page in pages for word in without_tables(page).split())
    return sum(any(map(str.isalpha, word)) for word in words)


def _lines(paths: Iterable[Path]) -> int:
    return sum(path.read_text(encoding="utf-8").count("\n") for path in paths)


_FILLED = """
import sys
from es_simhash import Index
with Index("articles", sys.argv[1], fields=["body"]) as index:
    index.init()
    index.add([{"_id": str(number), "body": "Trains stood still for hours. " * 9} for number in range(2)], refresh=True)
"""
_FOUND = """
import sys
from es_simhash import Index
with Index("articles", sys.argv[1]) as index:
    assert index.find(id="0")
print(*(module.__file__ for name, module in sys.modules.items() if name.startswith("es_simhash.")), sep="\\n")
"""


def _loaded_by_find() -> int:
    """Count the lines of the modules that a process has loaded after one find, without those of its engine."""
    with tempfile.TemporaryDirectory() as folder:
        for code in (_FILLED, _FOUND):
            found = subprocess.run([sys.executable, "-c", code, folder], check=True, capture_output=True, text=True)
    paths = (Path(line) for line in found.stdout.splitlines())
    return _lines(path for path in paths if not path.is_relative_to(PACKAGE / "engines" / "embedded"))


def _definitions(name: str) -> int:
    """Count the types of this name in the package."""
    pattern = re.compile(rf"^(class {name}\b|{name}(: TypeAlias)? = )", re.MULTILINE)
    return sum(len(pattern.findall(path.read_text(encoding="utf-8"))) for path in PACKAGE.rglob("*.py"))


def _writers() -> list[str]:
    """Name the functions that write a result, or its parts, in one of its forms; stored forms are not results."""
    pattern = re.compile(r"^ *def (to_json|\w*as_json|_repr_html_|\w+_html|\w*csv\w*|json_record)\(", re.M)
    stored = (
        "text/",
        "scheme/",
        "documents/files/",
        "groups/pairs/",
        "groups/of_index/stored_fingerprints",
        "cli/options/",
    )
    paths = (path for path in PACKAGE.rglob("*.py") if not str(path.relative_to(PACKAGE)).startswith(stored))
    return [name for path in paths for name in pattern.findall(path.read_text(encoding="utf-8"))]


def _entries() -> list[str]:
    """Name the modules and folders at the root, without those that only carry the package."""
    return sorted(path.stem for path in PACKAGE.iterdir() if re.fullmatch(r"(?!__|_version)\w+(\.py)?", path.name))


def _shape() -> Iterator[Number]:
    """Count arrows and layers between the entries of the root, and between all folders."""
    roots = _arrows(depth=1)
    yield Number("layers between entries", max(_height(roots, name) for name in roots))
    yield Number("import arrows between entries", sum(map(len, roots.values())))
    yield Number("import arrows between all folders", sum(map(len, _arrows(depth=9).values())))
    yield Number("folders", len({path.parent for path in PACKAGE.rglob("*.py")}))
    yield Number("circles of modules", len(list(_circles(_imported_first()))), 0)


def _imported_first() -> dict[str, set[str]]:
    """Return which modules each module imports while it is imported itself."""
    names = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in PACKAGE.rglob("*.py")
    }
    arrows: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        here = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        nodes = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.ImportFrom)]
        found = ((f"{node.module}.{alias.name}", node.module or "") for node in nodes for alias in node.names)
        arrows[here] = {long if long in names else short for long, short in found if short.startswith("es_simhash")} - {
            here
        }
    return arrows


def _circles(arrows: dict[str, set[str]]) -> Iterator[list[str]]:
    """Yield what is left in circles when all that imports nothing else has been taken away, again and again."""
    left = dict(arrows)
    while free := [name for name, others in left.items() if not others & left.keys()]:
        for name in free:
            del left[name]
    if left:
        yield sorted(left)


def _arrows(depth: int) -> dict[str, set[str]]:
    """Find which folders import which; ``depth`` is that of the folders looked at."""
    arrows: dict[str, set[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        here = _folder(path.relative_to(ROOT).with_suffix("").parts, depth)
        if here != "es_simhash":
            seen = arrows.setdefault(here, set())
            seen |= {_folder(parts, depth) for parts in _imports(path)} - {here, "es_simhash"}
    return arrows


def _folder(parts: tuple[str, ...], depth: int) -> str:
    """Return the folder that a module stands in, or the module if it stands at the root."""
    while len(parts) > 2 and not ROOT.joinpath(*parts).is_dir():
        parts = parts[:-1]
    name = ".".join(parts[1 : 1 + depth]) if len(parts) > 1 else parts[0]
    return "es_simhash" if name.startswith("__") or name == "_version" else name


def _imports(path: Path) -> Iterator[tuple[str, ...]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("es_simhash."):
            for alias in node.names:
                yield (*(node.module or "").split("."), alias.name)


def _height(arrows: dict[str, set[str]], name: str) -> int:
    return 1 + max((_height(arrows, other) for other in arrows.get(name, ())), default=0)


_MOST = {"module": 235}


def _sizes() -> Iterator[Number]:
    """Count the lines of modules and of functions."""
    modules: dict[str, int] = {}
    functions: dict[str, int] = {}
    for path in PACKAGE.rglob("*.py"):
        source, name = path.read_text(encoding="utf-8"), str(path.relative_to(ROOT))
        if lines := source.count("\n"):
            modules[name] = lines
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                functions[f"{name}:{node.name}"] = (node.end_lineno or 0) - node.lineno + 1
    for kind, lengths in (("module", modules), ("function", functions)):
        longest = max(lengths, key=lengths.__getitem__)
        yield Number(f"{kind}s", len(lengths), _MOST.get(kind))
        yield Number(f"lines of the median {kind}", median(lengths.values()))
        yield Number(f"lines of the longest {kind} ({longest})", lengths[longest])
    yield Number("percent of lines that import", _importing(), 7.5)
    yield Number("modules of under 40 lines", sum(lines < 40 for name, lines in modules.items() if "__" not in name))


def _importing() -> float:
    """Return the share of the package's lines that import."""
    lines = 0
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                lines += (node.end_lineno or 0) - node.lineno + 1
    return 100 * lines / _lines(PACKAGE.rglob("*.py"))


if __name__ == "__main__":
    for each in numbers():
        bound = "" if each.most is None else f"at most {each.most:,g}{'' if each.holds else ', MISSED'}"
        print(f"{each.value:>9,g}  {each.name:<60} {bound}".rstrip())
