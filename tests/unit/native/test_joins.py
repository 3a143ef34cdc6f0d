from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.arrays import UnionFind, from_ints
from es_simhash._core.environment import NATIVE
from es_simhash.groups.pairs.candidates import HotKeys, Linker, PairRows, entries, pair_codes
from es_simhash.groups.pairs.stored_rows import Columns, Spools, sorted_pieces
from es_simhash.sketches.in_memory import iter_self_join, self_join
from tests.support.fingerprints import fingerprint_sets, random_codes
from tests.unit.groups.pairs.test_candidates import in_pieces

kernels = pytest.importorskip("es_simhash_native")

Found = TypeVar("Found")


def both_ways(work: Callable[[], Found]) -> tuple[Found, Found]:
    """Return what compiled kernels find, and what numpy does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(NATIVE, raising=False)
        compiled = work()
        patch.setenv(NATIVE, "0")
        return compiled, work()


@st.composite
def key_rows(draw: st.DrawFn) -> np.ndarray[Any, Any]:
    dtype = np.dtype(draw(st.sampled_from(["u1", "u2", "u4", "u8"])))
    width, count = draw(st.integers(1, 5)), draw(st.integers(0, 40))
    numbers = st.integers(0, 2 ** (8 * dtype.itemsize) - 1)
    drawn = draw(st.lists(numbers, min_size=width * count, max_size=width * count))
    by_columns = np.array(drawn, dtype=dtype).reshape(width, count).T
    rows = draw(st.sampled_from([by_columns, np.ascontiguousarray(by_columns), by_columns[::-1]]))
    return rows


@given(key_rows(), st.integers(0, 2**32 - 50), st.data())
def test_keys_of_any_width_and_order_in_memory_have_the_same_entries(
    rows: np.ndarray[Any, Any], first: int, data: st.DataObject
) -> None:
    size = len(rows)
    kept = data.draw(st.none() | st.lists(st.booleans(), min_size=size, max_size=size))
    mask = None if kept is None else np.array(kept, dtype=np.bool_)
    compiled, numpy = both_ways(lambda: entries(rows, first, mask))
    assert compiled.dtype == numpy.dtype
    assert compiled.tolist() == numpy.tolist()


@given(st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=40), max_size=4), st.integers(1, 50))
def test_numbers_are_sorted_alike_whatever_they_are(parts: list[list[int]], limit: int) -> None:
    def ordered() -> list[int]:
        arrays = (np.array(part, np.uint64) for part in parts)
        with Spools(1 << 20) as spools:
            return [number for piece in sorted_pieces(arrays, spools, limit) for number in piece.tolist()]

    compiled, numpy = both_ways(ordered)
    assert compiled == numpy == sorted(number for part in parts for number in part)


def test_more_numbers_are_sorted_than_are_sorted_between_two_looks_for_interruptions() -> None:
    numbers = np.random.default_rng(7).integers(0, 2**64, 1_000_000, np.uint64)
    one, other = numbers[:300_000], numbers[300_000:]
    assert (kernels.sorted_together([one, other]) == np.sort(numbers)).all()
    assert kernels.sorted_together([]).tolist() == []
    assert (one == numbers[:300_000]).all()


@given(
    st.lists(st.integers(0, 4), max_size=60),
    st.lists(st.integers(0, 60), max_size=4),
    st.integers(1, 6),
    st.integers(1, 6),
    st.none() | st.integers(1, 8),
    st.integers(2, 6),
    st.integers(1, 30),
)
def test_the_same_pairs_come_in_the_same_order_with_the_same_counts_and_hot_keys(
    keys: list[int], cuts: list[int], all: int, few: int, most: int | None, least: int, at_once: int
) -> None:
    ordered = np.sort(entries(np.array(keys, dtype=np.uint8).reshape(-1, 1), 0))

    def linked() -> tuple[list[int], int, int, list[tuple[int, int, int]]]:
        hot = HotKeys(least, 3)
        linker = Linker(all, min(few, all), most, hot)
        pieces = in_pieces(ordered, linker, cuts)
        codes = [code for table in range(2) for some in linker.pairs(pieces, table) for code in some.tolist()]
        return codes, linker.left_out, linker.cut_off, list(hot)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("es_simhash.groups.pairs.candidates.PAIRS_AT_ONCE", at_once)
        compiled, numpy = both_ways(linked)
    assert compiled == numpy


def test_pairs_of_a_key_that_all_share_come_in_arrays_of_a_bounded_size() -> None:
    words = entries(np.zeros((50_000, 1), dtype=np.uint8), 0)

    def paired() -> list[Any]:
        linker = Linker(32, 8)
        return list(linker.pairs(in_pieces(words, linker, [20_000, 40_000])))

    compiled, numpy = both_ways(paired)
    assert np.concatenate(compiled).tolist() == np.concatenate(numpy).tolist()
    assert max(map(len, compiled)) <= (1 << 17) + 32


@given(
    st.sampled_from(["u1", "u2", "u4"]),
    st.integers(1, 70),
    st.integers(1, 32),
    st.lists(st.tuples(st.integers(0, 5_000), st.integers(0, 5_000)), max_size=30),
)
def test_the_stored_rows_of_pairs_and_their_estimates_are_the_same(
    dtype: str, size: int, bits: int, pairs: list[tuple[int, int]]
) -> None:
    values = np.random.default_rng(size).integers(0, 3, (5_001, size)).astype(dtype)
    first, second = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2).T
    with Spools(1 << 20) as spools:
        columns = Columns(spools, size, dtype)
        columns.append(values)

        def found() -> list[list[Any]]:
            rows = PairRows(pair_codes(first, second))
            ones, others = rows.of(columns)
            return [ones.tolist(), others.tolist(), rows.estimates(columns, bits, size).tolist()]

        compiled, numpy = both_ways(found)
    assert compiled == numpy
    assert compiled[:2] == [values[first].tolist(), values[second].tolist()]


@given(st.integers(1, 40), st.data())
def test_pairs_in_batches_of_any_type_make_the_same_groups(count: int, data: st.DataObject) -> None:
    pairs = st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=40)
    batches = [np.array(data.draw(pairs), dtype=np.int64).reshape(-1, 2).T for _ in range(2)]
    records = [np.rec.fromarrays(list(batch), dtype=[("first", "u4"), ("second", "u4")]) for batch in batches]

    def grouped() -> tuple[Any, list[Any]]:
        union = UnionFind(count)
        halfway = []
        for batch, record in zip(batches, records, strict=True):
            union.union(batch[0], batch[1])
            halfway.append(union.groups().firsts.tolist())
            union.union(record["second"], record["first"])
        return union.groups().firsts.dtype, [*halfway, union.groups().firsts.tolist()]

    compiled, numpy = both_ways(grouped)
    assert compiled == numpy


def test_a_document_that_does_not_exist_is_refused() -> None:
    with pytest.raises(kernels.Refused):
        kernels.Components(3).union(np.zeros(1, dtype=np.uint32), np.full(1, 3, dtype=np.uint32))
    with pytest.raises(kernels.Refused):
        kernels.agreements(np.zeros((2, 3), dtype=np.uint8), *np.array([[0], [2]], dtype=np.uint32), 8)


@given(fingerprint_sets(), st.integers(0, 8), st.integers(1, 30))
def test_the_same_codes_are_near_each_other(fingerprints: tuple[int, list[int]], k: int, chunk: int) -> None:
    bits, ints = fingerprints
    codes = from_ints(ints, bits)

    def found() -> tuple[list[Any], list[Any]]:
        pairs, distances = self_join(codes, bits, k)
        in_chunks = [pair for some, _ in iter_self_join(codes, bits, k, chunk) for pair in some.tolist()]
        return [pairs.tolist(), distances.tolist()], sorted(in_chunks)

    compiled, numpy = both_ways(found)
    assert compiled == numpy


@pytest.mark.parametrize(("bits", "k", "count"), [(64, 3, 30_000), (64, 12, 3_000), (128, 20, 3_000), (40, 2, 30_000)])
def test_the_same_of_many_codes_are_near_each_other_also_if_many_share_a_hash(bits: int, k: int, count: int) -> None:
    rng = np.random.default_rng(k)
    codes = random_codes(rng, count, bits) & random_codes(rng, count, bits) & random_codes(rng, count, bits)
    compiled, numpy = both_ways(lambda: self_join(codes, bits, k))
    assert len(compiled[0]) > 100
    assert np.array_equal(compiled[0], numpy[0])
    assert np.array_equal(compiled[1], numpy[1])


def test_codes_are_refused_if_words_or_rows_do_not_fit() -> None:
    codes, none = np.zeros(2, dtype=np.uint64), np.zeros(0, dtype=np.uint64)
    with pytest.raises(kernels.Refused):
        kernels.sharing(codes, np.zeros(3, dtype=np.uint64), np.zeros(3, dtype=np.uint64))
    with pytest.raises(kernels.Refused):
        kernels.near_pairs(codes, np.array([2, 3], dtype=np.uint64), 0, 9, 0, codes[:1], none)
