"""`Index` is what `tools.sync_index` makes of `AsyncIndex`."""

from __future__ import annotations

from tools import sync_index


def test_generated_modules_are_those_that_the_tool_writes() -> None:
    for path, made in sync_index.files().items():
        assert path.read_text(encoding="utf-8") == made, "python -m tools.sync_index"
