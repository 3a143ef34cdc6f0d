"""Distances and similarities of documents that are linked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash._core.json_paths import Json
from es_simhash.groups.pairs.candidates import pair_codes
from es_simhash.groups.pairs.fingerprint_store import FingerprintStore
from es_simhash.groups.pairs.pair_rows import PairRows
from es_simhash.groups.pairs.stored_rows import Columns, Rows
from es_simhash.groups.pairs.text_similarity import CompareTexts
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.verdict.measures import PairMeasures, Similarities
from es_simhash.scheme.verdict.plausible import lowest_estimate
from es_simhash.scheme.verdict.rule import are_near, clauses
from es_simhash.sketches.minhash.estimate import standard_errors


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
    """Distances and similarities by stored fingerprints, or with ``exact`` by texts; positions need not ascend."""

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

        Where a scope may keep equal texts apart, each is its own original.
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
