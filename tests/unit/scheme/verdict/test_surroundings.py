"""The surroundings of documents."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.scheme.verdict.surroundings import Around, Surroundings
from es_simhash.scheme.verdict.verification import Crowding

PAIRS = st.dictionaries(
    st.tuples(st.integers(0, 8), st.integers(9, 15)), st.sampled_from([0.1, 0.39, 0.4, 0.5, 0.93, 1.0]), max_size=40
)


@given(PAIRS, st.integers(0, 40), st.lists(st.integers(1, 3), min_size=16, max_size=16))
def test_the_crowd_counts_similar_documents_and_the_best_is_the_most_similar_one(
    pairs: dict[tuple[int, int], float], cut: int, copies: list[int]
) -> None:
    found = Surroundings.of_copies(np.array(copies))
    rows, similarities = np.array(list(pairs), dtype=np.int64).reshape(-1, 2), np.array(list(pairs.values()))
    for some in (slice(cut), slice(cut, None)):
        found.add(rows[some, 0], rows[some, 1], similarities[some], Crowding(least=0.4))
    for text in range(16):
        # To a document, the other copies of its text are others as well.
        own = [(1.0, copies[text] - 1)] if copies[text] > 1 else []
        own += [(similarity, copies[sum(pair) - text]) for pair, similarity in pairs.items() if text in pair]
        assert found.crowd[text] == sum(count for similarity, count in own if similarity >= 0.4)
        assert found.best[text] == max((similarity for similarity, _ in own), default=0.0)


def test_a_single_document_has_the_surroundings_that_are_known() -> None:
    assert Around.of([0.6, 0.6, 1.0, 0.3, float("nan")], Crowding(least=0.4)) == Around(crowd=3, best=1.0)
    assert Around.of([], Crowding()) == Around(0, 0.0)
