"""Batches of groups, which are compared and written together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_AT_HAND = 20_000


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
