from __future__ import annotations

import tracemalloc
from itertools import combinations, islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.arrays import Codes, from_ints
from es_simhash.errors import HashError, SchemeError
from es_simhash.sketches import all_pairs as module
from es_simhash.sketches.all_pairs import iter_self_join, self_join
from es_simhash.sketches.blocks import Blocks
from es_simhash.sketches.hamming import distance
from tests.support.fingerprints import at_distance, fingerprint_sets, random_codes
from tests.support.fuzzing import examples

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
