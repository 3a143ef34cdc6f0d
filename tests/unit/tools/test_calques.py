"""What is written in the repository has none of the phrases of `tools.calques`."""

from __future__ import annotations

from tools.calques import PENDING, calques


def test_nothing_is_written_in_calques() -> None:
    assert not [each for each in calques() if not each.startswith(PENDING)], "python -m tools.calques"
