"""The documentation does what it says: every block of code in it runs, or says why not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from es_simhash.scheme.settings import PRESETS
from tests import ROOT
from tests.support.cli_lines import check_options
from tests.support.documentation import PAGES, PICTURES, RUN, Page, commands, read
from tests.support.page_running import run_page
from tools.nodes import Node

READ = [read(path) for path in PAGES]
all_pages = pytest.mark.parametrize("page", READ, ids=lambda page: str(page.path.relative_to(ROOT)))


def of(place: str) -> pytest.MarkDecorator:
    """Return the pages that run on ``place``; those on Spark are run by the tests of that."""
    pages = [page for page in READ if page.place == place and page.is_run]
    return pytest.mark.parametrize("page", pages, ids=lambda page: str(page.path.relative_to(ROOT)))


def on_servers() -> Iterator[Any]:
    """Yield the pages that run on servers, each with both: `make test` has time for one of them, by turns."""
    for number, page in enumerate(page for page in READ if page.place == "servers" and page.is_run):
        for turn, server in enumerate(("elasticsearch", "opensearch")):
            marks = () if turn == number % 2 else pytest.mark.nightly
            yield pytest.param(server, page, id=f"{server}-{page.path.relative_to(ROOT)}", marks=marks)


@of("embedded")
def test_the_page_runs_on_the_embedded_engine(page: Page, tmp_path: Path) -> None:
    run_page(page, tmp_path)


@pytest.mark.each_server
@pytest.mark.parametrize(("server", "page"), [*on_servers()])
def test_the_page_runs_on_servers(page: Page, server: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    node: Node = request.getfixturevalue(f"{server}_node")
    run_page(page, tmp_path, node)


@of("opensearch")
def test_the_page_runs_on_opensearch(page: Page, opensearch_node: Node, tmp_path: Path) -> None:
    """What it is about is not in the Elasticsearch of the tests."""
    run_page(page, tmp_path, opensearch_node)


@all_pages
def test_every_block_is_run_written_or_shown_or_says_why_not(page: Page) -> None:
    idle = [
        f"line {block.line}: {block.kind}"
        for block in page.blocks
        if not (block.kind in (*RUN, *PICTURES) or block.title or block.not_run)
    ]
    assert idle == []


@all_pages
def test_what_is_not_run_could_be(page: Page) -> None:
    for block in page.blocks:
        if block.kind in ("console", "cron"):
            for command in commands(block):
                check_options(command.line)
        elif block.kind == "python":
            ast.parse(block.text)


@all_pages
def test_links_lead_to_files(page: Page) -> None:
    prose = re.sub(r"^```.*?^```", "", page.text, flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\]\((?!https?:)([^)#]+)", prose)
    assert [link for link in links if not (page.path.parent / link).exists()] == []


def test_the_readme_lists_the_presets() -> None:
    rows = "\n".join(f"| `{name}` | {preset.use} |" for name, preset in PRESETS.items())
    assert f"<!-- presets -->\n{rows}\n<!-- end of presets -->" in (ROOT / "README.md").read_text(encoding="utf-8")
