"""Linkage: whether connected documents make one group, or groups near their first, or groups near one another.

Documents with equal texts are in the same group in each linkage, unless a scope keeps them apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

import numpy as np

from es_simhash.groups.pairs.nearness import Nearness

Linkage: TypeAlias = Literal["star", "single", "complete"]

_AT_HAND = 20_000


def groups_among(
    ordered: Sequence[int], nearness: Nearness, linkage: Linkage, is_whole: bool = True
) -> Iterator[list[int]]:
    """Yield the groups among connected documents; the first of each, in the given order, stands for it.

    ``is_whole`` if all documents that links connect are given: then two alone are near each other.
    """
    if linkage == "single" or (len(ordered) == 2 and is_whole):
        yield list(ordered)
        return
    copies = nearness.interchangeable(ordered)
    places = {position: place for place, position in enumerate(ordered)}
    split = _stars if linkage == "star" else _cliques
    for texts in split(list(copies), nearness):
        group = sorted((each for text in texts for each in copies[text]), key=places.__getitem__)
        if len(group) > 1:
            yield group


def _stars(rest: list[int], nearness: Nearness) -> Iterator[list[int]]:
    """Group the first document with all that are near it, then the first of the rest, and so on."""
    while rest:
        first, others = rest[0], rest[1:]
        are_near = nearness.are_near(first, others).tolist()
        yield [first, *(other for other, near in zip(others, are_near, strict=True) if near)]
        rest = [other for other, near in zip(others, are_near, strict=True) if not near]


def _cliques(rest: list[int], nearness: Nearness) -> Iterator[list[int]]:
    """Group the first document with each that is near the whole group so far, then the first of the rest, and so on."""
    while rest:
        group, open_ = [rest[0]], np.array(rest[1:], dtype=np.int64)
        open_ = open_[nearness.are_near(group[0], open_.tolist())]
        while len(open_):
            group.append(int(open_[0]))
            open_ = open_[1:]
            open_ = open_[nearness.are_near(group[-1], open_.tolist())]
        yield group
        taken = set(group)
        rest = [position for position in rest if position not in taken]


def groups_in_batches(groups: Iterable[list[int]]) -> Iterator[list[list[int]]]:
    """Yield batches of groups with tens of thousands of members, or a single group with more."""
    some: list[list[int]] = []
    members = 0
    for group in groups:
        some.append(group)
        members += len(group)
        if members >= _AT_HAND:
            yield some
            some, members = [], 0
    if some:
        yield some
