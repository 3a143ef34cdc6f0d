"""Which document of a group stands for which.

Documents that links connect are a group, which may be a chain whose ends are unlike. In it, the first document stands
for itself. Each further one is a duplicate of the first before it that stands for itself and is near it; if there is
none, it stands for itself as well. So every duplicate is near the document that stands for it.

Of more than `MOST_CONNECTED` documents that links connect, only the pairs that were found count, since each document
that stands for itself would be compared with all that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash.groups.pairs.compare import Pairs
from es_simhash.groups.pairs.nearness import Nearness

MOST_CONNECTED = 100_000
# Two documents that a link connects are near each other.
_PAIR = 2
_COMPARED_AT_ONCE = 1 << 16


def canonicals_of(
    groups: Sequence[Sequence[int]],
    nearness: Nearness,
    *,
    are_linked: bool = True,
    pairs: Callable[[], Iterable[Pairs]] | None = None,
) -> Integers:
    """Return for each member of groups, one group after the other, the document that stands for it.

    The members of a group come in the order of preference. Unless all of a group ``are_linked`` by pairs that are near,
    two alone are compared as well. The ``pairs`` that were found decide in very large groups.
    """
    sizes = np.array(list(map(len, groups)), dtype=np.int64)
    members = np.fromiter(chain.from_iterable(groups), dtype=np.int64, count=int(sizes.sum()))
    starts = np.cumsum(sizes) - sizes
    found = np.repeat(members[starts], sizes)
    are_large = (sizes > MOST_CONNECTED) & (pairs is not None)
    for large in np.flatnonzero(are_large).tolist():
        assert pairs is not None
        found[starts[large] :][: sizes[large]] = _by_pairs(groups[large], nearness, pairs())
    if not (are_compared := ~are_large & ((sizes > _PAIR) | ~np.bool_(are_linked))).any():
        return found
    some = [each for each, is_compared in zip(groups, are_compared.tolist(), strict=True) if is_compared]
    found[np.repeat(are_compared, sizes)] = _compared(some, nearness)
    return found


def in_turn(members: Sequence[int], canonicals: Sequence[int]) -> list[int]:
    """Return the members of a group: each that stands for itself, and then its duplicates."""
    duplicates: dict[int, list[int]] = {}
    for member, canonical in zip(members, canonicals, strict=True):
        standing = duplicates.setdefault(canonical, [canonical])
        if member != canonical:
            standing.append(member)
    return list(chain.from_iterable(duplicates.values()))


def _compared(groups: Sequence[Sequence[int]], nearness: Nearness) -> Integers:
    """Compare each text with those that stand for themselves: in each round the first that is left with the others."""
    members = np.fromiter(chain.from_iterable(groups), dtype=np.int64)
    numbers = np.repeat(np.arange(len(groups)), [len(each) for each in groups])
    nearness.load(members.tolist())
    originals = nearness.originals(groups)
    places = np.arange(len(members))
    canonicals, left = places.copy(), places[originals == places]
    while len(left):
        is_first = np.diff(numbers[left], prepend=-1) > 0
        leaders = left[is_first][np.cumsum(is_first) - 1][~is_first]
        left = left[~is_first]
        are_near = _are_near(nearness, members[leaders], members[left])
        canonicals[left[are_near]] = leaders[are_near]
        left = left[~are_near]
    result: Integers = members[canonicals[originals]]
    return result


def _by_pairs(group: Sequence[int], nearness: Nearness, pairs: Iterable[Pairs]) -> Integers:
    members, originals = np.array(group, dtype=np.int64), nearness.originals([group])
    order = np.argsort(members)
    ends = [np.empty((2, 0), dtype=np.int64)]
    for some in pairs:
        both = np.stack([some["first"], some["second"]]).astype(np.int64)
        at = order[np.searchsorted(members, both, sorter=order).clip(max=len(members) - 1)]
        ends.append(originals[at[:, (members[at] == both).all(axis=0)]])
    canonicals = canonicals_by_pairs(len(members), *np.concatenate(ends, axis=1))
    found: Integers = members[canonicals[originals]]
    return found


def _are_near(nearness: Nearness, first: Integers, second: Integers) -> npt.NDArray[np.bool_]:
    parts = list[npt.NDArray[np.bool_]]([np.empty(0, dtype=np.bool_)])
    for start in range(0, len(first), _COMPARED_AT_ONCE):
        here = slice(start, start + _COMPARED_AT_ONCE)
        parts.append(nearness.are_near(first[here], second[here]))
    return np.concatenate(parts)


def canonicals_by_pairs(count: int, first: Integers, second: Integers) -> Integers:
    """Return which of ``count`` documents, in the order of preference, stands for each, by the pairs that are near."""
    ends = np.stack([np.minimum(first, second), np.maximum(first, second)])
    earlier, later = ends[:, np.argsort(ends[0], kind="stable")]
    bounds = np.searchsorted(earlier, np.arange(count + 1)).tolist()
    canonicals = np.arange(count)
    for document, (start, stop) in enumerate(pairwise(bounds)):
        if start < stop and canonicals[document] == document:
            near = later[start:stop]
            canonicals[near[canonicals[near] == near]] = document
    return canonicals
