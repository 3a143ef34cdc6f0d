"""Predictions are the pairs of all copies, with their reasons, as a deduplication of unequal texts finds them."""

from __future__ import annotations

import numpy as np
import pytest

from es_simhash.groups.of_texts import group_texts
from es_simhash.groups.options import GroupOptions
from es_simhash.groups.pairs.candidates import pair_codes, positions
from es_simhash.groups.pairs.stored_rows import Numbers
from es_simhash.quality.predictions import PredictedPairs, first_positions, predict_pairs
from es_simhash.scheme.scheme import Scheme
from tests.support.corpus import corpus, edited

TEXT = corpus(1)[0]["body"]
NEAR, OTHER = edited(corpus(1)[0], 2)["body"], corpus(2)[1]["body"]
TEXTS = [TEXT, NEAR, TEXT, "", OTHER, NEAR, NEAR, "", OTHER]


def found(texts: list[str], **near: object) -> PredictedPairs:
    scheme = Scheme(verification=None)
    documents = ((str(i), text) for i, text in enumerate(texts))
    with group_texts(documents, scheme, GroupOptions(threads=1, **near)) as duplicates:  # type: ignore[arg-type]
        return predict_pairs(duplicates, first_positions(texts))


def listed(pairs: Numbers) -> list[tuple[int, int]]:
    return list(zip(*(side.tolist() for side in positions(pairs)), strict=True))


def test_every_copy_of_a_text_is_near_whatever_the_text_is_near() -> None:
    together = [0, 1, 2, 5, 6]
    expected = [(a, b) for a in together for b in together if a < b]
    predicted = found(TEXTS)
    assert listed(predicted.pairs) == sorted([*expected, (4, 8)])
    exact = Scheme(verification=None).exact_jaccard(TEXT, NEAR)
    similarities = dict(zip(listed(predicted.pairs), predicted.similarities.tolist(), strict=True))
    assert similarities[0, 2] == similarities[5, 6] == similarities[4, 8] == 1
    assert {similarities[pair] for pair in ((0, 1), (0, 5), (1, 2), (2, 6))} == {similarities[0, 1]}
    assert similarities[0, 1] == pytest.approx(exact, abs=0.15)
    assert (predicted.distances == -1).all()


def test_distances_are_predicted_where_they_count() -> None:
    predicted = found(TEXTS, distance=3, by="simhash")
    at = listed(predicted.pairs)
    assert (4, 8) in at
    assert predicted.distances[at.index((4, 8))] == 0
    assert np.isnan(predicted.similarities).all()


def test_pairs_that_are_not_near_have_no_similarity() -> None:
    predicted = found(TEXTS)
    asked = pair_codes(np.array([0, 0, 3]), np.array([2, 4, 7]))
    known = predicted.of(asked)
    assert known.similarities[0] == 1
    assert np.isnan(known.similarities[1:]).all()
    assert known.are_exact.tolist() == [True, False, False]
    assert known.distances.tolist() == [-1, -1, -1]
    assert np.isnan(PredictedPairs.unknown(asked[:0]).of(asked).similarities).all()


def test_where_nothing_is_near_nothing_is_predicted() -> None:
    assert listed(found([TEXT, OTHER, ""]).pairs) == []
    assert listed(found([]).pairs) == []
