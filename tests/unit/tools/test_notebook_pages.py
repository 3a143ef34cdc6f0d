"""Pages of notebooks show what is stored in them, in forms that the tests of pages run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.documentation import read
from tools.notebook_pages import NOTEBOOKS, page_of


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_the_page_next_to_a_notebook_is_made_of_it(path: Path) -> None:
    assert page_of(path) == path.with_suffix(".md").read_text(encoding="utf-8")
    blocks = [block for block in read(path.with_suffix(".md")).blocks if block.kind == "python"]
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert [block.text.rstrip("\n") for block in blocks] == [
        "".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"
    ]


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


def test_what_is_printed_or_displayed_comes_below_its_cell(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "Text."]},
        {
            "cell_type": "code",
            "source": ["print(1)\n", "value"],
            "outputs": [
                {"output_type": "stream", "text": ["1\n"]},
                {"output_type": "execute_result", "data": {"text/html": ['<p>a\n\n<td style="top">', "b</p>"]}},
            ],
        },
    ]
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    assert page_of(path) == (
        "# Title\nText.\n\n<!-- Made of a.ipynb by tools/notebook_pages.py. -->\n\n"
        "```python\nprint(1)\nvalue\n```\n\n```text\n1\n```\n\n<p>a <td>b</p>\n"
    )
