"""Numbers as people read them."""

from __future__ import annotations

from es_simhash._core.humanize import counted, with_error


def test_one_thing_is_not_many() -> None:
    assert [counted(count, "bit") for count in (0, 1, 2, 1_000)] == ["0 bits", "1 bit", "2 bits", "1,000 bits"]
    assert [counted(count, "copy was", "copies were") for count in (1, 2)] == ["1 copy was", "2 copies were"]


def test_what_is_exact_has_no_error() -> None:
    assert with_error(0.8125, None, 3) == "0.812"


def test_what_is_estimated_says_how_far_off_it_may_be() -> None:
    assert with_error(0.8125, 0.031, 2) == "0.81 ± 0.03"
