""""""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.arrays import Components, distinct_sorted
from es_simhash._core.batches import OnProgress, counting, counts_shown
from es_simhash.groups.corpus import Corpus
from es_simhash.groups.groups import Groups
from es_simhash.groups.of_texts import group_texts
from es_simhash.groups.options import GroupOptions
from es_simhash.groups.pairs.candidates import POSITION_BITS, Candidates, Linker, entries, pair_codes, positions
from es_simhash.groups.pairs.compare import Missed, missed
from es_simhash.groups.pairs.stored_rows import Numbers, Spools
from es_simhash.scheme.scheme import Scheme
from tests.support.short_records import records

numbers = st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 20), st.just(2**64 - 1))


@given(st.lists(numbers, max_size=30))
def test_distinct_keeps_each_number_once(values: list[int]) -> None:
    assert distinct_sorted(np.array(sorted(values), dtype=np.uint64)).tolist() == sorted(set(values))


def in_pieces(ordered: Numbers, linker: Linker, cuts: list[int]) -> list[Numbers]:
    """Cut sorted entries where a linker takes pieces of them."""
    grain = np.uint64(linker.grain)
    parted = np.flatnonzero(ordered[1:] // grain != ordered[:-1] // grain) + 1
    return np.split(ordered, sorted({*cuts} & {0, len(ordered), *parted.tolist()}))


def pairs_of(keys: list[int], bounds: tuple[int, int], cuts: list[int]) -> tuple[set[tuple[int, int]], int, int]:
    """The pairs that a linker finds among keys whose sorted entries are cut into pieces; their number; the left out."""
    ordered = np.sort(entries(np.array(keys, dtype=np.uint64).reshape(-1, 1), 0))
    linker = Linker(*bounds)
    found = [
        pair
        for batch in linker.pairs(in_pieces(ordered, linker, cuts))
        for pair in zip(*(side.tolist() for side in positions(batch)), strict=True)
    ]
    return set(found), len(found), linker.left_out


@given(
    st.lists(st.integers(0, 3), max_size=30),
    st.integers(1, 6),
    st.integers(1, 6),
    st.lists(st.integers(0, 30), max_size=4),
)
def test_documents_are_paired_with_all_before_them_that_share_the_key_or_with_the_nearest_few(
    keys: list[int], most: int, few: int, cuts: list[int]
) -> None:
    few = min(few, most)
    sharing = [(a, b) for a, b in combinations(range(len(keys)), 2) if keys[a] == keys[b]]
    near = {(a, b) for a, b in sharing if keys[:b].count(keys[b]) <= most or keys[a + 1 : b + 1].count(keys[a]) <= few}
    found, count, left_out = pairs_of(keys, (most, few), cuts)
    assert found == near
    assert count == len(near)
    assert left_out == len(sharing) - len(near)


def test_a_key_that_all_share_makes_work_in_proportion_to_the_documents() -> None:
    count, few = 100_000, 3
    linker = Linker(32, few)
    pieces = in_pieces(entries(np.zeros((count, 1), dtype=np.uint64), 0), linker, list(range(0, count, count // 7)))
    found = sum(len(batch) for batch in linker.pairs(pieces))
    assert found < (few + 1) * count
    assert found + linker.left_out == count * (count - 1) // 2


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=20), max_size=8),
    st.integers(2, 30),
    st.sampled_from([0, 3, 5, POSITION_BITS]),
    st.integers(0, 99),
)
def test_each_pair_is_a_candidate_once_in_the_order_of_tiles(
    batches: list[list[tuple[int, int]]], limit: int, tile_bits: int, place: int
) -> None:
    with Spools(1) as spools:
        candidates = Candidates(spools, limit, tile_bits)
        for batch in batches:
            array = np.array(batch, dtype=np.int64).reshape(-1, 2)
            candidates.add(pair_codes(array[:, 0], array[:, 1]))
        found = [(*pair, some) for some in candidates.distinct() for pair in pairs_of_codes(some.codes)]
        pairs = [(a, b) for a, b, _ in found]
        assert pairs == sorted({*chain(*batches)}, key=lambda pair: (pair[1] >> tile_bits, *pair))
        assert all(b in some.tile for _, b, some in found)
        if pairs:
            # A search that was stopped after any array goes on with the next one.
            after = found[place % len(found)][2]
            rest = [pair for some in candidates.distinct(after.next) for pair in pairs_of_codes(some.codes)]
            assert rest == pairs[len(pairs) - len(rest) :]
            assert pairs[len(pairs) - len(rest) - 1] == pairs_of_codes(after.codes)[-1]


def pairs_of_codes(codes: Numbers) -> list[tuple[int, int]]:
    return list(zip(*(side.tolist() for side in positions(codes)), strict=True))


@pytest.mark.parametrize(("dtype", "columns"), [("u1", 1), ("u1", 3), ("u1", 4), ("u2", 1), ("u2", 2), ("u4", 1)])
def test_only_equal_keys_of_up_to_32_bits_have_the_same_entry(dtype: str, columns: int) -> None:
    numbers = np.random.default_rng(1).integers(0, np.iinfo(dtype).max, (300_000, columns), dtype, endpoint=True)
    hashes = entries(numbers, 0) >> np.uint64(POSITION_BITS)
    assert len(np.unique(hashes)) == len(np.unique(numbers.view(f"V{numbers.itemsize * columns}")))


@pytest.mark.parametrize(("dtype", "columns"), [("u1", 5), ("u2", 3), ("u4", 2), ("u8", 1), ("u8", 2)])
def test_hardly_any_others_of_wider_keys_have_the_same_hash(dtype: str, columns: int) -> None:
    numbers = np.random.default_rng(1).integers(0, 256, (20_000, columns)).astype(dtype)
    hashes = entries(numbers, 0) >> np.uint64(POSITION_BITS)
    assert len(np.unique(hashes)) == pytest.approx(len(np.unique(numbers, axis=0)), abs=2)


def deduplicated(texts: list[str]) -> Groups[Corpus]:
    return group_texts(
        ((str(place), text) for place, text in enumerate(texts)), Scheme.preset("short"), GroupOptions(threads=1)
    )


def recall(found: Groups[Corpus], planted: list[tuple[int, int]]) -> float:
    return float(np.mean([found.firsts[one] == found.firsts[other] for one, other in planted]))


def test_copies_with_typing_errors_are_found_among_few_candidates_by_chance() -> None:
    texts, planted = records(6_000, 200)
    with deduplicated(texts) as found:
        assert recall(found, planted) >= 0.97
        assert found.counts.compared < len(texts) ** 2 / 50


@given(st.integers(1, 1000), st.integers(0, 10**6), st.integers(0, 10**4))
def test_the_estimate_lies_between_its_bounds_which_meet_if_all_documents_were_compared(
    drawn: int, others: int, found: int
) -> None:
    estimate = Missed.of(drawn, drawn + others, found)
    assert estimate.low <= estimate.pairs <= estimate.high
    assert (estimate.low == estimate.high == estimate.pairs) or others


def test_if_nothing_is_compared_nothing_is_missed() -> None:
    assert Missed.of(0, 0, 0) == Missed(0, 0, 0, 0, 0)


@pytest.mark.parametrize("native", ["0", "1"])
def test_what_the_join_misses_is_counted_in_full_where_all_documents_are_drawn(
    native: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ES_SIMHASH_NATIVE", native)
    texts, _ = records(700, 40)
    with deduplicated(texts) as found:
        near = found.counts.near
        assert found.counts.missed is not None
        assert found.counts.missed.drawn == len(texts)
        assert found.counts.missed.found == 0
    # As if no pair had been found.
    apart = Components(np.arange(len(texts)))
    monkeypatch.setattr(
        "es_simhash.groups.corpus.missed",
        lambda store, comparison, groups: missed(store, comparison, apart.firsts),
    )
    with deduplicated(texts) as found:
        assert found.counts.missed is not None
        assert found.counts.missed.found >= 2 * near
        assert found.counts.near == near


def test_nothing_is_said_of_what_is_missed_where_all_that_share_a_key_are_compared() -> None:
    with deduplicated(["one short text of some words", "another one of quite other letters"]) as found:
        assert (found.counts.left_out, found.counts.missed) == (0, None)


def test_every_stage_reports_how_much_is_done_up_to_its_total() -> None:
    reports: dict[str, list[int]] = {}
    totals: dict[str, int] = {}

    @contextmanager
    def show(doing: str, total: int, unit: str) -> Iterator[OnProgress[int]]:
        totals[doing] = total
        yield reports.setdefault(doing, []).append

    texts, _ = records(700, 40)
    with counts_shown(show), deduplicated(texts) as found:
        assert list(found)
        assert list(found.pairs())
    assert {"Finding equal texts", "Sorting keys", "Comparing", "Linking"} < {*reports}
    assert {"Estimating what is missed", "Reading groups", "Reading pairs"} < {*reports}
    for doing, done in reports.items():
        assert done == sorted(done), doing
        assert done[-1] == totals[doing], doing


def test_counts_that_nobody_watches_are_not_shown() -> None:
    with counting("Reading", 3) as advance:
        advance(2)
