""""""

from __future__ import annotations

import tracemalloc
from itertools import combinations, islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.arrays import Codes, from_ints
from es_simhash.errors import HashError, SchemeError
from es_simhash.sketches import in_memory as module
from es_simhash.sketches.hamming import distance
from es_simhash.sketches.in_memory import (
    SEARCHES,
    BitPositions,
    BruteForce,
    MankuTables,
    Pigeonhole,
    SearchResult,
    Variants,
    iter_self_join,
    self_join,
    variant_count,
)
from es_simhash.sketches.keys import Blocks, PrefixTables
from tests.support.fingerprints import at_distance, fingerprint_sets, random_codes
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


Found = list[tuple[int, int, int]]


def slow_join(ints: list[int], k: int) -> Found:
    pairs = combinations(enumerate(ints), 2)
    return [(i, j, distance(a, b)) for (i, a), (j, b) in pairs if distance(a, b) <= k]


def joined(codes: Codes, bits: int, k: int) -> Found:
    pairs, distances = self_join(codes, bits, k)
    assert pairs.dtype == np.int64
    assert distances.dtype == np.uint8
    return [(i, j, d) for (i, j), d in zip(pairs.tolist(), distances.tolist(), strict=True)]


@given(fingerprint_sets(), st.integers(0, 20))
def test_all_pairs_within_the_distance_are_found_in_order(fingerprints: tuple[int, list[int]], k: int) -> None:
    bits, ints = fingerprints
    assert joined(from_ints(ints, bits), bits, k) == slow_join(ints, k)


@examples(200)
@given(fingerprint_sets(), st.data())
def test_tables_of_any_number_of_blocks_find_each_pair_once(
    fingerprints: tuple[int, list[int]], data: st.DataObject
) -> None:
    bits, ints = fingerprints
    k = data.draw(st.integers(0, min(4, bits - 1)))
    count = data.draw(st.integers(max(k + 1, -(-bits // 64)), min(bits, k + 5)))
    candidates = data.draw(st.integers(1, 50))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_cheapest_blocks", lambda *_: Blocks(bits, count))
        patch.setattr(module, "_CANDIDATES", candidates)
        assert joined(from_ints(ints, bits), bits, k) == slow_join(ints, k)


@given(fingerprint_sets(), st.integers(1, 4))
def test_collisions_of_the_hash_do_not_change_what_is_found(fingerprints: tuple[int, list[int]], k: int) -> None:
    bits, ints = fingerprints
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_FACTORS", (np.uint64(0), np.uint64(0)))
        for costs in ("_NUMPY_COSTS", "_COMPILED_COSTS"):
            patch.setattr(module, costs, getattr(module, costs)._replace(row=10**12))
        assert joined(from_ints(ints, bits), bits, k) == slow_join(ints, k)


@given(fingerprint_sets(), st.integers(0, 8), st.integers(1, 30))
def test_chunks_hold_the_same_pairs_and_never_more_than_asked_for(
    fingerprints: tuple[int, list[int]], k: int, chunk: int
) -> None:
    bits, ints = fingerprints
    found: Found = []
    for pairs, distances in iter_self_join(from_ints(ints, bits), bits, k, chunk):
        assert 1 <= len(pairs) == len(distances) <= chunk
        found += [(i, j, d) for (i, j), d in zip(pairs.tolist(), distances.tolist(), strict=True)]
    assert sorted(found) == slow_join(ints, k)


@pytest.mark.parametrize(("bits", "k"), [(64, 0), (64, 3), (64, 8), (128, 3), (128, 12), (33, 2)])
def test_every_planted_pair_among_many_random_codes_is_found(bits: int, k: int) -> None:
    rng = np.random.default_rng(bits + k)
    codes = random_codes(rng, 20_000, bits)
    planted = [at_distance(rng, codes[i * 50 : i * 50 + 50], bits, i) for i in range(k + 1)]
    found = set(joined(np.concatenate([codes, *planted]), bits, k))
    expected = {(i, 20_000 + i, i // 50) for i in range(50 * (k + 1))}
    assert expected <= found
    if bits >= 64:
        assert expected == found


def test_skewed_codes_are_joined_exactly() -> None:
    rng = np.random.default_rng(3)
    likely = rng.beta(0.3, 0.3, 64)
    columns = (rng.random((2000, 64)) < likely).astype(np.uint64)
    codes = (columns << np.arange(64, dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
    found = joined(codes, 64, 4)
    assert len(found) > 1000
    assert found == slow_join([int(code) for code in codes], 4)


def test_skew_makes_more_blocks_worth_their_tables() -> None:
    rng = np.random.default_rng(4)
    even = random_codes(rng, 100_000, 64)
    skewed = np.unique(even & random_codes(rng, 100_000, 64) & random_codes(rng, 100_000, 64))
    for_even, for_skewed = (module._cheapest_blocks(codes, 64, 3) for codes in (even, skewed))
    assert for_even is not None
    assert for_skewed is not None
    assert for_even.count < for_skewed.count


def test_pairs_of_rows_too_wide_for_one_word_come_in_the_same_order() -> None:
    ints = [int(code) for code in np.random.default_rng(5).integers(0, 64, 40)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_SORTED_ROW_BITS", 0)
        assert joined(from_ints(ints, 6), 6, 2) == slow_join(ints, 2)


def test_few_codes_and_great_distances_are_joined_by_comparing_all_pairs() -> None:
    rng = np.random.default_rng(4)
    assert module._cheapest_blocks(random_codes(rng, 3, 64), 64, 3) is None
    assert module._cheapest_blocks(random_codes(rng, 5000, 64), 64, 30) is None
    assert module._cheapest_blocks(random_codes(rng, 5000, 64), 64, 64) is None


def test_five_thousand_million_pairs_of_equal_codes_come_in_little_memory() -> None:
    codes = np.full(100_000, 5, dtype=np.uint64)
    tracemalloc.start()
    chunks = list(islice(iter_self_join(codes, 64, 3, chunk=1000), 100))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [len(pairs) for pairs, _ in chunks] == [1000] * 100
    assert peak < 20e6


def test_near_copies_of_two_large_groups_come_in_chunks() -> None:
    codes = np.repeat(np.array([5, 7], dtype=np.uint64), [300, 400])
    sizes = [len(pairs) for pairs, _ in iter_self_join(codes, 64, 1, chunk=1000)]
    assert sum(sizes) == 700 * 699 // 2
    assert max(sizes) == 1000


@pytest.mark.parametrize("bits", [1, 64, 128])
@pytest.mark.parametrize("ints", [[], [1]])
def test_fewer_than_two_codes_make_no_pairs(bits: int, ints: list[int]) -> None:
    pairs, distances = self_join(from_ints(ints, bits), bits, 3)
    assert (pairs.shape, distances.shape) == ((0, 2), (0,))


def test_what_cannot_be_joined_is_refused_at_once() -> None:
    codes = from_ints([256], 9)
    with pytest.raises(HashError):
        iter_self_join(codes, 8, 3)
    with pytest.raises(SchemeError, match="Hamming distance"):
        iter_self_join(codes, 9, -1)
    with pytest.raises(SchemeError, match="chunk"):
        iter_self_join(codes, 9, 3, chunk=0)
