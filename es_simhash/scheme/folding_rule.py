"""When a hit of a list is folded under another: its rows of columns are compared with those before (see `folding`)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash._core.bit_codes import Codes
from es_simhash._core.json_paths import Json
from es_simhash._core.native import by_kernels
from es_simhash.scheme.own_fields import StoredFingerprints, estimated_by
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.rerank import Match
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.measures import DIFFER, PairMeasures, Similarities
from es_simhash.scheme.verdict.plausible import lowest_estimate
from es_simhash.scheme.verdict.rule import CLAUSES, EQUAL, Near, are_near, clauses
from es_simhash.scheme.verdict.verifier import Verifier
from es_simhash.sketches import hamming
from es_simhash.sketches.minhash.common import Signatures
from es_simhash.sketches.minhash.estimate import estimates, standard_error


@dataclass(frozen=True)
class FoldingRule:
    """When a hit is folded under another: by fingerprints; by texts where there is a ``verifier`` and both are known.

    No criteria have a `Crowding`.
    """

    settings: Settings
    scheme_id: str
    prefix: str
    by_fingerprints: Criteria
    by_texts: Criteria | None = None
    verifier: Verifier | None = None

    @property
    def value_bits(self) -> int:
        """The bits of the values that estimates compare; 1 where there are none."""
        return estimated_by(self.settings)[1] if self.settings.minhash else 1


@dataclass(eq=False)
class Columns:
    """What is compared of some hits; a text that is not known is None."""

    simhashes: Codes | None
    values: Signatures | None
    contents: list[str | None]
    texts: list[str | None]

    @classmethod
    def of(cls, rule: FoldingRule, stored: StoredFingerprints, texts: Sequence[str | None]) -> Columns:
        """Return the columns of the fingerprints that were read of documents with these texts."""
        return cls(
            None if rule.by_fingerprints.distance is None else stored.simhashes,
            None if rule.by_fingerprints.similarity is None else stored.values,
            stored.contents,
            [texts[place] for place in stored.places],
        )

    def __add__(self, other: Columns) -> Columns:
        return Columns(
            _joined(self.simhashes, other.simhashes),
            _joined(self.values, other.values),
            self.contents + other.contents,
            self.texts + other.texts,
        )

    def at(self, rows: list[int]) -> Columns:
        """Return some rows."""
        return Columns(
            _at(self.simhashes, rows),
            _at(self.values, rows),
            [self.contents[row] for row in rows],
            [self.texts[row] for row in rows],
        )


def _joined(first: Any, second: Any) -> Any:
    return None if first is None or second is None else np.concatenate([first, second])


@dataclass(slots=True)
class NearRow:
    """A near-duplicate of a hit, by its row, and how near it is."""

    row: int
    clause: int
    distance: int | None
    similarity: float | None
    is_exact: bool

    def match(self, rule: FoldingRule, hit: Json) -> Match:
        """Return the hit as a match of this row."""
        error = None
        if self.similarity is not None and not self.is_exact and rule.settings.minhash:
            error = standard_error(self.similarity, *estimated_by(rule.settings))
        return Match(
            hit["_index"],
            hit["_id"],
            self.distance,
            self.similarity,
            is_exact=self.is_exact,
            same_text=self.clause == EQUAL,
            standard_error=error,
            clause=CLAUSES[self.clause],
        )


class Leaders:
    """Which rows are folded under which: each under the first before it that leads, and that it is near.

    The rows before ``start`` lead, and so do those that are folded under none. Fingerprints are compared at once. Texts
    are compared in rounds, as few as possible: a row that is folded leads no other, so nothing is compared with it.
    """

    def __init__(self, rule: FoldingRule, columns: Columns, start: int) -> None:
        self._rule = rule
        self._columns = columns
        self._pairs, self._distances, estimated = _plausible(rule, columns, start)
        self._measures = PairMeasures.of_similarities(estimated)
        self._found = clauses(rule.by_fingerprints, Near(self._distances, self._measures))
        self._is_exact = _have_texts(rule, columns, self._pairs)

    def row_of(self, count: int, rows: Iterable[int]) -> int | None:
        """Return the row up to which ``count`` of these rows are near none, and so lead; None if too few are."""
        near_none = sorted(set(rows) - set(self._pairs[0].tolist()))
        return near_none[count - 1] if 0 < count <= len(near_none) else None

    def of(self, may_lead: Callable[[int, int], bool]) -> dict[int, NearRow]:
        """Return what each row is folded under; ``may_lead`` says whether a row may be folded under one before it."""
        firsts, others = self._pairs.tolist()
        waiting: dict[int, list[int]] = defaultdict(list)
        for place, (row, other) in enumerate(zip(firsts, others, strict=True)):
            if may_lead(row, other):
                waiting[row].append(place)
        to_measure, near = self._is_exact.tolist(), are_near(self._found).tolist()
        folded: dict[int, NearRow] = {}
        while waiting:
            asked, undecided = [], {}
            for row, places in waiting.items():
                for i, place in enumerate(places):
                    other = others[place]
                    if other in undecided or (other not in folded and to_measure[place]):
                        undecided[row] = places[i:]
                        asked += [] if other in undecided else [place]
                        break
                    if other not in folded and near[place]:
                        folded[row] = self._near_row(place, row, other)
                        break
            for place, is_near in zip(asked, self._measured(asked), strict=True):
                to_measure[place], near[place] = False, is_near
            waiting = undecided
        return folded

    def _measured(self, places: list[int]) -> list[bool]:
        """Compare the texts of some pairs; return which are near."""
        if not places:
            return []
        assert self._rule.verifier
        assert self._rule.by_texts
        rows, ends = np.unique(self._pairs[:, places], return_inverse=True)
        texts = [self._columns.texts[row] or "" for row in rows.tolist()]
        measured = self._rule.verifier.measures(texts, ends.reshape(2, -1), self._rule.by_texts.least)
        self._measures.similarities[places] = measured.similarities
        self._measures.agreements[places] = measured.agreements
        self._found[places] = clauses(self._rule.by_texts, Near(_at(self._distances, places), measured))
        is_near: list[bool] = are_near(self._found[places]).tolist()
        return is_near

    def _near_row(self, place: int, row: int, other: int) -> NearRow:
        contents, measures = self._columns.contents, self._measures
        similarity = 0.0 if measures.agreements[place] == DIFFER else float(measures.similarities[place])
        return NearRow(
            other,
            EQUAL if contents[row] == contents[other] else int(self._found[place]),
            None if self._distances is None else int(self._distances[place]),
            None if math.isnan(similarity) else similarity,
            bool(self._is_exact[place]),
        )


def _plausible(rule: FoldingRule, columns: Columns, start: int) -> tuple[Integers, Integers | None, Similarities]:
    """Return the pairs of a row from ``start`` on and one before it that may be near: distances and estimates, too."""
    distance, least = rule.by_fingerprints.distance or 0, _lowest_estimate(rule)
    given = columns.simhashes, columns.values, start, distance, least, rule.value_bits
    compiled = by_kernels(lambda kernels: kernels.plausible_pairs(*given))
    if compiled is not None:
        return np.stack(compiled[:2]), *compiled[2:]
    return _plausible_by_numpy(rule, columns, start, distance, least)


def _plausible_by_numpy(
    rule: FoldingRule, columns: Columns, start: int, distance: int, least: float
) -> tuple[Integers, Integers | None, Similarities]:
    kept: list[tuple[Integers, Integers | None, Similarities]] = []
    for row in range(start, len(columns.contents)):
        distances, counts = None, np.zeros(row, dtype=np.bool_)
        if columns.simhashes is not None:
            distances = hamming.distances(columns.simhashes[row : row + 1], columns.simhashes[:row]).astype(np.int64)
            counts |= distances <= distance
        estimated = np.full(row, np.nan)
        if columns.values is not None:
            estimated = estimates(columns.values[row], columns.values[:row], rule.value_bits)
            counts |= estimated >= least
        places = np.flatnonzero(counts)
        kept.append((np.stack([np.full_like(places, row), places]), _at(distances, places), estimated[places]))
    pairs = np.concatenate([np.empty((2, 0), dtype=np.int64), *(pairs for pairs, _, _ in kept)], axis=1)
    found = [each for _, each, _ in kept if each is not None]
    distances = None if columns.simhashes is None else np.concatenate([np.empty(0, dtype=np.int64), *found])
    return pairs, distances, np.concatenate([np.empty(0), *(each for _, _, each in kept)])


def _lowest_estimate(rule: FoldingRule) -> float:
    """Return the lowest estimate with which a pair may be near, by texts or without."""
    if rule.by_fingerprints.similarity is None:
        return 1.0
    if rule.by_texts is None or rule.settings.minhash is None:
        return rule.by_fingerprints.similarity
    by_texts = lowest_estimate(rule.by_texts, rule.settings.minhash, rule.value_bits)
    return min(rule.by_fingerprints.similarity, by_texts)


def _have_texts(rule: FoldingRule, columns: Columns, pairs: Integers) -> npt.NDArray[np.bool_]:
    """Return which pairs are compared by their texts."""
    if rule.verifier is None:
        return np.zeros(pairs.shape[1], dtype=np.bool_)
    known = np.array([text is not None for text in columns.texts], dtype=np.bool_)
    have: npt.NDArray[np.bool_] = known[pairs[0]] & known[pairs[1]]
    return have


def _at(column: Any, places: Any) -> Any:
    return None if column is None else column[places]
