"""Names of groups that stay: a group is called what most of its members are called already.

A group without such a name is called by a hash of the document that stands for it. So a run that changes nothing gives
the same names, and so does one that goes on where another was stopped.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256

_BYTES = 9


def names(groups: Sequence[tuple[tuple[str, str], Counter[str]]], others: Iterable[str] = ()) -> list[str]:
    """A name for each group, of which the index and id of its first document, and its members' names, are given.

    The names of ``others`` are given to none.

    Of two groups that want the same name, that with more members of this name gets it, or else the one that comes
    first by its first document's index and id.
    """
    found: dict[int, str] = {}
    taken = set(others)
    for _, name, _, number in sorted(_wishes(groups)):
        if number not in found and name not in taken:
            found[number] = name
            taken.add(name)
    # Names that were there before belong to nobody else, even where nobody keeps them.
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


def _new_name(first: tuple[str, str], taken: set[str]) -> str:
    """A hash of the document that stands for the group, and if that is taken, one of it and a number."""
    number = 0
    while True:
        digest = sha256("\0".join([*first, str(number)] if number else first).encode()).digest()
        name = urlsafe_b64encode(digest[:_BYTES]).decode("ascii")
        if name not in taken:
            return name
        number += 1
