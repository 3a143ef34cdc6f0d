"""A file of news in the current folder, and an index to load it into."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.rest_engines import new_name
from tools.nodes import Node

LINES = "".join(f'{{"id": "{i}", "body": "A storm hit the coast of the land on day {i // 2}."}}\n' for i in range(60))


def index_of_news(node: Node, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the name of an index of a node, with ``news.jsonl`` in the folder that is then the current one."""
    monkeypatch.chdir(folder)
    Path("news.jsonl").write_text(LINES, encoding="utf-8")
    name = new_name()
    yield name
    node.request("DELETE", f"/{name}")
