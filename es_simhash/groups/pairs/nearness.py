"""Distances and similarities of documents that are linked, and which document of a group stands for which.

Documents that links connect are a group, which may be a chain whose ends are unlike. In it, the first document stands
for itself. Each further one is a duplicate of the first before it that stands for itself and is near it; if there is
none, it stands for itself as well. So every duplicate is near the document that stands for it.

Of more than `MOST_CONNECTED` documents that links connect, only the pairs that were found count, since each document
that stands for itself would be compared with all that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash._core.json_codec import Json
from es_simhash.groups.pairs.candidates import pair_codes
from es_simhash.groups.pairs.compare import CompareTexts, Pairs
from es_simhash.groups.pairs.fingerprint_store import FingerprintStore
from es_simhash.groups.pairs.pair_rows import PairRows
from es_simhash.groups.pairs.stored_rows import Columns, Rows
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.verdict.rule import PairMeasures, Similarities, are_near, clauses, lowest_estimate
from es_simhash.sketches.minhash.common import standard_errors


@dataclass(frozen=True, eq=False)
class Near:
    """Distances and similarities of pairs of documents; None if the scheme has none.

    Estimated similarities have ``standard_errors``.
    """

    distances: npt.NDArray[np.int64] | None
    similarities: npt.NDArray[np.float64] | None
    standard_errors: npt.NDArray[np.float64] | None = None


class _LoadedRows:
    """Stored rows, some of them loaded."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self.load(np.empty(0, dtype=np.int64))

    def load(self, positions: Integers) -> None:
        """Load the rows of these documents, which ascend."""
        self._loaded, self._rows = positions, self._columns.take(positions)

    def take(self, rows: Integers) -> Rows:
        """Return rows by their numbers, in any order."""
        places = np.searchsorted(self._loaded, rows)
        if len(self._loaded) and (self._loaded.take(places, mode="clip") == rows).all():
            return self._rows[places]
        return self._columns.at(rows)


class Nearness:
    """Distances and similarities by stored fingerprints, or with ``exact`` of texts; positions need not ascend."""

    def __init__(self, store: FingerprintStore, criteria: Criteria, exact: CompareTexts | None) -> None:
        self._store = store
        self._criteria = criteria
        self._exact = exact
        self._contents = _LoadedRows(store.contents)
        self._simhashes = _LoadedRows(store.simhashes) if store.settings.simhash else None
        self._values = _LoadedRows(store.values) if store.settings.minhash else None

    def load(self, positions: Sequence[int]) -> None:
        """Load the fingerprints of some documents, which is faster than one by one."""
        ascending = np.array(sorted(positions), dtype=np.int64)
        for rows in (self._contents, self._simhashes, self._values):
            if rows is not None:
                rows.load(ascending)

    def has_content(self, position: int, content: int) -> bool:
        """Return whether the text of a document has this hash."""
        [[found, _]] = self._store.contents.take(np.array([position])).tolist()
        return bool(found == content)

    def between(self, first: Integers, second: Integers, known: Similarities | None = None) -> Near:
        """Compare the documents of pairs, but for ``known`` similarities, those that are not NaN."""
        rows, similarities, errors = PairRows(pair_codes(first, second)), None, None
        if self._values:
            similarities = np.full(len(first), np.nan) if known is None else known
            asked = np.isnan(similarities)
            if asked.any():
                some = first[asked], second[asked]
                similarities[asked] = self._measures(*some, PairRows(pair_codes(*some))).meeting
            errors = self._errors(similarities)
        return Near(self._distances(rows), similarities, errors)

    def _distances(self, rows: PairRows) -> Integers | None:
        return rows.distances(self._simhashes).astype(np.int64) if self._simhashes else None

    def _measures(self, first: Integers, second: Integers, rows: PairRows) -> PairMeasures:
        is_equal = rows.are_equal(self._contents)
        if not self._exact:
            assert self._values
            assert self._store.settings.minhash
            found = rows.estimates(self._values, self._store.value_bits, self._store.settings.minhash.size)
            return PairMeasures.of_similarities(np.where(is_equal, 1.0, found))
        unequal = ~is_equal
        exact = self._exact(first[unequal], second[unequal], 0.0)
        measures = PairMeasures.of_similarities(np.ones(len(first), dtype=np.float64))
        measures.similarities[unequal], measures.meets[unequal] = exact.similarities, exact.meets
        return measures

    def _errors(self, similarities: Similarities) -> Similarities | None:
        """Return the standard errors of estimated similarities; None if texts were compared."""
        if self._exact:
            return None
        assert self._store.settings.minhash
        return standard_errors(similarities, self._store.settings.minhash.size, self._store.value_bits)

    def are_near(self, first: Integers, second: Integers) -> npt.NDArray[np.bool_]:
        """Return which pairs of documents meet the criteria."""
        rows = PairRows(pair_codes(first, second))
        texts = None if self._criteria.similarity is None else self._deciding(first, second, rows)
        found = are_near(clauses(self._criteria, self._distances(rows), texts))
        return found & self._store.scopes.are_in_scope(first, second) if self._store.scopes else found

    def _deciding(self, first: Integers, second: Integers, rows: PairRows) -> PairMeasures:
        """Measure pairs; texts are compared where estimates do not rule them out, as those of candidates are."""
        if not self._exact:
            return self._measures(first, second, rows)
        assert self._values
        minhash, bits = self._store.settings.minhash, self._store.value_bits
        assert minhash
        are_equal = rows.are_equal(self._contents)
        estimates = rows.estimates(self._values, bits, minhash.layout.size)
        asked = ~are_equal & (estimates >= lowest_estimate(self._criteria, minhash, bits))
        measures = PairMeasures.of_similarities(are_equal.astype(np.float64))
        if asked.any():
            exact = self._exact(first[asked], second[asked], self._criteria.least)
            measures.similarities[asked], measures.meets[asked] = exact.similarities, exact.meets
        return measures

    def originals(self, groups: Sequence[Sequence[int]]) -> Integers:
        """Return for each member of groups, as a place among all, the first of its group that has the same text.

        If a scope may keep equal texts apart, each is its own original.
        """
        members, numbers = _members(groups), np.repeat(np.arange(len(groups)), _sizes(groups))
        places = np.arange(len(members))
        if self.is_by_pairs:
            return places
        order, is_first = self._by_text(members, numbers)
        originals = places.copy()
        originals[order] = order[np.flatnonzero(is_first)][np.cumsum(is_first) - 1]
        return originals

    @property
    def is_by_pairs(self) -> bool:
        """Whether a scope may keep documents with equal texts apart that are near the same ones."""
        return bool(self._store.scopes and self._store.scopes.by_pairs)

    @property
    def scope_paths(self) -> tuple[str, ...]:
        """The fields of the scope."""
        return self._store.scopes.paths if self._store.scopes else ()

    def has_scope(self, position: int, document: Json) -> bool:
        """Return whether the scope of a document is as it was when it was read."""
        return not self._store.scopes or self._store.scopes.has(position, document)

    def texts(self, groups: Sequence[Sequence[int]]) -> tuple[Integers, Integers]:
        """Return the first of the members of each group that have the same text, and how many each group has."""
        members, numbers = _members(groups), np.repeat(np.arange(len(groups)), _sizes(groups))
        order, is_first = self._by_text(members, numbers)
        places = np.sort(order[is_first])
        return members[places], np.bincount(numbers[places], minlength=len(groups))

    def _by_text(self, members: Integers, numbers: Integers) -> tuple[Integers, npt.NDArray[np.bool_]]:
        """Order members by their groups and texts, and say which are the first with their text."""
        high, low = self._contents.take(members).T
        order = np.lexsort((low, high, numbers))
        is_first = np.ones(len(order), dtype=np.bool_)
        is_first[1:] = np.logical_or.reduce([each[order][1:] != each[order][:-1] for each in (numbers, high, low)])
        return order, is_first


def _sizes(groups: Sequence[Sequence[int]]) -> list[int]:
    return list(map(len, groups))


def _members(groups: Sequence[Sequence[int]]) -> Integers:
    return np.fromiter(chain.from_iterable(groups), dtype=np.int64)


def values_of(near: Near) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the similarity, distance and standard error of each pair, None if it has none."""
    columns = (near.similarities, near.distances, near.standard_errors)
    count = max(0 if values is None else len(values) for values in columns)
    return zip(*([None] * count if values is None else values.tolist() for values in columns), strict=True)


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
