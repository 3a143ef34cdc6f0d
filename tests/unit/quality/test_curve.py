"""Curves: what each threshold would find, counted again one by one."""

from __future__ import annotations

import numpy as np
import pytest

from es_simhash.quality.scores import distance_curve, similarity_curve

SIMILARITIES = np.array([0.9, 0.8, 0.8, 0.61, 0.6, 0.35])
RIGHT = np.array([True, True, False, True, False, False])


def test_each_threshold_of_similarity_has_its_scores() -> None:
    curve = similarity_curve(SIMILARITIES, RIGHT, 4, 0.3)
    assert [point.threshold for point in curve.points][:3] == [0.3, 0.305, 0.31]
    assert curve.points[-1].threshold == 1
    for point in curve.points:
        found = point.threshold - 1e-9 <= SIMILARITIES
        right = int((found & RIGHT).sum())
        assert point.recall == right / 4
        assert point.precision == (pytest.approx(right / found.sum()) if found.any() else None)


def test_the_best_threshold_is_in_the_middle_of_those_that_are_as_good() -> None:
    curve = similarity_curve(SIMILARITIES, RIGHT, 4, 0.3)
    assert curve.best is not None
    assert [curve.best.threshold, curve.best.f1] == pytest.approx([0.61, 6 / 8])
    many = similarity_curve(np.array([0.9, 0.5]), np.array([True, False]), 1, 0.3).best
    assert many is not None
    assert many.threshold == pytest.approx(0.7, abs=0.01)
    assert curve.at(0.6001) is not None
    assert curve.at(0.1) is None


def test_each_number_of_bits_has_its_scores() -> None:
    curve = distance_curve(np.array([0, 1, 1, 3]), np.array([True, True, False, True]), 4, 3)
    found = [(point.threshold, point.precision, point.recall) for point in curve.points]
    assert found == [(0, 1, 0.25), (1, pytest.approx(2 / 3), 0.5), (2, pytest.approx(2 / 3), 0.5), (3, 0.75, 0.75)]
    assert curve.best is not None
    assert curve.best.threshold == 3


def test_nothing_that_is_right_has_no_best_threshold() -> None:
    assert similarity_curve(np.empty(0), np.empty(0, np.bool_), 0, 0.3).best is None
