"""Grouping as people have decided: which links they add, which they take away, and how a group is parted.

The law: documents decided to be the same are linked; those decided to be different are never in one group; those
decided to be alone are in none. Documents that links connect are parted only if two of them are different. Then the
links are taken again, those of people first, then the strongest first, and each is refused that would connect two
different documents. Ties are broken by the names of the documents, so the groups depend on the documents, links and
decisions alone, not on the order in which they were read.

Links stand for copies as well: of documents with equal texts one was compared for all. If such documents are parted,
each of its links counts for one copy about which nothing was decided, and for all those about which something was.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers, UnionFind
from es_simhash.documents.decisions import Decided, Key
from es_simhash.groups.pairs.candidates import pair_codes
from es_simhash.groups.pairs.stored_rows import Numbers

_PEOPLE, _COPIES = 3.0, 2.0
_MOST_BITS = 64
_NAMES_AT_ONCE = 10_000

# The positions of two documents.
Pair: TypeAlias = tuple[int, int]
# Rows with their positions and measures, as `es_simhash.groups.pairs.compare.pair_type` has them.
Pairs: TypeAlias = npt.NDArray[Any]
Flags: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class DecidedPairs:
    """Decisions on the documents of a corpus, by their positions; those on others are left out.

    ``mentioned`` are all documents that decisions name; ``count`` is the number of the decisions that hold, and
    ``elsewhere`` that of those on other documents.
    """

    same: Sequence[Pair] = ()
    different: Sequence[Pair] = ()
    canonical: frozenset[int] = frozenset()
    alone: frozenset[int] = frozenset()
    mentioned: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    count: int = 0
    elsewhere: int = 0
    conflicts: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Return whether any decision holds on these documents."""
        return bool(self.same or self.different or self.canonical or self.alone)

    def links(self, without: Set[int] = frozenset()) -> list[Pair]:
        """Return the pairs that are linked, ``without`` those of some documents."""
        return [pair for pair in self.same if self.alone.isdisjoint(pair) and without.isdisjoint(pair)]

    def only_allowed(self, pairs: Pairs) -> Pairs:
        """Return the pairs that decisions do not forbid, and without those that they decide to be the same."""
        ends = np.stack([pairs["first"], pairs["second"]], axis=1)
        decided = np.isin(_codes(ends), _codes(np.array([*self.different, *self.same])))
        stay = ~decided & ~np.isin(ends, np.fromiter(self.alone, dtype=np.int64)).any(axis=1)
        found: Pairs = pairs[stay]
        return found


class SameOnes:
    """Documents that people have decided to be the same: what is near one of them is near them all.

    Only ``links`` within one group count. ``copies`` has for each document the first of its group with an equal text.
    """

    def __init__(self, links: Sequence[Pair], copies: Integers) -> None:
        # Copies of a text are one document, as in `parted`.
        self._copies = copies
        ends = copies[np.array(links, dtype=np.int64)]
        members, numbers = np.unique(ends, return_inverse=True)
        union = UnionFind(len(members))
        union.union(*numbers.reshape(-1, 2).T)
        self._classes: dict[int, list[int]] = defaultdict(list)
        self._class = np.full(len(copies), -1, dtype=np.int64)
        for member, first in zip(members.tolist(), np.asarray(union.groups().firsts).tolist(), strict=True):
            self._classes[first].append(member)
            self._class[member] = first

    def are_near(self, first: Integers, second: Integers, meet: Callable[[Integers, Integers], Flags]) -> Flags:
        """Return which documents are near each other, if those are that ``meet``."""
        found = meet(first, second)
        one, other = self._class[self._copies[first]], self._class[self._copies[second]]
        found |= (one == other) & (one >= 0)
        asked = np.flatnonzero(~found & ((one >= 0) | (other >= 0)))
        if not len(asked):
            return found
        pairs, starts = list[Pair](), list[int]()
        for place in asked.tolist():
            starts.append(len(pairs))
            pairs += product(self._mates(one, first, place), self._mates(other, second, place))
        are_near = meet(*np.array(pairs, dtype=np.int64).T)
        found[asked] = np.add.reduceat(are_near.astype(np.int64), starts) > 0
        return found

    def _mates(self, numbers: Integers, members: Integers, place: int) -> list[int]:
        return self._classes[int(numbers[place])] if numbers[place] >= 0 else [int(members[place])]


def same_ones(links: Sequence[Pair], copies: Integers, firsts: Integers) -> SameOnes | None:
    """Return what people have linked in groups, given the first of the group of each document; None if nothing."""
    if not (inside := [(a, b) for a, b in links if firsts[a] == firsts[b]]):
        return None
    _, first_ones, numbers = np.unique(pair_codes(firsts, copies), return_index=True, return_inverse=True)
    return SameOnes(inside, first_ones[numbers])


def decided_pairs(decided: Decided, keys: Callable[[Sequence[int]], list[Key]], compared: Flags) -> DecidedPairs:
    """Find the documents that decisions mention among those that are ``compared``; a function returns their ``keys``.

    Those that have nothing to compare are in no group, whatever was decided, as if they were not here.
    """
    here: dict[Key, int] = {}
    for start in range(0, len(compared) if decided else 0, _NAMES_AT_ONCE):
        some = (start + np.flatnonzero(compared[start : start + _NAMES_AT_ONCE])).tolist()
        here |= {key: place for key, place in zip(keys(some), some, strict=True) if key in decided.mentioned}
    return placed(decided, here)


def placed(decided: Decided, here: Mapping[Key, int]) -> DecidedPairs:
    """Return decisions by the positions of those documents that are ``here``."""
    if not decided:
        return DecidedPairs()

    def pairs(named: Iterable[tuple[Key, ...]]) -> list[Pair]:
        found = ((here[a], here[b]) for a, b in named if a in here and b in here)
        return [(min(pair), max(pair)) for pair in found]

    are_here = [all(key in here for key in each.documents) for each in decided.decisions if each.holds]
    return DecidedPairs(
        pairs(decided.same),
        pairs(decided.different),
        frozenset(here[key] for key in decided.canonical if key in here),
        frozenset(here[key] for key in decided.alone if key in here),
        np.array(sorted(here.values()), dtype=np.int64),
        sum(are_here),
        len(are_here) - sum(are_here),
        tuple(decided.conflicts),
    )


def parted(
    union: UnionFind,
    decided: DecidedPairs,
    links: Callable[[], Iterable[Pairs]],
    copies: Integers,
    stays: Flags,
    keys: Callable[[Sequence[int]], list[Key]],
) -> UnionFind:
    """Return the groups of ``union`` with those parted that have two different documents.

    ``copies`` has for each document the first with an equal text; only what ``stays`` is in a group.
    """
    firsts = np.asarray(union.groups().firsts, dtype=np.int64)
    ends = np.array(decided.different, dtype=np.int64).reshape(-1, 2)
    ends = ends[stays[ends].all(axis=1)]
    torn = np.unique(firsts[ends[:, 0]][firsts[ends[:, 0]] == firsts[ends[:, 1]]])
    if not len(torn):
        return union
    is_torn = np.isin(firsts, torn)
    members = np.flatnonzero(is_torn & stays)
    parts = _Parts(members, copies, decided, ends[is_torn[ends[:, 0]]], keys)
    have_torn = np.zeros(len(firsts), dtype=np.bool_)
    have_torn[copies[members]] = True
    for pairs in links():
        first, second = copies[pairs["first"]], copies[pairs["second"]]
        parts.add(pairs[(first != second) & have_torn[first] & have_torn[second]])
    result, others = UnionFind(len(firsts)), np.flatnonzero(~is_torn)
    result.union(firsts[others], others)
    result.union(*parts.made())
    return result


class _Parts:
    """The documents of groups that are parted, with the links among them."""

    def __init__(
        self,
        members: Integers,
        copies: Integers,
        decided: DecidedPairs,
        different: Integers,
        keys: Callable[[Sequence[int]], list[Key]],
    ) -> None:
        named = sorted(zip(keys(members.tolist()), members.tolist(), strict=True))
        # The place of each document in the order of their names.
        self._places = np.full(len(copies), -1, dtype=np.int64)
        self._members = np.array([member for _, member in named], dtype=np.int64)
        self._places[self._members] = np.arange(len(named))
        self._apart: dict[int, set[int]] = defaultdict(set)
        for a, b in self._places[different].tolist():
            self._apart[a].add(b)
            self._apart[b].add(a)
        # For each text the place of a document that is linked for all that have it, and those of others like this.
        self._copies = copies
        self._end = np.full(len(copies), -1, dtype=np.int64)
        self._more: dict[int, list[int]] = {}
        self._links: list[npt.NDArray[np.float64]] = []
        self._link_copies()
        decided_links = [self._places[[*pair]].tolist() for pair in decided.links()]
        self._link(_PEOPLE, [pair for pair in decided_links if min(pair) >= 0])

    def _link_copies(self) -> None:
        classes: dict[int, list[int]] = defaultdict(list)
        for place, first in enumerate(self._copies[self._members].tolist()):
            classes[first].append(place)
        links: list[tuple[int, int]] = []
        for first, places in classes.items():
            plain = [place for place in places if place not in self._apart]
            links += ((plain[0], place) for place in plain[1:])
            ends = [*plain[:1], *(place for place in places if place in self._apart)]
            links += combinations(ends, 2)
            self._end[first], self._more[first] = ends[0], ends[1:]
        self._more = {first: more for first, more in self._more.items() if more}
        self._link(_COPIES, links)

    def _link(self, strength: float, pairs: Sequence[Sequence[int]]) -> None:
        found = np.array(pairs, dtype=np.float64).reshape(-1, 2)
        self._links.append(np.column_stack([np.full(len(found), -strength), found]))

    def add(self, pairs: Pairs) -> None:
        """Add near-duplicates, but for copies of one text."""
        names = pairs.dtype.names or ()
        strengths = np.nan_to_num(pairs["similarity"] if "similarity" in names else 1 - pairs["distance"] / _MOST_BITS)
        first, second = self._copies[pairs["first"]], self._copies[pairs["second"]]
        self._links.append(np.column_stack([-strengths, self._end[first], self._end[second]]))
        several = np.fromiter(self._more, dtype=np.int64)
        for row in np.flatnonzero(np.isin(first, several) | np.isin(second, several)).tolist():
            ends = ([int(self._end[side[row]]), *self._more.get(int(side[row]), ())] for side in (first, second))
            self._link(float(strengths[row]), list(product(*ends))[1:])

    def made(self) -> tuple[Integers, Integers]:
        """Return pairs that connect the documents of each part."""
        links = np.concatenate(self._links)
        ends = np.sort(links[:, 1:].astype(np.int64), axis=1)
        order = np.lexsort((ends[:, 1], ends[:, 0], links[:, 0]))
        roots, apart = list(range(len(self._members))), self._apart
        taken = []
        for a, b in ends[order].tolist():
            one, other = _root(roots, a), _root(roots, b)
            if one == other or other in apart.get(one, ()):
                continue
            taken.append((one, other))
            roots[other] = one
            for each in apart.pop(other, ()):
                apart[each].discard(other)
                apart[each].add(one)
                apart[one].add(each)
        first, second = self._members[np.array(taken, dtype=np.int64).reshape(-1, 2).T]
        return first, second


def _root(roots: list[int], place: int) -> int:
    while roots[place] != place:
        roots[place] = place = roots[roots[place]]
    return place


def _codes(ends: npt.NDArray[np.integer]) -> Numbers:
    ends = ends.astype(np.int64).reshape(-1, 2)
    return pair_codes(ends.min(axis=1), ends.max(axis=1))
