"""How often Python looks for cyclic garbage while jobs run."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from es_simhash._core.batches import rarely_collected


@pytest.fixture(autouse=True)
def thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_garbage_is_looked_for_rarely_until_the_last_job_has_ended() -> None:
    gc.set_threshold(600, 9, 8)
    with rarely_collected():
        assert gc.get_threshold() == (50_000, 9, 8)
        with pytest.raises(ValueError, match="inner"), rarely_collected():
            raise ValueError("inner")
        assert gc.get_threshold() == (50_000, 9, 8)
    assert gc.get_threshold() == (600, 9, 8)


@pytest.mark.parametrize("first", [0, 1_000_000])
def test_a_caller_that_looks_even_less_often_is_left_alone(first: int) -> None:
    gc.set_threshold(first)
    with rarely_collected():
        assert gc.get_threshold()[0] == first
    assert gc.get_threshold()[0] == first
