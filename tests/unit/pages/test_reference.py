"""The reference has what there is: all public names, the variables that are read, the fields, the exit codes."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import es_simhash
from es_simhash._core import environment
from tests import ROOT
from tests.support.documentation import PAGES, read
from tools import reference_tables

PACKAGE = ROOT / "es_simhash"
REFERENCE = ROOT / "docs" / "reference"


def documented(page: str) -> set[str]:
    """What a page has rendered from docstrings; that all of these exist is seen to when the site is built."""
    text = (REFERENCE / page).read_text(encoding="utf-8")
    whole = re.findall(r"^::: es_simhash\.([\w.]+)\n    options:\n      show_submodules: true$", text, re.MULTILINE)
    modules = {f"es_simhash.{name}.{path.stem}" for name in whole for path in (PACKAGE / name.replace(".", "/")).glob("*.py")}
    return modules | set(re.findall(r"^::: ([\w.]+)$", text, re.MULTILINE))


def test_the_page_about_python_has_the_public_names_and_no_others() -> None:
    names = {f"es_simhash.{name}" for name in es_simhash.__all__}
    assert documented("python.md") == names | {"es_simhash.errors"}  # the tree of them


def test_what_pages_import_is_in_the_reference() -> None:
    every = documented("python.md") | documented("modules.md")
    imported = {
        (node.module, alias.name)
        for path in PAGES
        for block in read(path).blocks
        if block.kind == "python"
        for node in ast.walk(ast.parse(block.text))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("es_simhash")
        for alias in node.names
        if not node.module.startswith("es_simhash.cli.demo")
    }
    public = {("es_simhash", name) for name in es_simhash.__all__}
    missing = {(module, name) for module, name in imported - public if not {module, f"{module}.{name}"} & every}
    assert missing == set()


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
    constants = {value for name, value in vars(environment).items() if name.isupper() and isinstance(value, str)}
    assert constants | set(environment.URLS) <= set(environment.MEANINGS)
