from __future__ import annotations

from itertools import combinations, product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.sketches import tradeoffs
from es_simhash.sketches.blocks import Blocks, PrefixTables

PROBABILITIES = st.lists(st.floats(0, 1), max_size=7)


@given(PROBABILITIES, st.integers(0, 7))
def test_at_least_is_the_sum_over_all_outcomes(probabilities: list[float], count: int) -> None:
    expected = sum(
        prod(p if happens else 1 - p for p, happens in zip(probabilities, outcome, strict=True))
        for outcome in product([False, True], repeat=len(probabilities))
        if sum(outcome) >= count
    )
    assert tradeoffs.at_least(probabilities, count) == pytest.approx(expected)


@given(PROBABILITIES, st.integers(0, 7))
def test_expected_choices_is_the_sum_over_all_choices(probabilities: list[float], count: int) -> None:
    expected = sum(prod(choice) for choice in combinations(probabilities, count))
    assert tradeoffs.expected_choices(probabilities, count) == pytest.approx(expected)


def test_four_blocks_of_16_bits_meet_about_4096_of_2_to_the_26_documents() -> None:
    assert tradeoffs.block_candidates(64, 4, 1, 2**26) == pytest.approx(4 * 2**10, rel=1e-3)


@pytest.mark.parametrize(("blocks", "expected"), [(4, 610), (5, 2.1), (6, 0.051)])
def test_more_blocks_meet_fewer_of_10_million_documents(blocks: int, expected: float) -> None:
    assert tradeoffs.block_candidates(64, blocks, blocks - 3, 10_000_000) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize(("bits", "blocks", "min_shared"), [(24, 4, 1), (22, 4, 2), (20, 7, 4), (13, 3, 2)])
def test_random_fingerprints_meet_as_many_as_expected(bits: int, blocks: int, min_shared: int) -> None:
    documents = 2**20
    codes = np.random.default_rng(5).integers(0, 2**bits, documents, dtype=np.uint64)
    values = Blocks(bits, blocks).values(codes)
    met = np.count_nonzero((values == values[0]).sum(axis=1) >= min_shared) - 1
    expected = tradeoffs.block_candidates(bits, blocks, min_shared, documents)
    assert abs(met - expected) < 4 * expected**0.5


def test_manku_s_tables_read_a_document_once_for_each_prefix_that_agrees() -> None:
    documents = 2**20
    tables = PrefixTables(20, 5, 3)
    codes = np.random.default_rng(5).integers(0, 2**20, documents, dtype=np.uint64)
    read = sum(np.count_nonzero(prefix == prefix[0]) - 1 for prefix in tables.prefixes(codes))
    assert read == pytest.approx(tradeoffs.manku_postings(20, 5, 3, documents), rel=0.1)
    assert tradeoffs.manku_postings(64, 4, 3, 2**26) == 4 * 2**10


def test_the_curve_of_20_bands_of_5_rows_is_that_of_the_textbook() -> None:
    textbook = {0.2: 0.006, 0.3: 0.047, 0.4: 0.186, 0.5: 0.470, 0.6: 0.802, 0.7: 0.975, 0.8: 0.9996}
    for similarity, probability in textbook.items():
        assert tradeoffs.band_probability(similarity, 20, 5) == pytest.approx(probability, abs=5e-4)
