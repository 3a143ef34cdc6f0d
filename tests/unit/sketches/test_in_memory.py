from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.arrays import from_ints
from es_simhash.errors import HashError, SchemeError
from es_simhash.sketches.blocks import Blocks, PrefixTables
from es_simhash.sketches.hamming import distance
from es_simhash.sketches.in_memory import (
    SEARCHES,
    BitPositions,
    BruteForce,
    MankuTables,
    Pigeonhole,
    SearchResult,
    Variants,
    variant_count,
)
from tests.support.fingerprints import fingerprint_sets, random_codes
from tests.support.fuzzing import examples

EACH = pytest.mark.parametrize("name", SEARCHES)


def slow_search(ints: list[int], query: int, k: int) -> list[tuple[int, int]]:
    """Distance and id of each match, in their order."""
    return sorted((distance(code, query), row) for row, code in enumerate(ints) if distance(code, query) <= k)


def found(result: SearchResult) -> list[tuple[int, int]]:
    return list(zip(result.distances.tolist(), result.ids.tolist(), strict=True))


@EACH
@examples(60)
@given(fingerprint_sets(), st.data())
def test_every_search_finds_what_comparing_all_codes_finds(
    name: str, fingerprints: tuple[int, list[int]], data: st.DataObject
) -> None:
    bits, ints = fingerprints
    built_for = data.draw(st.integers(0, min(2, bits - 1)))
    k = data.draw(st.integers(0, built_for))
    near = st.sampled_from(ints) if ints else st.nothing()
    queries = data.draw(st.lists(near | st.integers(0, (1 << bits) - 1), max_size=4))
    built = SEARCHES[name](from_ints(ints, bits), bits, built_for)
    results = built.search_many(from_ints(queries, bits), k)
    assert [found(result) for result in results] == [slow_search(ints, query, k) for query in queries]
    for query, result in zip(queries, results, strict=True):
        assert len(result.ids) <= result.candidates <= min(len(ints), result.postings)
        alone = built.search(query, k)
        assert found(alone) == found(result)
        assert (alone.candidates, alone.postings) == (result.candidates, result.postings)


@given(fingerprint_sets(), st.data())
def test_tables_of_any_number_of_blocks_find_the_same(fingerprints: tuple[int, list[int]], data: st.DataObject) -> None:
    bits, ints = fingerprints
    k = data.draw(st.integers(0, min(4, bits - 1)))
    blocks = data.draw(st.integers(max(k + 1, -(-bits // 64)), min(bits, k + 5)))
    query = data.draw(st.sampled_from(ints) if ints else st.just(0))
    codes = from_ints(ints, bits)
    expected = slow_search(ints, query, k)
    pigeonhole = Pigeonhole(codes, bits, k, blocks).search(query, k)
    manku = MankuTables(codes, bits, k, blocks).search(query, k)
    assert found(pigeonhole) == found(manku) == expected
    if bits <= 64:  # wider prefixes are cut to 64 bits
        assert manku.candidates == pigeonhole.candidates


@EACH
def test_an_empty_set_has_no_matches(name: str) -> None:
    for bits in (1, 64, 128):
        result = SEARCHES[name](from_ints([], bits), bits, 0).search(1, 0)
        assert (found(result), result.candidates, result.postings) == ([], 0, 0)


@EACH
def test_no_queries_have_no_results(name: str) -> None:
    assert SEARCHES[name](from_ints([1, 2], 8), 8, 1).search_many(from_ints([], 8), 1) == []


@EACH
def test_a_distance_beyond_the_one_it_was_built_for_is_refused(name: str) -> None:
    with pytest.raises(SchemeError, match="Build it with k=3"):
        SEARCHES[name](from_ints([1, 2], 8), 8, 2).search(1, 3)


@EACH
def test_codes_of_another_width_are_refused(name: str) -> None:
    with pytest.raises(HashError):
        SEARCHES[name](from_ints([256], 9), 8, 2)
    built = SEARCHES[name](from_ints([1], 8), 8, 2)
    with pytest.raises(HashError):
        built.search(256, 2)
    with pytest.raises(HashError):
        built.search_many(from_ints([1], 128), 2)


@pytest.mark.parametrize("name", ["brute_force", "bit_positions", "variants"])
def test_at_a_distance_of_all_bits_everything_matches(name: str) -> None:
    for k in (3, 300):
        assert found(SEARCHES[name](from_ints([7, 0, 5], 3), 3, k).search(0, k)) == [(0, 1), (2, 2), (3, 0)]


@pytest.mark.parametrize("name", ["pigeonhole", "manku_tables"])
def test_blocks_refuse_a_distance_of_all_bits(name: str) -> None:
    with pytest.raises(SchemeError, match="Choose a distance below 3"):
        SEARCHES[name](from_ints([7], 3), 3, 3)


def test_brute_force_reads_everything() -> None:
    result = BruteForce(random_codes(np.random.default_rng(0), 100, 64), 64, 3).search(0, 3)
    assert (result.candidates, result.postings) == (100, 100)


def test_bit_positions_count_the_agreeing_bits_of_all_that_agree_anywhere() -> None:
    result = BitPositions(from_ints([0b1111, 0b0001, 0b0000], 4), 4, 3).search(0b1111, 3)
    assert (found(result), result.candidates, result.postings) == ([(0, 0), (3, 1)], 2, 5)


def test_64_bits_have_43745_variants_within_distance_3() -> None:
    assert variant_count(64, 3) == 43_745


@pytest.mark.parametrize(("bits", "k"), [(1, 0), (1, 5), (6, 3), (9, 9)])
def test_variants_are_all_codes_within_the_distance(bits: int, k: int) -> None:
    every = list(range(1 << bits))
    result = Variants(from_ints(every, bits), bits, k).search(1, k)
    assert found(result) == slow_search(every, 1, k)
    assert result.candidates == result.postings == variant_count(bits, k)


def test_an_absurd_number_of_variants_is_refused() -> None:
    with pytest.raises(SchemeError, match=r"5,130,659,561 variants .* Choose a smaller k"):
        Variants(from_ints([], 64), 64, 8)


def test_the_pigeonhole_meets_what_shares_a_block_of_16_bits() -> None:
    codes = random_codes(np.random.default_rng(1), 200_000, 64)
    query = int(codes[7])
    shared = (Blocks(64, 4).values(codes) == Blocks(64, 4).values(codes[7:8])).sum(axis=1)
    result = Pigeonhole(codes, 64, 3).search(query, 3)
    assert result.candidates == np.count_nonzero(shared)
    assert result.postings == shared.sum()
    assert found(result) == [(0, 7)]


def test_manku_s_tables_meet_what_shares_a_prefix() -> None:
    codes = random_codes(np.random.default_rng(1), 5000, 20)
    agreeing = np.stack([prefix == prefix[7] for prefix in PrefixTables(20, 6, 3).prefixes(codes)])
    result = MankuTables(codes, 20, 3).search(int(codes[7]), 3)
    assert result.candidates == np.count_nonzero(agreeing.any(axis=0))
    assert result.postings == agreeing.sum()
