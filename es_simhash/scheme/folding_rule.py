"""When a hit of a list is folded under another: its rows of columns are compared with those before (see `folding`)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash._core.bit_codes import Codes
from es_simhash._core.json_paths import Json
from es_simhash._core.native import by_kernels
from es_simhash.scheme.own_fields import StoredFingerprints, estimated_by
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.rerank import Match
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.measures import PairMeasures, Similarities
from es_simhash.scheme.verdict.plausible import lowest_estimate
from es_simhash.scheme.verdict.rule import CLAUSES, EQUAL, are_near, clauses
from es_simhash.scheme.verdict.verifier import Verifier
from es_simhash.sketches import hamming
from es_simhash.sketches.minhash.common import Signatures
from es_simhash.sketches.minhash.estimate import estimates, standard_error

# The index, the id and the routing of a document.
Name: TypeAlias = tuple[str, str, str | None]


@dataclass(frozen=True)
class FoldingRule:
    """When a hit is folded under another: by fingerprints; by texts where there is a ``verifier`` and both are known.

    ``text_of`` reads the text of a document's source; None or an empty one is not known.
    """

    settings: Settings
    scheme_id: str
    prefix: str
    by_fingerprints: Criteria
    by_texts: Criteria | None = None
    verifier: Verifier | None = None
    text_of: Callable[[Json], str | None] | None = None

    @cached_property
    def estimated_by(self) -> tuple[int, int]:
        """The number of values that estimates compare, and their bits: 1 where there are none."""
        return estimated_by(self.settings) if self.settings.minhash else (1, 1)


@dataclass(eq=False)
class Columns:
    """What is compared of some hits."""

    simhashes: Codes | None
    values: Signatures | None
    contents: list[str | None]

    @classmethod
    def of(cls, rule: FoldingRule, stored: StoredFingerprints) -> Columns:
        """Return the columns of the fingerprints that were read."""
        return cls(
            None if rule.by_fingerprints.distance is None else stored.simhashes,
            None if rule.by_fingerprints.similarity is None else stored.values,
            stored.contents,
        )

    def __add__(self, other: Columns) -> Columns:
        return Columns(
            _joined(self.simhashes, other.simhashes),
            _joined(self.values, other.values),
            self.contents + other.contents,
        )

    def at(self, rows: list[int]) -> Columns:
        """Return some rows."""
        return Columns(
            _at(self.simhashes, rows),
            _at(self.values, rows),
            [self.contents[row] for row in rows],
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

    def match(self, rule: FoldingRule, name: Name) -> Match:
        """Return the document of that name as a match of this row."""
        error = None
        if self.similarity is not None and not self.is_exact and rule.settings.minhash:
            error = _standard_error(self.similarity, *rule.estimated_by)
        return Match(
            name[0],
            name[1],
            self.distance,
            self.similarity,
            is_exact=self.is_exact,
            same_text=self.clause == EQUAL,
            standard_error=error,
            clause=CLAUSES[self.clause],
        )


# Estimates are shares of the positions, so few differ.
_standard_error = lru_cache(maxsize=4096)(standard_error)


class Leaders:
    """Which rows are folded under which: each under the first before it that leads, and that it is near.

    The rows before ``start`` lead, and so do those that are folded under none. Fingerprints are compared at once. Texts
    are compared in rounds, as few as possible: a row that is folded leads no other, so nothing is compared with it.
    Once as many rows from ``start`` on are near none as are ``wanted``, later rows are folded under those before the
    last of these only. ``texts_of`` reads the texts of rows.
    """

    def __init__(
        self,
        rule: FoldingRule,
        columns: Columns,
        start: int,
        wanted: int | None = None,
        texts_of: Callable[[list[int]], list[str | None]] | None = None,
    ) -> None:
        self._rule = rule
        self._columns = columns
        self._pairs, self._distances, estimated = _plausible(rule, columns, start, wanted)
        self._measures = PairMeasures.of_similarities(estimated)
        self._found = clauses(rule.by_fingerprints, self._distances, self._measures)
        self._texts: dict[int, str | None] = {}
        if rule.verifier and texts_of:
            rows = sorted(set(self._pairs.ravel().tolist()))
            self._texts = dict(zip(rows, texts_of(rows), strict=True))

    def of(self, may_lead: Callable[[int, int], bool] | None = None) -> dict[int, NearRow]:
        """Return what each row is folded under; ``may_lead`` says whether a row may be folded under one before it."""
        firsts, others = self._pairs.tolist()
        waiting: dict[int, list[int]] = defaultdict(list)
        for place, row in enumerate(firsts):
            if may_lead is None or may_lead(row, others[place]):
                waiting[row].append(place)
        to_measure, near = self._have_texts(firsts, others), are_near(self._found).tolist()
        folded: dict[int, int] = {}
        self._is_exact = np.array(to_measure, dtype=np.bool_)
        while waiting:
            asked, undecided = [], {}
            for row, places in waiting.items():
                for i, place in enumerate(places):
                    other = others[place]
                    if other in folded:
                        continue
                    if other in undecided or to_measure[place]:
                        undecided[row] = places[i:]
                        asked += [] if other in undecided else [place]
                        break
                    if near[place]:
                        folded[row] = place
                        break
            for place, is_near in zip(asked, self._measured(asked, firsts, others), strict=True):
                to_measure[place], near[place] = False, is_near
            waiting = undecided
        places = list(folded.values())
        return self._near_rows(list(folded), [others[place] for place in places], places)

    def _have_texts(self, firsts: list[int], others: list[int]) -> list[bool]:
        """Return which pairs are compared by their texts."""
        if not self._texts:
            return [False] * len(firsts)
        known = {row for row, text in self._texts.items() if text}
        if len(known) == len(self._texts):
            return [True] * len(firsts)
        return [a in known and b in known for a, b in zip(firsts, others, strict=True)]

    def _measured(self, places: list[int], firsts: list[int], others: list[int]) -> list[bool]:
        """Compare the texts of some pairs; return which are near."""
        if not places:
            return []
        assert self._rule.verifier
        assert self._rule.by_texts
        numbers: dict[int, int] = {}
        ends = [[numbers.setdefault(rows[place], len(numbers)) for place in places] for rows in (firsts, others)]
        texts = [self._texts[row] or "" for row in numbers]
        measured = self._rule.verifier.measures(texts, np.array(ends), self._rule.by_texts.least)
        self._measures.similarities[places] = measured.similarities
        self._measures.meets[places] = measured.meets
        self._found[places] = clauses(self._rule.by_texts, _at(self._distances, places), measured)
        is_near: list[bool] = are_near(self._found[places]).tolist()
        return is_near

    def _near_rows(self, rows: list[int], others: list[int], places: list[int]) -> dict[int, NearRow]:
        """Return how near rows are to those that they are folded under, given the places of these pairs."""
        contents, measures = self._columns.contents, self._measures[places]
        unknown = [None] * len(places)
        distances = unknown if self._distances is None else self._distances[places].tolist()
        similarities = measures.meeting.tolist()
        columns = zip(
            rows,
            others,
            self._found[places].tolist(),
            distances,
            similarities,
            self._is_exact[places].tolist(),
            strict=True,
        )
        return {
            row: NearRow(
                other,
                EQUAL if contents[row] == contents[other] else clause,
                distance,
                None if math.isnan(similarity) else similarity,
                is_exact,
            )
            for row, other, clause, distance, similarity, is_exact in columns
        }


def _plausible(
    rule: FoldingRule, columns: Columns, start: int, wanted: int | None
) -> tuple[Integers, Integers | None, Similarities]:
    """Return the pairs of a row from ``start`` on and one before it that may be near: distances and estimates, too.

    Once as many rows from ``start`` on as are ``wanted`` are near none, later ones are compared with those before the
    last of these only.
    """
    distance, least = rule.by_fingerprints.distance or 0, _lowest_estimate(rule)
    given = columns.simhashes, columns.values, start, wanted, distance, least, rule.estimated_by[1]
    compiled = by_kernels(lambda kernels: kernels.plausible_pairs(*given))
    if compiled is not None:
        return np.stack(compiled[:2]), *compiled[2:]
    return _plausible_by_numpy(rule, columns, start, wanted, distance, least)


def _plausible_by_numpy(
    rule: FoldingRule, columns: Columns, start: int, wanted: int | None, distance: int, least: float
) -> tuple[Integers, Integers | None, Similarities]:
    kept: list[tuple[Integers, Integers | None, Similarities]] = []
    end: int | None = None
    near_none = 0
    for row in range(start, len(columns.contents)):
        before = slice(row if end is None else end)
        distances, counts = None, np.zeros(len(range(row)[before]), dtype=np.bool_)
        if columns.simhashes is not None:
            distances = hamming.distances(columns.simhashes[row : row + 1], columns.simhashes[before]).astype(np.int64)
            counts |= distances <= distance
        estimated = np.full(len(counts), np.nan)
        if columns.values is not None:
            estimated = estimates(columns.values[row], columns.values[before], rule.estimated_by[1])
            counts |= estimated >= least
        places = np.flatnonzero(counts)
        kept.append((np.stack([np.full_like(places, row), places]), _at(distances, places), estimated[places]))
        near_none += not len(places)
        if end is None and near_none == wanted:
            end = row
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
    by_texts = lowest_estimate(rule.by_texts, rule.settings.minhash, rule.estimated_by[1])
    return min(rule.by_fingerprints.similarity, by_texts)


def _at(column: Any, places: Any) -> Any:
    return None if column is None else column[places]
