"""The surroundings of documents."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.scheme.settings import Crowding
from es_simhash.scheme.verdict.surroundings import Around, Surroundings

PAIRS = st.dictionaries(
    st.tuples(st.integers(0, 8), st.integers(9, 15)), st.sampled_from([0.1, 0.39, 0.4, 0.5, 0.93, 1.0]), max_size=40
)


@given(PAIRS, st.integers(0, 40))
def test_the_crowd_counts_similar_documents_and_the_best_is_the_most_similar_one(
    pairs: dict[tuple[int, int], float], cut: int
) -> None:
    found = Surroundings.of_none(16)
    rows, similarities = np.array(list(pairs), dtype=np.int64).reshape(-1, 2), np.array(list(pairs.values()))
    for some in (slice(cut), slice(cut, None)):
        found.add(rows[some, 0], rows[some, 1], similarities[some], Crowding(least=0.4))
    for document in range(16):
        own = [similarity for pair, similarity in pairs.items() if document in pair]
        assert found.crowd[document] == sum(similarity >= 0.4 for similarity in own)
        assert found.best[document] == max(own, default=0.0)


def test_copies_of_a_text_are_one_document_around_another() -> None:
    others = [("a", False, 0.6), ("a", False, 0.6), (None, False, 0.7), (None, False, 0.5), ("b", False, 0.3)]
    itself, unknown = ("c", True, 1.0), ("d", False, float("nan"))
    assert Around.of([*others, itself, unknown], Crowding(least=0.4)) == Around(crowd=3, best=0.7)
    assert Around.of([itself], Crowding()) == Around(0, 0.0)
