"""The tables by which all pairs are found: each value stands in a table of every turn, and they miss few pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.groups.pairs.fingerprint_store import value_tables
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.settings import MinHash
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.sketches.tradeoffs import sharing

DEFAULT, FIRST = MinHash(), MinHash(bands=32, rows=4, key_bits=30)
SCHEMES = st.sampled_from([DEFAULT, FIRST, MinHash(bands=42), MinHash(size=256, bands=64, rows=4)])


def near(similarity: float) -> Criteria:
    return Criteria(None, similarity, Verification())


@given(SCHEMES, st.floats(0.3, 1))
def test_no_value_stands_in_two_tables_of_a_turn(minhash: MinHash, similarity: float) -> None:
    tables = value_tables(minhash, near(similarity))
    size = minhash.layout.size
    together = size // len(tables[0])
    for start in range(0, len(tables), together):
        places = [place for table in tables[start : start + together] for place in table]
        assert len(set(places)) == len(places)
        assert set(places) <= set(range(size))
    sets = [frozenset(table) for table in tables]
    if len(tables[0]) > 1:
        assert all(len(one & other) <= 1 for one, other in combinations(sets, 2))


@pytest.mark.parametrize("minhash", [DEFAULT, FIRST], ids=["default", "first default"])
@pytest.mark.parametrize("similarity", [0.5, 0.63, 0.85])
def test_tables_find_nearly_as_many_pairs_as_a_search(minhash: MinHash, similarity: float) -> None:
    criteria = near(similarity)
    jaccard = min(criteria.jaccard, minhash.similarity)
    agree = np.random.default_rng(3).random((20_000, minhash.layout.size)) < jaccard
    found = np.zeros(len(agree), dtype=np.bool_)
    for table in value_tables(minhash, criteria):
        found |= agree[:, list(table)].all(axis=1)
    assert found.mean() >= min(sharing(jaccard, minhash.layout, minhash.shared), 0.975) - 0.005


def test_keys_have_fewer_values_where_less_similar_texts_are_wanted() -> None:
    assert [len(value_tables(DEFAULT, near(each))[0]) for each in (0.63, 0.5, 0.3)] == [5, 4, 3]
