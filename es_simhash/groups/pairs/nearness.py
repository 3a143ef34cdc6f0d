"""Distances and similarities of documents, and the diameters of groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash._core.json_paths import Json
from es_simhash.groups.pairs.fingerprint_store import FingerprintStore
from es_simhash.groups.pairs.spool import Columns, Rows
from es_simhash.groups.pairs.text_similarity import CompareTexts
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.verdict import rule
from es_simhash.scheme.verdict.measures import PairMeasures
from es_simhash.scheme.verdict.rule import are_near, clauses
from es_simhash.scheme.verdict.surroundings import Surroundings
from es_simhash.sketches import hamming
from es_simhash.sketches.minhash.estimate import estimates, standard_errors

# The diameter of groups with more different texts than this is not computed from all pairs.
_ALL_PAIRS = 64
_PAIR = 2


@dataclass(frozen=True, eq=False)
class Near:
    """Distances and similarities of documents to one of them; None if the scheme has none.

    Estimated similarities have ``standard_errors``.
    """

    distances: npt.NDArray[np.int64] | None
    similarities: npt.NDArray[np.float64] | None
    standard_errors: npt.NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Diameter:
    """The largest distance and the lowest similarity found between members of a group.

    Unless ``all_pairs`` were compared, some pair may be farther apart. An estimated similarity has a
    ``standard_error``.
    """

    distance: int | None
    similarity: float | None
    all_pairs: bool
    standard_error: float | None = None


class Nearness:
    """Distances and similarities by stored fingerprints, or with ``exact`` by texts; positions need not ascend.

    Texts that are not at hand are read by ``read_texts``, or else when they are compared.
    """

    def __init__(
        self,
        store: FingerprintStore,
        criteria: Criteria,
        exact: CompareTexts | None = None,
        surroundings: Surroundings | None = None,
        read_texts: Callable[[Integers], None] | None = None,
    ) -> None:
        self._store = store
        self._read_texts = read_texts
        self._criteria = criteria
        self._exact = exact
        self._surroundings = surroundings
        self._loaded = np.empty(0, dtype=np.int64)
        self._rows: dict[int, Rows] = {}

    def load(self, positions: Sequence[int]) -> None:
        """Load the fingerprints of some documents, which is faster than one by one."""
        store, self._loaded = self._store, np.array(sorted(positions), dtype=np.int64)
        used = [store.contents, *([store.simhashes] if store.settings.simhash else [])]
        used += [store.values] if store.settings.minhash else []
        self._rows = {id(columns): columns.take(self._loaded) for columns in used}

    def read_texts(self, groups: Sequence[Sequence[int]]) -> None:
        """Read the texts of loaded groups, which is faster than group by group: those that differ from the first."""
        if self._exact and self._read_texts:
            firsts = np.repeat([each[0] for each in groups], list(map(len, groups)))
            members = np.array([position for each in groups for position in each], dtype=np.int64)
            contents = (self._taken(self._store.contents, rows) for rows in (firsts, members))
            differ = np.not_equal(*contents).any(axis=1)
            self._read_texts(np.concatenate([firsts[differ], members[differ]]))

    def has_content(self, position: int, content: int) -> bool:
        """Return whether the text of a document has this hash."""
        [[found, _]] = self._store.contents.take(np.array([position])).tolist()
        return bool(found == content)

    def to(self, one: int, others: Sequence[int]) -> Near:
        """Compare documents to one."""
        rows = np.array([one, *others], dtype=np.int64)
        similarities = errors = None
        if self._store.settings.minhash:
            similarities = self._measures(rows).meeting
            errors = None if self._exact else self._errors(similarities)
        return Near(self._distances(rows), similarities, errors)

    def _distances(self, rows: Integers) -> npt.NDArray[np.int64] | None:
        if not self._store.settings.simhash:
            return None
        own = self._taken(self._store.simhashes, rows)
        words = [hamming.distances(own[1:, word], own[0, word]) for word in range(own.shape[1])]
        return np.stack(words, axis=1).sum(axis=1, dtype=np.int64)

    def _measures(self, rows: Integers) -> PairMeasures:
        """Compare documents to the first one."""
        contents = self._taken(self._store.contents, rows)
        is_equal = (contents[1:] == contents[:1]).all(axis=1)
        if not self._exact:
            values = self._taken(self._store.values, rows)
            found = estimates(values[1:], values[:1], self._store.value_bits)
            return PairMeasures.of_similarities(np.where(is_equal, 1.0, found))
        others, unequal = rows[1:][~is_equal], ~is_equal
        exact = self._exact(np.full_like(others, rows[0]), others, 0.0)
        measures = PairMeasures.of_similarities(np.ones(len(rows) - 1, dtype=np.float64))
        measures.similarities[unequal], measures.agreements[unequal] = exact.similarities, exact.agreements
        return measures

    def _errors(self, similarities: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        assert self._store.settings.minhash
        return standard_errors(similarities, self._store.settings.minhash.size, self._store.value_bits)

    def are_near(self, one: int, others: Sequence[int]) -> npt.NDArray[np.bool_]:
        """Return whether each document meets the criteria together with the one."""
        rows = np.array([one, *others], dtype=np.int64)
        texts = None if self._criteria.similarity is None else self._measures(rows)
        ones = np.full_like(rows[1:], one)
        around = self._surroundings.of_pairs(ones, rows[1:]) if self._surroundings else (0.0, 0)
        found = are_near(clauses(self._criteria, rule.Near(self._distances(rows), texts, *around)))
        return found & self._store.scopes.are_in_scope(ones, rows[1:]) if self._store.scopes else found

    def interchangeable(self, positions: Sequence[int]) -> dict[int, list[int]]:
        """Group connected documents that are near the same ones, under the first of each, in the given order."""
        return {position: [position] for position in positions} if self.is_by_pairs else self.copies(positions)

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

    def copies(self, positions: Sequence[int]) -> dict[int, list[int]]:
        """Group documents by their texts, under the first of each, in the given order."""
        rows = self._taken(self._store.contents, np.array(positions, dtype=np.int64))
        firsts: dict[bytes, int] = {}
        copies: dict[int, list[int]] = {}
        for position, row in zip(positions, rows, strict=True):
            copies.setdefault(firsts.setdefault(row.tobytes(), position), []).append(position)
        return copies

    def diameter(self, positions: Sequence[int], to_first: Near) -> Diameter:
        """Compute the diameter of documents; if there are many, compare those that are far from the first."""
        texts = list(self.copies(positions)) if len(positions) > _PAIR else positions
        all_pairs = len(texts) <= _ALL_PAIRS
        if len(texts) <= _PAIR:
            found = [to_first]
        elif all_pairs:
            found = [self.to(one, texts[place + 1 :]) for place, one in enumerate(texts[:-1])]
        else:
            first = self.to(texts[0], texts)
            ends = {_farthest(first.distances, np.argmax), _farthest(first.similarities, np.argmin)}
            found = [first, *(self.to(texts[end], texts) for end in ends if end is not None)]
        distances = [int(each.distances.max()) for each in found if each.distances is not None]
        similarities = [float(each.similarities.min()) for each in found if each.similarities is not None]
        least = np.array(min(similarities, default=1.0))
        has = self._store.settings
        return Diameter(
            max(distances, default=0) if has.simhash else None,
            float(least) if has.minhash else None,
            all_pairs,
            float(self._errors(least)) if has.minhash and not self._exact else None,
        )

    def _taken(self, columns: Columns, rows: Integers) -> Rows:
        """Return the rows of documents in any order."""
        places = np.searchsorted(self._loaded, rows)
        if len(self._loaded) and (self._loaded.take(places, mode="clip") == rows).all():
            return self._rows[id(columns)][places]
        return columns.at(rows)


def _farthest(values: npt.NDArray[np.generic] | None, which: Callable[..., np.intp]) -> int | None:
    return None if values is None else int(which(values))


def values_of(near: Near) -> Iterator[tuple[Any, Any, Any]]:
    """Return the distance, similarity and standard error of each document, None if it has none."""
    columns = (near.distances, near.similarities, near.standard_errors)
    count = max(0 if values is None else len(values) for values in columns)
    return zip(*([None] * count if values is None else values.tolist() for values in columns), strict=True)
