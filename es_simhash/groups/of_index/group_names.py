"""Stable names of groups: a group keeps the name that most of its members have already.

A group without such a name gets a hash of its canonical document. So a run that changes nothing gives the same names,
and so does one that continues a run that was stopped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from es_simhash.scheme.group_fields import new_name


def names(groups: Sequence[tuple[tuple[str, str], Counter[str]]], others: Iterable[str] = ()) -> list[str]:
    """Name each group, given the index and id of its first document, and the present names of its members.

    The names of ``others`` are not used.

    If two groups want the same name, the one with more members of this name gets it; the index and id of the first
    document break ties.
    """
    found: dict[int, str] = {}
    taken = set(others)
    for _, name, _, number in sorted(_wishes(groups)):
        if number not in found and name not in taken:
            found[number] = name
            taken.add(name)
    # Old names are not given to other groups, even if no group keeps them.
    taken.update(name for _, stored in groups for name in stored)
    for number, (first, _) in sorted(enumerate(groups), key=lambda each: each[1][0]):
        if number not in found:
            found[number] = _new_name(first, taken)
            taken.add(found[number])
    return [found[number] for number in range(len(groups))]


def _wishes(
    groups: Iterable[tuple[tuple[str, str], Counter[str]]],
) -> Iterable[tuple[int, str, tuple[str, str], int]]:
    for number, (first, stored) in enumerate(groups):
        for name, count in stored.items():
            yield -count, name, first, number


def name_of(first: tuple[str, str], number: int) -> str:
    """Return the name of a new group, or the next one if others have it already."""
    return new_name(*first, *([str(number)] if number else []))


def _new_name(first: tuple[str, str], taken: set[str]) -> str:
    """Make a name: a hash of the canonical document, with a number if the name is taken."""
    number = 0
    while True:
        name = name_of(first, number)
        if name not in taken:
            return name
        number += 1
