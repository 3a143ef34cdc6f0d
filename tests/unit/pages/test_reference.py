"""The reference has what there is: all public names, the variables that are read, the fields, the exit codes."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from types import ModuleType

import pytest

import es_simhash
from es_simhash import gate, quality, sketches, text
from es_simhash._core import environment
from tests import ROOT
from tests.support.documentation import PAGES, read
from tools import reference_tables

REFERENCE = ROOT / "docs" / "reference"


def documented(page: str) -> set[str]:
    """What a page has rendered from docstrings; that all of these exist is seen to when the site is built."""
    return set(re.findall(r"^::: ([\w.]+)$", (REFERENCE / page).read_text(encoding="utf-8"), re.MULTILINE))


def test_the_page_about_python_has_the_public_names_and_no_others() -> None:
    packages = (es_simhash, quality, text)
    assert documented("python.md") == {f"{each.__name__}.{name}" for each in packages for name in each.__all__}


@pytest.mark.parametrize("package", [gate, sketches], ids=lambda package: package.__name__)
def test_the_page_about_modules_has_the_other_public_names(package: ModuleType) -> None:
    assert {f"{package.__name__}.{name}" for name in package.__all__} <= documented("modules.md")


def test_pages_import_public_names_only() -> None:
    public = re.compile(r"es_simhash(\.(errors|gate|quality|text|sketches(\.minhash)?|integrations\.\w+))?")
    deep = {
        (path.name, node.module)
        for path in PAGES
        for block in read(path).blocks
        if block.kind == "python"
        for node in ast.walk(ast.parse(block.text))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("es_simhash")
        if not public.fullmatch(node.module or "")
    }
    assert deep == set()


def examples() -> list[ast.AST]:
    """Return the nodes of all examples that are run."""
    run = [block for path in PAGES for block in read(path).blocks if block.kind == "python" and not block.not_run]
    return [node for block in run for node in ast.walk(ast.parse(block.text))]


@pytest.mark.parametrize("kind", [es_simhash.Scheme, es_simhash.Documents, text.IdfTable])
def test_every_method_has_an_example_that_is_run(kind: type) -> None:
    named = {node.attr for node in examples() if isinstance(node, ast.Attribute)}
    public = {name for name in vars(kind) if not name.startswith("_")}
    assert public - named == set()


def test_every_public_sketch_has_an_example_that_is_run() -> None:
    named = {node.id for node in examples() if isinstance(node, ast.Name)}
    made_by_others = {"Search", "SearchResult"}
    assert set(sketches.__all__) - made_by_others <= named


def test_paths_on_the_page_about_architecture_exist() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:es_simhash|docs|tests)/[\w/.]+)`", page)
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", reference_tables.TABLES, ids=lambda page: page.name)
def test_tables_are_those_of_the_code(page: Path) -> None:
    assert reference_tables.with_tables(page) == page.read_text(encoding="utf-8")


def test_every_variable_that_is_read_is_in_the_table() -> None:
    """Modules take their names from `es_simhash._core.environment`, but for what a message says."""
    named = re.compile("(ES_SIMHASH|ELASTICSEARCH|OPENSEARCH|XDG)_[A-Z_]+")
    literals = {
        node.value
        for path in (ROOT / "es_simhash").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and named.fullmatch(node.value)
        if path.name != "environment.py"
    }
    assert literals == set()
    constants = {value for value in vars(environment).values() if isinstance(value, str) and named.fullmatch(value)}
    assert constants | set(environment.URLS) <= set(environment.MEANINGS)
