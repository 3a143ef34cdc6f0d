"""Intervals: the same for the same seed, around the value, and as wide as theory has them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from es_simhash.quality.scores import Bootstrap, Estimate, Many, times_of_pairs

RIGHT = np.arange(400) % 4 != 0


def mean(times: Many) -> Mapping[str, float]:
    return {"mean": float((times * RIGHT).sum() / times.sum())}


def test_the_interval_of_a_share_is_that_of_the_binomial_distribution() -> None:
    found = Bootstrap(2000).estimates(400, mean)["mean"]
    error = 1.96 * np.sqrt(0.75 * 0.25 / 400)
    assert found.value == 0.75
    assert (found.low, found.high) == pytest.approx((0.75 - error, 0.75 + error), abs=0.006)


def test_samples_depend_on_the_seed_alone() -> None:
    assert Bootstrap(50).estimates(400, mean) == Bootstrap(50).estimates(400, mean)
    assert Bootstrap(50, seed=1).estimates(400, mean) != Bootstrap(50).estimates(400, mean)


def test_every_sample_has_as_many_clusters() -> None:
    assert {int(times.sum()) for times in Bootstrap(20).samples(7)} == {7}


def test_there_are_not_intervals_without_samples_or_without_meaning() -> None:
    assert Bootstrap(0).estimates(400, mean)["mean"] == Estimate(0.75)
    assert Bootstrap(5).estimates(3, lambda _: {"none": float("nan")})["none"] == Estimate(None)


def test_a_pair_comes_as_often_as_its_clusters_do() -> None:
    times = np.array([0.0, 2.0, 3.0])
    found = times_of_pairs(times, np.array([0, 1, 1, 2]), np.array([1, 1, 2, 2]))
    assert found.tolist() == [0, 2, 6, 3]
