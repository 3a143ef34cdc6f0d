"""Imports point one way (`tests/layers.py` has the order)."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import es_simhash
from tests import ROOT
from tests.layers import CORE, LAYERS, OPTIONAL

ORDER = [*LAYERS, "__main__", "__init__"]
PACKAGE = Path(es_simhash.__file__).parent

# The core is importable, and works, with numpy alone.
ALLOWED_AT_IMPORT = {"msgspec", "numpy"}
# Modules that are themselves imported only where they are used may import what they are made for.
LOADED_WHEN_NEEDED = {
    "engines": {"tantivy", "elasticsearch", "opensearchpy"},
    "cli": {"click"},
    "integrations": {"langchain_core", "llama_index", "haystack", "mcp", "pydantic", "pyspark", "pyarrow"},
    "gate/server.py": {"uvicorn"},
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


def test_what_is_optional_stands_apart() -> None:
    """The core imports none of it, no optional folder another, and verbs import one only where they run it."""
    for path in modules():
        here = unit_of_file(path)
        if here in OPTIONAL:
            assert not optional(path, everywhere=True) - {here}, path
        elif here in CORE or path.parent.name == "commands":
            assert not optional(path, everywhere=here in CORE), path


def optional(path: Path, everywhere: bool) -> set[str]:
    targets = {unit(parts) for parts in imported(path, everywhere) if parts[0] == "es_simhash"}
    return targets & set(OPTIONAL)


VERBS = """
import sys
from pathlib import Path
from click.testing import CliRunner
import es_simhash
from es_simhash.cli.program import app

storm = "The storm has left many houses along the coast without power since Monday night."
Path("news.jsonl").write_text(f'{{"id": "1", "text": "{storm}"}}\\n{{"id": "2", "text": "{storm}"}}\\n')
Path("new.json").write_text("{}")
for line in ("--url . init news --field text --create new.json", "--url . load news news.jsonl --id-field id",
             "--url . find news --id 1", "--url . group news", "dedup news.jsonl"):
    done = CliRunner().invoke(app, line.split())
    assert done.exit_code == 0, (line, done.output)
print(sorted({name.split(".")[1] for name in sys.modules if name.startswith("es_simhash.")}))
"""


def test_find_group_and_dedup_load_nothing_optional(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", VERBS], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    loaded = set(ast.literal_eval(done.stdout))
    assert {"groups", "index"} <= loaded
    assert not loaded & set(OPTIONAL)


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
