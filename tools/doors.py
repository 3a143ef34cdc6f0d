"""Doors: the entries at the root of the package whose functions run while data takes one of its ways.

``python -m tools.doors WAY ENTRY`` lists the functions of an entry that run.
"""

from __future__ import annotations

import inspect
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from click.testing import CliRunner

from es_simhash import Index, Scheme
from es_simhash.cli.program import app
from es_simhash.gate import Gate
from es_simhash.gate.requests import AskedDocument

_TEXT = "A storm hit the coast last night. Trains stood still, and thousands of homes had no light until the morning."
_DOCUMENTS = [
    {"_id": str(i), "title": f"Storm {name}", "body": _TEXT} for i, name in enumerate(("one", "two", "three", "four"))
]
_FIELDS = ["title", "body"]


def _fingerprint(folder: Path) -> None:
    Scheme().fingerprint(_TEXT)


def _add(folder: Path) -> None:
    with Index("articles", folder, fields=_FIELDS) as index:
        index.add(_DOCUMENTS, refresh=True)


def _find(folder: Path) -> None:
    with Index("articles", folder) as index:
        assert index.find(id="0")


def _remove(folder: Path) -> None:
    with Index("articles", folder) as index:
        index.remove_fields()


def _backfill(folder: Path) -> None:
    with Index("articles", folder, fields=_FIELDS) as index:
        assert index.backfill().written == len(_DOCUMENTS)


def _explain(folder: Path) -> None:
    with Index("articles", folder) as index:
        assert index.explain("0", "1").verdict.are_duplicates


def _group(folder: Path) -> None:
    with Index("articles", folder) as index, index.group() as grouped:
        index.write_groups(grouped)


def _gate(folder: Path) -> None:
    with Gate("articles", folder, state=folder / "gate") as gate:
        assert gate.answer([AskedDocument({"_id": "new", "body": _TEXT})])


def _dedup(folder: Path) -> None:
    (folder / "news.jsonl").write_text("".join(f'{{"id": {i}, "text": "{_TEXT}"}}\n' for i in range(3)))
    result = CliRunner().invoke(app, ["dedup", str(folder / "news.jsonl")])
    assert result.exit_code == 0, result.output


def _init(folder: Path) -> None:
    with Index("articles", folder, fields=_FIELDS) as index:
        index.init()


# Each way, after what must have been done before it.
WAYS: dict[str, tuple[Callable[[Path], None], ...]] = {
    "fingerprint": (_fingerprint,),
    "add": (_init, _add),
    "find": (_init, _add, _find),
    "explain": (_init, _add, _explain),
    "backfill": (_init, _add, _remove, _init, _backfill),
    "group": (_init, _add, _group),
    "gate": (_init, _add, _gate),
    "dedup": (_dedup,),
}


def doors(way: str) -> dict[str, set[str]]:
    """Run a way under a tracer and return the functions that it called, by entry at the root of the package."""
    for _ in range(2):  # the first run imports what is imported late
        with tempfile.TemporaryDirectory() as name:
            *before, last = WAYS[way]
            for each in before:
                each(Path(name))
            found = _traced(last, Path(name))
    return found


def _traced(work: Callable[[Path], None], folder: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}

    def called(frame: FrameType, event: str, _: Any) -> None:
        """Note a call; the bodies of modules and classes, which imports run, are not optimized."""
        if event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            module = str(frame.f_globals.get("__name__", ""))
            if module.startswith("es_simhash."):
                name = f"{module.removeprefix('es_simhash.')}:{frame.f_code.co_name}"
                found.setdefault(module.split(".")[1], set()).add(name)

    threading.setprofile(called)
    sys.setprofile(called)
    try:
        work(folder)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found


if __name__ == "__main__":
    for function in sorted(doors(sys.argv[1])[sys.argv[2]]):
        print(function)
