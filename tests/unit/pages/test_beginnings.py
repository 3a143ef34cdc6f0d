"""Each page of the documentation begins with an example: a command and its output, a request, or code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import ROOT
from tests.support.documentation import PICTURES, RUN, Block, Page, read

DOCS = ROOT / "docs"
GENERATED = {
    DOCS / name
    for name in (
        "benchmarks.md",
        "cli.md",
        "quality.md",
        "reference/limits.md",
        "reference/modules.md",
        "reference/python.md",
        "scale.md",
        "soak.md",
    )
}
PAGES = [read(path) for path in sorted(DOCS.rglob("*.md")) if path not in GENERATED]
AGAIN = "shown again below"

_SENTENCE = re.compile(r"[.!?](?=\s|$)|[。！？]|[:：]$|^ *(?:[-|]|\d+\.) ", re.MULTILINE)
_FENCED = re.compile(r"^( *)(`{3,}).*?^\1\2 *$", re.MULTILINE | re.DOTALL)
_HIDDEN = re.compile(r"<!--.*?-->", re.DOTALL)
_NO_PROSE = re.compile(r"^(#|<|!\[|--8<--).*?$", re.MULTILINE)

all_pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.path.relative_to(DOCS)))


def visible(page: Page) -> str:
    """Return the text of a page without comments, but with as many lines."""
    return _HIDDEN.sub(lambda found: "\n" * found[0].count("\n"), page.text)


def is_example(block: Block) -> bool:
    """Return whether a block shows more than a preparation; commands that are run show what they print."""
    if block.kind != "console":
        return block.kind not in PICTURES
    lines = block.text.splitlines()
    if block.not_run:
        return any(not line.startswith(("$ export ", "$ pip ")) for line in lines)
    return bool(block.output) or any(not line.startswith(("$ ", "# exit")) for line in lines)


def before_the_example(page: Page) -> str:
    """Return what a page says before its first example, without code; all of it if there is no example."""
    lines = visible(page).splitlines()
    shown = (block for block in page.blocks if lines[block.line - 1].lstrip().startswith("```") and is_example(block))
    first = next(shown, None)
    before = "\n".join(lines[: first.line - 1] if first else lines)
    return _NO_PROSE.sub("", _FENCED.sub("", before))


@all_pages
def test_a_page_begins_with_an_example(page: Page) -> None:
    assert len(_SENTENCE.findall(before_the_example(page))) <= 2


@all_pages
def test_an_example_that_is_shown_early_is_run_below(page: Page) -> None:
    for number, block in enumerate(page.blocks):
        if block.not_run == AGAIN:
            assert any(
                later.kind in RUN and not later.not_run and block.text in later.text
                for later in page.blocks[number + 1 :]
            ), block.line


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("# A\n\nOne. Two.\n\n```python\n1\n```\n\nThree. Four.\n", 2),
        ("# A\n\nOne. Two. Three.\n\n```python\n1\n```\n", 3),
        ("# A\n\nSet it:\n\n```console\n$ export A=1\n```\n\nOne.\n\n```console\n$ ls\na\n```\n", 2),
        ("# A\n\n<!-- Hidden. It. Is.\n```python\n1\n```\n-->\n\n```text\nA picture.\n```\n\nOne. Two. Three.\n", 3),
        ("# A\n\n- one\n- two\n- three\n\n```http\nGET /\n```\n", 3),
    ],
)
def test_prose_is_counted_up_to_the_first_example(text: str, sentences: int, tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(text, encoding="utf-8")
    assert len(_SENTENCE.findall(before_the_example(read(path)))) == sentences
