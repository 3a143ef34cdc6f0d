"""Notebooks run from the first cell to the last in a kernel of Jupyter, with the results that are stored in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.notebook_pages import NOTEBOOKS, executed

pytest.importorskip("nbclient")


@pytest.mark.filterwarnings("default")  # what a kernel and its client warn of is not ours
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_has_the_results_of_its_cells(path: Path) -> None:
    stored = path.read_text(encoding="utf-8")
    found = executed(path)
    assert json.loads(found) == json.loads(stored)
    assert found == stored, "write it by tools.notebook_pages"
