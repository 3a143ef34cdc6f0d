from __future__ import annotations

from itertools import combinations, product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.errors import SchemeError
from es_simhash.sketches import tradeoffs
from es_simhash.sketches.blocks import Blocks
from es_simhash.sketches.manku import PrefixTables
from es_simhash.sketches.tradeoffs import BandPlan, BlockPlan
from tests.support.html_reader import Reader

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
    assert BlockPlan(64, blocks, 3, 10_000_000).candidates == pytest.approx(expected, rel=0.1)


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


def test_keys_of_bands_collide_as_random_numbers_do() -> None:
    assert tradeoffs.band_candidates(32, 24, 2**24) == pytest.approx(32, rel=1e-5)
    assert tradeoffs.band_candidates(1, 60, 2**60) == pytest.approx(1)
    assert tradeoffs.band_candidates(4, 6, 1) == pytest.approx(1 - (63 / 64) ** 4)


def test_the_curve_of_20_bands_of_5_rows_is_that_of_the_textbook() -> None:
    textbook = {0.2: 0.006, 0.3: 0.047, 0.4: 0.186, 0.5: 0.470, 0.6: 0.802, 0.7: 0.975, 0.8: 0.9996}
    for similarity, probability in textbook.items():
        assert tradeoffs.band_probability(similarity, 20, 5) == pytest.approx(probability, abs=5e-4)


@given(st.floats(0.05, 1.0), st.floats(0.05, 0.995), st.integers(1, 300))
def test_chosen_bands_reach_the_recall_and_no_steeper_ones_do(similarity: float, recall: float, size: int) -> None:
    if tradeoffs.band_probability(similarity, size, 1) < recall:
        with pytest.raises(SchemeError, match="Choose at least"):
            tradeoffs.plan_bands(similarity, recall, size, 1000)
        return
    plan = tradeoffs.plan_bands(similarity, recall, size, 1000)
    assert plan.bands * plan.rows <= size
    assert plan.recall >= recall
    assert plan.bands == 1 or tradeoffs.band_probability(similarity, plan.bands - 1, plan.rows) < recall
    for rows in range(plan.rows + 1, min(size, plan.key_bits) + 1):
        assert tradeoffs.band_probability(similarity, size // rows, rows) < recall


@given(st.floats(0.05, 0.95), st.floats(0.5, 0.995))
def test_the_size_that_a_refusal_names_is_enough(similarity: float, recall: float) -> None:
    needed = next(n for n in range(1, 1000) if tradeoffs.band_probability(similarity, n, 1) >= recall)
    if needed > 1:
        with pytest.raises(SchemeError, match=f"Choose at least {needed} rows"):
            tradeoffs.plan_bands(similarity, recall, needed - 1, 1000)


def test_128_rows_find_pairs_of_seven_tenths_with_17_bands_of_4() -> None:
    plan = tradeoffs.plan_bands(0.7, 0.99, 128, 10_000_000)
    assert plan == BandPlan(17, 4, 30, 0.7, 10_000_000)
    assert plan.keys == 17
    assert plan.recall == pytest.approx(0.9906, abs=1e-4)
    assert plan.candidates == pytest.approx(17 * 10_000_000 / 2 ** (4 * 7))


@pytest.mark.parametrize(
    ("similarity", "recall", "size"),
    [(0.0, 0.9, 9), (1.1, 0.9, 9), (float("nan"), 0.9, 9), (0.5, 1.0, 9), (0.5, 0.0, 9), (0.5, 0.9, 0)],
)
def test_what_cannot_be_wanted_of_bands_is_refused(similarity: float, recall: float, size: int) -> None:
    with pytest.raises(SchemeError):
        tradeoffs.plan_bands(similarity, recall, size, 1000)


def test_plans_that_cannot_be_are_refused() -> None:
    with pytest.raises(SchemeError, match="Choose at least 4 blocks"):
        BlockPlan(64, 3, 3, 1000)
    with pytest.raises(SchemeError, match="documents"):
        BlockPlan(64, 4, 3, -1)
    with pytest.raises(SchemeError, match="rows"):
        BandPlan(4, 0, 36, 0.5, 1000)
    with pytest.raises(SchemeError, match="documents"):
        BandPlan(4, 4, 36, 0.5, -1)


def test_a_notebook_shows_what_a_plan_finds_and_costs() -> None:
    bands = tradeoffs.plan_bands(0.8, 0.95, 128, 1_000_000)
    read = Reader(bands._repr_html_()).text
    assert f"{bands.bands} bands of {bands.rows} rows" in read
    assert f"{bands.recall:.2%}" in read
    assert f"random candidates among 1,000,000 documents{bands.candidates:.3g}" in read
    blocks = Reader(BlockPlan(64, 5, 3, 1000)._repr_html_()).text
    assert "5 blocks of SimHash" in blocks
    assert "within 3 bits of 64" in blocks
    assert "2 of 5, which a candidate shares" in blocks
