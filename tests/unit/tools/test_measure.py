"""The bounds of `tools.measure` hold."""

from __future__ import annotations

from tools.measure import numbers


def test_the_numbers_stay_within_their_bounds() -> None:
    missed = [f"{each.name}: {each.value:,g}, at most {each.most:,g}" for each in numbers() if not each.holds]
    assert not missed, "python -m tools.measure"
