from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.groups.union_find import Components, UnionFind

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
