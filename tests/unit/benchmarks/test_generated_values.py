"""Generated signatures are as little alike as those of unrelated texts, and copies as similar as was asked for."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import generated_values

SIZE = 200


def agreeing(first: np.ndarray, second: np.ndarray) -> float:
    return float((first == second).mean())


def test_unlike_documents_agree_in_a_thirtieth_of_their_values_and_more_within_a_topic() -> None:
    values = generated_values.signatures(np.arange(4_000, dtype=np.uint64), SIZE)
    shares = np.array([(values[0] == other).mean() for other in values[1:]])
    assert np.median(shares) == pytest.approx(0.03, abs=0.005)
    # One in 500 documents is about the same topic.
    assert 2 <= (shares > 0.065).sum() <= 25
    assert shares.max() < 0.2


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
    assert found == pytest.approx(similarity + (1 - similarity) * 0.03, abs=0.01)
