"""Generated signatures are as little alike as those of unrelated texts, and copies as similar as was asked for."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import generated_values
from es_simhash.scheme.settings import MinHash
from es_simhash.sketches.shared_bands import by_chance

SIZE = 200


def agreeing(first: np.ndarray, second: np.ndarray) -> float:
    return float((first == second).mean())


def test_unlike_documents_agree_in_a_twentieth_of_their_values_and_more_within_a_topic() -> None:
    values = generated_values.signatures(np.arange(4_000, dtype=np.uint64), 1_000)
    shares = np.array([(values[0] == other).mean() for other in values[1:]])
    unrelated, of_topic = (similarity for similarity, _ in generated_values.UNRELATED)
    assert np.median(shares) == pytest.approx(unrelated, abs=0.003)
    # One in 500 documents is about the same topic.
    is_of_topic = shares > 0.08
    assert 2 <= is_of_topic.sum() <= 25
    assert shares[is_of_topic].mean() == pytest.approx(of_topic, abs=0.02)


def test_unlike_documents_share_two_keys_about_as_often_as_reviews() -> None:
    bands = MinHash().layout
    assert by_chance(bands, 2, generated_values.UNRELATED) == pytest.approx(by_chance(bands, 2), rel=0.25)


def test_values_are_those_of_the_number_in_whatever_batch_it_is() -> None:
    numbers = np.array([7, 123_456_789, 5], dtype=np.uint64)
    alone = [generated_values.signatures(numbers[i : i + 1], SIZE)[0] for i in range(3)]
    assert np.array_equal(generated_values.signatures(numbers, SIZE), alone)
    assert len(set(generated_values.words(numbers).tolist())) == 3


@pytest.mark.parametrize("similarity", [0.6, 0.9])
def test_copies_agree_with_their_originals_as_asked(similarity: float) -> None:
    originals = np.arange(500, dtype=np.uint64)
    copies = generated_values.copies(originals, SIZE, similarity)
    found = agreeing(copies, generated_values.signatures(originals, SIZE))
    assert found == pytest.approx(similarity + (1 - similarity) * 0.05, abs=0.01)
