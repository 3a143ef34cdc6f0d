"""`Index`, made of `AsyncIndex`, and the keywords of functions; ``python -m tools.sync_index`` writes them.

`AsyncIndex` is the source of all code and docstrings. If the two differ in more than words, `Connection` and
`AsyncConnection` do.
"""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from es_simhash.groups.of_index.writing import WriteOptions
from es_simhash.groups.options import GroupOptions
from es_simhash.live.backfill import BackfillOptions
from es_simhash.live.erase.copies import EraseOptions
from es_simhash.live.reindex import ReindexOptions
from es_simhash.live.sweep.reading import RunOptions, UpdateOptions
from es_simhash.plans.distinct import SearchOptions
from es_simhash.plans.find_options import FindOptions, MatchOptions
from es_simhash.plans.open_index import KnownIndex
from tools import ROOT

SOURCE = ROOT / "es_simhash" / "index" / "async_index.py"
INDEX = ROOT / "es_simhash" / "index" / "index.py"

# Awaited of an `AsyncIndex`, and properties of an `Index`.
_PROPERTIES = "engine|documents|indices|without_fields|scheme"
# Patterns, and what replaces them, in this order.
_RULES = {
    r"\A(.*), by .*": r'\1, by an engine that answers at once; see `tools/sync_index.py`."""',
    r"\n *Iterables may be asynchronous\.[^\n]*\n": "",
    r"import Items, OnProgress, async_chunks": "import OnProgress, chunks",
    r"\b(await|async) ": "",
    r"\b(async_|Async)(?=\w)": "",
    r"\bItems\b": "Iterable",
    r"__a(enter|exit)__": r"__\1__",
    rf"\b(index|self)\.({_PROPERTIES})\(\)": r"\1.\2",
    rf"( +)def ({_PROPERTIES})\(self\)": r"\1@property\n\1def \2(self)",
    r"((?:>>>|\.\.\.) *)\((index\b.*)\)\.": r"\1\2.",
    r"return \((self\.\w+)\)": r"return \1",
}
# The options whose fields are the keywords of functions, by the folder that they are in.
_ASKS: dict[str, tuple[type, ...]] = {
    "plans": (KnownIndex, MatchOptions, FindOptions, SearchOptions),
    "live": (RunOptions, UpdateOptions, BackfillOptions, ReindexOptions, EraseOptions),
    "groups": (GroupOptions, WriteOptions),
}


def files() -> dict[Path, str]:
    """Return the generated modules, by their paths."""
    index = SOURCE.read_text(encoding="utf-8")
    for pattern, by in _RULES.items():
        index = re.sub(pattern, by, index)
    keywords = {_path(folder): _formatted(_keywords(asks)) for folder, asks in _ASKS.items()}
    return {INDEX: _formatted(index), **keywords}


def _path(folder: str) -> Path:
    return ROOT / "es_simhash" / folder / "keywords.py"


def _keywords(asks: tuple[type, ...]) -> str:
    """Return the module with a `TypedDict` for the fields of each ask, which have their defaults and docs there."""
    imports = sorted({line for ask in asks for line in _imports(ask)})
    return "\n".join(
        (
            '"""The keywords of functions, by the values that they make; see `tools/sync_index.py`."""',
            "from __future__ import annotations",
            "from typing import TYPE_CHECKING, TypedDict",
            "if TYPE_CHECKING:",
            *(f"    {line}" for line in imports),
            *(line for ask in asks for line in _typed_dict(ask, asks)),
        )
    )


def _typed_dict(ask: type, asks: tuple[type, ...]) -> Iterator[str]:
    base = ask.__base__
    yield f"class {_name(ask)}({_name(base) if base in asks else 'TypedDict'}, total=False):"
    yield f'    """The fields of `{ask.__name__}`."""\n'
    yield from (f"    {each.name}: {each.metadata.get('keyword', each.type)}" for each in _own_fields(ask))


def _name(ask: type) -> str:
    return f"{re.sub('Options$', '', ask.__name__)}Keywords"


def _own_fields(ask: type) -> list[Any]:
    return [each for each in fields(ask) if each.name in ask.__annotations__]


def _imports(ask: type) -> Iterator[str]:
    """Yield an import of each name in the types of the fields, from where its module has it."""
    names = {name for each in _own_fields(ask) for name in re.findall(r"[A-Za-z_]\w+", each.type)}
    tree = ast.parse(inspect.getsource(sys.modules[ask.__module__]))
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            yield from (f"from {node.module} import {each.name}" for each in node.names if each.name in names)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id in names:
            yield f"from {ask.__module__} import {node.target.id}"
        elif isinstance(node, ast.ClassDef) and node.name in names:
            yield f"from {ask.__module__} import {node.name}"


def _formatted(source: str) -> str:
    for command in (["check", "--fix-only", "--unsafe-fixes", "--select", "I,F401,UP028"], ["format"]):
        ruff = ["ruff", *command, "--quiet", "--stdin-filename", str(INDEX), "-"]
        done = subprocess.run([sys.executable, "-m", *ruff], input=source, capture_output=True, text=True, check=True)
        source = done.stdout
    return source


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
