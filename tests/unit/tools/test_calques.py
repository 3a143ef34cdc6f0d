"""What is written in the repository has none of the phrases of `tools.calques`."""

from __future__ import annotations

from tools.calques import calques


def test_nothing_is_written_in_calques() -> None:
    assert not list(calques()), "tools/calques.py says what to write instead"
