"""The documentation of the command line, the installation and the messages is correct."""

from __future__ import annotations

import ast
import re
import sys

from es_simhash.cli.options.target import SETTINGS
from tests import ROOT
from tests.support.documentation import commands, read

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PAGE = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
RUNBOOK = (ROOT / "docs" / "backfill.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def part(name: str, page: str = PAGE) -> str:
    """A part of a page that is marked."""
    return page.split(f"<!-- {name} -->")[1].split(f"<!-- end of {name} -->", maxsplit=1)[0]


def test_the_runbook_quotes_what_is_said() -> None:
    modules = [path.read_text(encoding="utf-8") for path in (ROOT / "es_simhash").rglob("*.py")]
    nodes = [node for module in modules for node in ast.walk(ast.parse(module)) if isinstance(node, ast.Constant)]
    said = "\n".join(node.value for node in nodes if isinstance(node.value, str))
    quoted = re.findall(r"^\| `([^`]+)` \|", part("messages", RUNBOOK), re.MULTILINE)
    assert len(quoted) > 9
    assert [text for text in quoted if text not in said] == []


def test_the_installation_names_existing_extras_and_packages() -> None:
    blocks = [block for block in read(ROOT / "README.md").blocks if block.kind == "console"]
    typed = " ".join(command.line for block in blocks for command in commands(block))
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(re.findall(r"make ([a-z-]+)", typed)) <= set(targets)
    extras = {name for group in re.findall(r"\[([a-z0-9,]+)\]", typed) for name in group.split(",")}
    assert extras <= set(PROJECT["project"]["optional-dependencies"])
    assert set(re.findall(r"--group (\w+)", typed)) <= set(PROJECT["dependency-groups"])


def test_no_two_extras_install_the_same() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    assert len({tuple(sorted(needed)) for needed in extras.values()}) == len(extras)


def test_the_project_names_every_python_that_it_is_tested_on() -> None:
    named = {each.rpartition(" ")[2] for each in PROJECT["project"]["classifiers"] if ":: 3." in each}
    workflow = "".join(path.read_text(encoding="utf-8") for path in (ROOT / ".github" / "workflows").glob("*.yml"))
    assert set(re.findall(r"\b3\.1\d\b", workflow)) <= named
    assert "3.14" in named


def test_the_page_has_every_setting_of_profiles() -> None:
    assert re.findall(r"^\| `(\w+)` \|", part("profiles"), re.MULTILINE) == list(SETTINGS)
