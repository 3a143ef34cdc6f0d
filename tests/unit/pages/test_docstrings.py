"""Examples in docstrings are run, and each public member has one.

In those of public names, `index` is an embedded index of three documents, `rows`; and other names stand for the usual.
"""

from __future__ import annotations

import asyncio
import doctest
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import polars
import pytest

import es_simhash
from es_simhash import Documents, Frame, Index, Scheme, dedup
from tests import ROOT

STORM = "The storm has left many houses along the coast without power since Monday night."
ROWS = [
    {"_id": "1", "title": "Storm", "body": STORM, "published": "2026-11-02"},
    {"_id": "2", "title": "Storm", "body": f"{STORM} Crews work.", "published": "2026-11-01"},
    {
        "_id": "3",
        "title": "Festival",
        "body": "A festival of light music begins in the old town this weekend.",
        "published": "2026-11-03",
    },
]
FIELDS = ["title", "body"]
PUBLIC = {name: getattr(es_simhash, name) for name in es_simhash.__all__ if name != "__version__"}
MEMBERS = sorted(name for name in ("__doc__", *vars(Index)) if not name.startswith("_") or name == "__doc__")
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in (ROOT / "es_simhash").rglob("*.py")
    if path.parent.name != "index" and ">>>" in path.read_text(encoding="utf-8")
)


def filled(folder: Path) -> Index:
    index = Index("articles", folder, fields=FIELDS)
    index.init()
    index.add(ROWS, refresh=True)
    return index


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    monkeypatch.chdir(tmp_path)
    with filled(tmp_path / "nodes") as index:
        yield index


def names(example: doctest.DocTest, folder: Path) -> dict[str, Any]:
    """What the examples of public names may name; the module's own names come first."""
    scheme = Scheme()
    frame = polars.DataFrame({"sku": [7, 8], "name": ["Rain coat", "Umbrella"], "price": [30, 20]})
    usual = {
        "asyncio": asyncio,
        "documents": Documents(scheme, FIELDS),
        "frame": Frame(frame, fields=["name"], id_field="sku"),
        **({"index": filled(folder)} if re.search(r"\bindex\.", str(example.docstring)) else {}),
        "rows": ROWS,
        "scheme": scheme,
        "text": STORM,
        **({"groups": dedup(ROWS, fields=FIELDS)} if "groups" in str(example.docstring) else {}),
    }
    return {**PUBLIC, **example.globs, **usual}


@pytest.mark.parametrize("member", MEMBERS)
def test_the_example_of_each_member_of_an_index_shows_what_it_does(index: Index, member: str) -> None:
    docstring = Index.__doc__ if member == "__doc__" else getattr(Index, member).__doc__
    example = doctest.DocTestParser().get_doctest(docstring or "", {"Index": Index, "index": index}, member, None, 0)
    assert example.examples
    assert not doctest.DocTestRunner().run(example).failed


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_modules_show_what_they_do(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = [each for each in doctest.DocTestFinder().find(import_module(module)) if each.examples]
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for number, example in enumerate(found):
        example.globs = names(example, tmp_path / str(number))
        runner.run(example)
    assert found
    assert not runner.failures


def test_each_public_member_has_an_example() -> None:
    without = []
    for name, value in PUBLIC.items():
        if inspect.isclass(value):
            shown = {name: value, **{f"{name}.{each}": getattr(value, each) for each in methods(value)}}
        else:
            shown = {name: value} if inspect.isfunction(value) else {}
        without += [path for path in shown if not has_example(value, path.partition(".")[2] or None)]
    assert without == []


def methods(kind: type) -> list[str]:
    """The methods of a class that are ours: not its fields, nor what a base of the language brings."""
    fields = getattr(kind, "__dataclass_fields__", {})
    return [
        each
        for each in dir(kind)
        if not each.startswith("_") and each not in fields and inspect.isroutine(getattr(kind, each))
        if getattr(getattr(kind, each), "__module__", "").startswith("es_simhash")
    ]


def has_example(value: Any, method: str | None) -> bool:
    """Whether there is an example, if need be where the method is first defined."""
    if method is None:
        return ">>>" in (value.__doc__ or "")
    return any(">>>" in (getattr(vars(base).get(method), "__doc__", "") or "") for base in value.__mro__)
