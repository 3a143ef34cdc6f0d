"""The compiled kernels know of Unicode what the project's own data and Python say."""

from __future__ import annotations

from tools.native_tables import TARGET, tables


def test_the_tables_are_what_the_tool_writes() -> None:
    assert tables() == TARGET.read_text(encoding="ascii"), "python -m tools.native_tables"
