"""Examples in docstrings are run, those of `Index` on an embedded engine."""

from __future__ import annotations

import doctest
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from es_simhash import Index
from tests import ROOT

STORM = "The storm has left many houses along the coast without power since Monday night."
DOCUMENTS = [
    {"_id": "1", "title": "Storm", "body": STORM},
    {"_id": "2", "title": "Storm", "body": f"{STORM} Crews work."},
    {"_id": "3", "title": "Festival", "body": "A festival of light music begins in the old town this weekend."},
]
MEMBERS = sorted(name for name in ("__doc__", *vars(Index)) if not name.startswith("_") or name == "__doc__")
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in (ROOT / "es_simhash").rglob("*.py")
    if path.parent.name != "index" and ">>>" in path.read_text(encoding="utf-8")
)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    monkeypatch.chdir(tmp_path)
    with Index("articles", tmp_path / "nodes", fields=["title", "body"]) as index:
        index.init()
        index.add(DOCUMENTS, refresh=True)
        yield index


@pytest.mark.parametrize("member", MEMBERS)
def test_the_example_of_each_member_of_an_index_shows_what_it_does(index: Index, member: str) -> None:
    docstring = Index.__doc__ if member == "__doc__" else getattr(Index, member).__doc__
    example = doctest.DocTestParser().get_doctest(docstring or "", {"Index": Index, "index": index}, member, None, 0)
    assert example.examples
    assert not doctest.DocTestRunner().run(example).failed


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_modules_show_what_they_do(module: str) -> None:
    assert not doctest.testmod(import_module(module)).failed
