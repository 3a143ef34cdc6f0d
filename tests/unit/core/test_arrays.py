""""""

from __future__ import annotations

import base64
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core import arrays
from es_simhash._core.arrays import (
    Components,
    UnionFind,
    offsets_from_counts,
    positions_in_rows,
    rows_of,
    select,
    spread,
    spread_chunks,
)
from es_simhash.errors import FormatError, HashError, SchemeError
from es_simhash.sketches import hamming

COUNTS = st.lists(st.integers(0, 9), max_size=20)


def slow_spread(counts: list[int]) -> list[tuple[int, int]]:
    return [(owner, place) for owner, count in enumerate(counts) for place in range(count)]


@given(COUNTS)
def test_every_item_has_its_owner_and_its_place(counts: list[int]) -> None:
    owners, places = spread(np.array(counts, dtype=np.int64))
    assert list(zip(owners.tolist(), places.tolist(), strict=True)) == slow_spread(counts)


@given(COUNTS, st.integers(1, 12))
def test_chunks_are_the_same_items_in_pieces_of_bounded_size(counts: list[int], limit: int) -> None:
    chunks = list(spread_chunks(np.array(counts, dtype=np.int64), limit))
    assert all(1 <= len(owners) == len(places) <= limit for owners, places in chunks)
    items = [item for owners, places in chunks for item in zip(owners.tolist(), places.tolist(), strict=True)]
    assert items == slow_spread(counts)


@given(COUNTS)
def test_offsets_rows_and_positions_agree(counts: list[int]) -> None:
    sizes = np.array(counts, dtype=np.int64)
    offsets = offsets_from_counts(sizes)
    assert np.diff(offsets).tolist() == counts
    assert list(zip(rows_of(offsets).tolist(), positions_in_rows(sizes).tolist(), strict=True)) == slow_spread(counts)


@given(COUNTS, st.integers(1, 4))
def test_selected_elements_stay_in_their_rows(counts: list[int], divisor: int) -> None:
    offsets = offsets_from_counts(np.array(counts, dtype=np.int64))
    values = np.arange(offsets[-1])
    kept, kept_offsets = select(values, offsets, values % divisor == 0)
    rows = [[v for v in range(a, b) if v % divisor == 0] for a, b in pairwise(offsets)]
    assert [kept[a:b].tolist() for a, b in pairwise(kept_offsets)] == rows


Widths = st.integers(1, 128)


@st.composite
def values_of_a_width(draw: st.DrawFn) -> tuple[int, list[int]]:
    bits = draw(Widths)
    return bits, draw(st.lists(st.integers(0, 2**bits - 1), max_size=6))


@given(values_of_a_width())
def test_codes_keep_integers_of_every_width(case: tuple[int, list[int]]) -> None:
    bits, values = case
    assert arrays.to_ints(arrays.from_ints(values, bits)) == values


@given(values_of_a_width(), st.data())
def test_extract_reads_the_bits_as_they_are_written_down(case: tuple[int, list[int]], data: st.DataObject) -> None:
    bits, values = case
    start = data.draw(st.integers(0, bits - 1))
    width = data.draw(st.integers(1, min(64, bits - start)))
    extracted = arrays.extract(arrays.from_ints(values, bits), bits, start, width)
    written = [f"{value:0{bits}b}"[start : start + width] for value in values]
    assert extracted.tolist() == [int(digits, 2) for digits in written]


@pytest.mark.parametrize("bits", [0, -1, 129, 1.5, True, "64"])
def test_a_width_outside_1_to_128_is_refused(bits: object) -> None:
    with pytest.raises(SchemeError, match="from 1 to 128"):
        arrays.check_bits(bits)  # type: ignore[arg-type]


@pytest.mark.parametrize(("value", "bits"), [(-1, 8), (256, 8), (1 << 64, 64), (1 << 128, 128)])
def test_a_value_that_does_not_fit_is_refused_by_name(value: int, bits: int) -> None:
    with pytest.raises(HashError, match=str(value)):
        arrays.from_ints([value], bits)


@pytest.mark.parametrize("value", [1.9, "a", None])
def test_what_is_not_an_integer_is_refused(value: object) -> None:
    with pytest.raises(HashError, match="Give integers"):
        arrays.from_ints([value], 64)  # type: ignore[list-item]


def test_integers_of_numpy_are_integers() -> None:
    assert arrays.from_ints([np.int64(5)], 128).tolist() == [[0, 5]]  # type: ignore[list-item]


def bits_by_kernighan(x: int) -> int:
    """Count bits by x &= x - 1, which clears the lowest one."""
    count = 0
    while x:
        x &= x - 1
        count += 1
    return count


@given(st.integers(0, 2**128 - 1), st.integers(0, 2**128 - 1))
def test_scalar_distance_agrees_with_clearing_bit_after_bit(a: int, b: int) -> None:
    assert hamming.distance(a, b) == bits_by_kernighan(a ^ b)


@given(values_of_a_width(), st.data())
def test_vectorised_distances_agree_with_clearing_bit_after_bit(
    case: tuple[int, list[int]], data: st.DataObject
) -> None:
    bits, values = case
    other = data.draw(st.integers(0, 2**bits - 1))
    distances = hamming.distances(arrays.from_ints(values, bits), arrays.from_ints([other], bits))
    assert distances.tolist() == [bits_by_kernighan(value ^ other) for value in values]


@given(st.lists(st.integers(0, 2**64 - 1)))
def test_counting_bits_without_numpy_2_agrees(values: list[int]) -> None:
    words = np.array(values, dtype=np.uint64)
    assert hamming._bit_count_swar(words).tolist() == [value.bit_count() for value in values]


@pytest.mark.parametrize(("a", "b", "expected"), [("00101110", "00001111", 2), ("100101", "101100", 2)])
def test_distances_of_the_literature(a: str, b: str, expected: int) -> None:
    assert hamming.distance(int(a, 2), int(b, 2)) == expected


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1))
def test_hex_digits_are_those_of_python(values: list[int]) -> None:
    points = arrays.code_points(np.array(values, dtype=np.uint64), 16, arrays.HEX)
    assert arrays.strings(points).tolist() == [f"{value:016x}" for value in values]


@given(st.lists(st.integers(0, 2**48 - 1), min_size=1))
def test_base64_digits_are_those_of_the_standard_library(values: list[int]) -> None:
    points = arrays.code_points(np.array(values, dtype=np.uint64), 8, arrays.BASE64URL)
    expected = [base64.urlsafe_b64encode(value.to_bytes(6, "big")).decode() for value in values]
    assert arrays.strings(points).tolist() == expected


@given(st.lists(st.integers(0, 2**36 - 1)))
def test_what_was_written_is_read_back(values: list[int]) -> None:
    array = np.array(values, dtype=np.uint64)
    text = "".join(arrays.strings(arrays.code_points(array, 6, arrays.BASE64URL)).tolist()) if values else ""
    assert arrays.values_of(text, 6, arrays.BASE64URL).tolist() == values


@pytest.mark.parametrize("text", ["AAAAA", "AAAAA+", "AAAAA\u4e2d", "AAAAA\ud800"])
def test_what_was_never_written_is_not_read(text: str) -> None:
    with pytest.raises(FormatError, match="6 digits"):
        arrays.values_of(text, 6, arrays.BASE64URL)


@given(st.lists(st.lists(st.integers(0, 63), min_size=2, max_size=2), min_size=1))
def test_joined_texts_are_those_of_python_with_spaces_between(rows: list[list[int]]) -> None:
    points = arrays.code_points(np.array(rows, dtype=np.uint64), 3, arrays.BASE64URL)
    assert arrays.joined(points) == [" ".join(row) for row in arrays.strings(points).tolist()]


def test_digits_lie_along_a_new_last_axis() -> None:
    points = arrays.code_points(np.array([[0x12, 0xAB], [0x00, 0xFF]], dtype=np.uint64), 2, arrays.HEX)
    assert points.shape == (2, 2, 2)
    assert arrays.strings(points).tolist() == [["12", "ab"], ["00", "ff"]]


@given(st.integers(0, 36**3 - 1))
def test_base36_has_a_fixed_number_of_digits_that_python_reads_back(value: int) -> None:
    text = arrays.base36(value, 3)
    assert len(text) == 3
    assert text == text.lower()
    assert int(text, 36) == value


Edges = list[tuple[int, int]]


def components(count: int, edges: Edges) -> list[list[int]]:
    """The connected components of at least two nodes, by walking from node to node."""
    neighbours: dict[int, set[int]] = {node: set() for node in range(count)}
    for a, b in edges:
        neighbours[a].add(b)
        neighbours[b].add(a)
    seen: set[int] = set()
    found = []
    for node in range(count):
        component, waiting = set(), {node} - seen
        while waiting:
            component |= waiting
            waiting = set().union(*(neighbours[each] for each in waiting)) - component
        seen |= component
        if len(component) > 1:
            found.append(sorted(component))
    return found


def grouped(count: int, *batches: Edges) -> Components:
    union = UnionFind(count)
    for batch in batches:
        array = np.array(batch, dtype=np.int64).reshape(-1, 2)
        union.union(array[:, 0], array[:, 1])
    return union.groups()


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, Edges, Edges]:
    count = draw(st.integers(1, 30))
    edges = st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=30)
    return count, draw(edges), draw(edges)


@given(graphs())
def test_groups_are_the_connected_components_in_the_order_of_their_first_documents(
    graph: tuple[int, Edges, Edges],
) -> None:
    count, some, others = graph
    groups = grouped(count, some, others)
    expected = components(count, some + others)
    assert list(groups) == expected
    assert len(groups) == len(expected)
    firsts = {member: group[0] for group in expected for member in group}
    assert groups.firsts.tolist() == [firsts.get(document, document) for document in range(count)]


@given(graphs())
def test_neither_the_order_of_pairs_nor_their_batches_matter(graph: tuple[int, Edges, Edges]) -> None:
    count, some, others = graph
    turned = [(b, a) for a, b in reversed(some + others)]
    assert grouped(count, some, others).firsts.tolist() == grouped(count, turned).firsts.tolist()


@pytest.mark.parametrize("step", [1, -1])
def test_a_chain_of_a_hundred_thousand_documents_is_one_group(step: int) -> None:
    links = np.arange(99_999)[::step]
    for batches in ([links], np.array_split(links, 50)):
        union = UnionFind(100_000)
        for batch in batches:
            union.union(batch, batch + 1)
        groups = union.groups()
        assert len(groups) == 1
        assert [len(group) for group in groups] == [100_000]


def test_no_documents_and_no_pairs_make_no_groups() -> None:
    assert list(grouped(0)) == []
    assert list(grouped(3, [])) == []
    assert len(grouped(3)) == 0


def test_a_document_paired_with_itself_is_alone() -> None:
    assert list(grouped(2, [(1, 1)])) == []
