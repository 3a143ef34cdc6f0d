"""Imports point one way (`tests/layers.py` has the order)."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import es_simhash
from tests import ROOT
from tests.layers import LAYERS

ORDER = [*LAYERS, "__main__", "__init__"]
PACKAGE = Path(es_simhash.__file__).parent

# The core is importable, and works, with numpy alone.
ALLOWED_AT_IMPORT = {"msgspec", "numpy"}
# Modules that are themselves imported only where they are used may import what they are made for.
LOADED_WHEN_NEEDED = {
    "engines": {"tantivy", "elasticsearch", "opensearchpy"},
    "testing": {"pytest"},
    "cli": {"click"},
    "integrations": {"langchain_core", "llama_index", "haystack", "mcp", "pydantic", "pyspark", "pyarrow"},
    "live/gate/connections.py": {"uvicorn"},
}


def loaded_when_needed(path: Path) -> set[str]:
    place = path.relative_to(PACKAGE)
    return set().union(*(LOADED_WHEN_NEEDED.get(name, set()) for name in (place.parts[0], str(place))))


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def unit(parts: tuple[str, ...]) -> str:
    """The module or subpackage, directly below the root, that an import is of."""
    return parts[1] if len(parts) > 1 else "__init__"


def unit_of_file(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported(path: Path, everywhere: bool) -> Iterator[tuple[str, ...]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree) if everywhere else tree.body:
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = tuple((node.module or "").split("."))
            yield from ((*base, alias.name) if base == ("es_simhash",) else base for alias in node.names)


def test_every_folder_has_its_place() -> None:
    assert sorted({unit_of_file(path) for path in modules()}) == sorted(ORDER)


def test_imports_point_one_way() -> None:
    for path in modules():
        here = unit_of_file(path)
        targets = {unit(parts) for parts in imported(path, everywhere=True) if parts[0] == "es_simhash"}
        wrong = {target for target in targets if ORDER.index(target) > ORDER.index(here)}
        assert not wrong, f"{path} imports {wrong}, which stand after {here}"
        assert "__init__" not in targets, f"{path} imports the package root, which nothing does"


def test_the_core_needs_nothing_but_msgspec_and_numpy_to_be_imported() -> None:
    for path in modules():
        allowed = ALLOWED_AT_IMPORT | loaded_when_needed(path)
        known = {"es_simhash", *sys.stdlib_module_names}
        assert {parts[0] for parts in imported(path, everywhere=False)} - known <= allowed, path


def test_the_paths_in_the_settings_of_the_project_exist() -> None:
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8") + (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"\b(?:es_simhash|tests|tools)/[\w./*]*\w", settings))
    assert len(named) > 10
    assert not [path for path in named if not list(ROOT.glob(path))]
