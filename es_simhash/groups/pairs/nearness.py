"""How near documents are to one another, and how far apart those of a group are at most."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash.groups.pairs.fingerprint_store import FingerprintStore
from es_simhash.groups.pairs.spool import Columns, Rows
from es_simhash.groups.pairs.text_similarity import Exact
from es_simhash.scheme.query import Criteria
from es_simhash.sketches import hamming
from es_simhash.sketches.minhash.estimate import estimates, standard_errors

# Groups of more different texts than this are not compared pair by pair to tell their diameter.
_ALL_PAIRS = 64
_PAIR = 2


@dataclass(frozen=True, eq=False)
class Near:
    """Distances and similarities of documents to one; None where the scheme has neither.

    Similarities that are estimates have ``standard_errors``.
    """

    distances: npt.NDArray[np.int64] | None
    similarities: npt.NDArray[np.float64] | None
    standard_errors: npt.NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Diameter:
    """How far apart the members of a group are at most; it may be more unless ``all_pairs`` were looked at.

    A similarity that is an estimate has a ``standard_error``.
    """

    distance: int | None
    similarity: float | None
    all_pairs: bool
    standard_error: float | None = None


class Nearness:
    """How near documents are by what is kept of them, or with ``exact`` by their texts; positions need not ascend."""

    def __init__(self, kept: FingerprintStore, criteria: Criteria, exact: Exact | None = None) -> None:
        self._kept = kept
        self._criteria = criteria
        self._exact = exact
        self._brought = np.empty(0, dtype=np.int64)
        self._at_hand: dict[int, Rows] = {}

    def bring(self, positions: Sequence[int]) -> None:
        """Have at hand what is kept of some documents, which is quicker than to look for one after the other."""
        kept, self._brought = self._kept, np.array(sorted(positions), dtype=np.int64)
        used = [kept.contents, *([kept.simhashes] if kept.settings.simhash else [])]
        used += [kept.values] if kept.settings.minhash else []
        self._at_hand = {id(columns): columns.take(self._brought) for columns in used}

    def has_content(self, position: int, content: int) -> bool:
        """Whether the text of a document has this hash."""
        [[found, _]] = self._kept.contents.take(np.array([position])).tolist()
        return bool(found == content)

    def to(self, one: int, others: Sequence[int]) -> Near:
        """How near documents are to one."""
        rows = np.array([one, *others], dtype=np.int64)
        distances = similarities = errors = None
        if self._kept.settings.simhash:
            own = self._taken(self._kept.simhashes, rows)
            words = [hamming.distances(own[1:, word], own[0, word]) for word in range(own.shape[1])]
            distances = np.stack(words, axis=1).sum(axis=1, dtype=np.int64)
        if self._kept.settings.minhash:
            similarities = self._similarities(rows)
            errors = None if self._exact else self._errors(similarities)
        return Near(distances, similarities, errors)

    def _similarities(self, rows: Integers) -> npt.NDArray[np.float64]:
        contents = self._taken(self._kept.contents, rows)
        is_equal = (contents[1:] == contents[:1]).all(axis=1)
        similarities = np.ones(len(rows) - 1, dtype=np.float64)
        if self._exact:
            others = rows[1:][~is_equal]
            similarities[~is_equal] = self._exact(np.full_like(others, rows[0]), others, 0.0)
        else:
            values = self._taken(self._kept.values, rows)
            similarities = np.where(is_equal, 1.0, estimates(values[1:], values[:1], self._kept.value_bits))
        return similarities

    def _errors(self, similarities: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        assert self._kept.settings.minhash
        return standard_errors(similarities, self._kept.settings.minhash.size, self._kept.value_bits)

    def are_near(self, one: int, others: Sequence[int]) -> npt.NDArray[np.bool_]:
        """Whether each document meets the criteria together with the one."""
        near, criteria = self.to(one, others), self._criteria
        are_near = np.zeros(len(others), dtype=np.bool_)
        if criteria.distance is not None and near.distances is not None:
            are_near |= near.distances <= criteria.distance
        if criteria.similarity is not None and near.similarities is not None:
            are_near |= near.similarities >= criteria.similarity
        return are_near

    def copies(self, positions: Sequence[int]) -> dict[int, list[int]]:
        """The documents of each different text, under the first of them, in the given order."""
        rows = self._taken(self._kept.contents, np.array(positions, dtype=np.int64))
        firsts: dict[bytes, int] = {}
        copies: dict[int, list[int]] = {}
        for position, row in zip(positions, rows, strict=True):
            copies.setdefault(firsts.setdefault(row.tobytes(), position), []).append(position)
        return copies

    def diameter(self, positions: Sequence[int], to_first: Near) -> Diameter:
        """How far apart documents are at most; of very many, those are looked at that are far from the first ones."""
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
        has = self._kept.settings
        return Diameter(
            max(distances, default=0) if has.simhash else None,
            float(least) if has.minhash else None,
            all_pairs,
            float(self._errors(least)) if has.minhash and not self._exact else None,
        )

    def _taken(self, columns: Columns, rows: Integers) -> Rows:
        """The rows of documents, whatever their order."""
        places = np.searchsorted(self._brought, rows)
        if len(self._brought) and (self._brought.take(places, mode="clip") == rows).all():
            return self._at_hand[id(columns)][places]
        return columns.at(rows)


def _farthest(values: npt.NDArray[np.generic] | None, which: Callable[..., np.intp]) -> int | None:
    return None if values is None else int(which(values))


def values_of(near: Near) -> Iterator[tuple[Any, Any, Any]]:
    """The distance, the similarity and the standard error of each document; None for what there is not."""
    told = (near.distances, near.similarities, near.standard_errors)
    count = max(0 if values is None else len(values) for values in told)
    return zip(*([None] * count if values is None else values.tolist() for values in told), strict=True)
