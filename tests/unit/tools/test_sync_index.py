"""`Index` is what `tools.sync_index` makes of `AsyncIndex`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import sync_index


@pytest.mark.parametrize("path", [sync_index.INDEX, sync_index.KEYWORDS], ids=lambda path: path.name)
def test_generated_modules_are_those_that_the_tool_writes(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == sync_index.files()[path], "python -m tools.sync_index"
