"""When a hit of a list is folded under another: its rows of columns are compared with those before (see `folding`)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
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
from es_simhash.scheme.verdict.measures import PairMeasures, Similarities
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


@dataclass(frozen=True)
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


def near_rows(rule: FoldingRule, columns: Columns, start: int) -> dict[int, list[NearRow]]:
    """Return the near-duplicates of each row from ``start`` on among the rows before it, in their order."""
    pairs, distances, estimated = _plausible(rule, columns, start)
    of_texts = PairMeasures.of_similarities(estimated)
    found, is_exact = clauses(rule.by_fingerprints, Near(distances, of_texts)), _have_texts(rule, columns, pairs)
    if is_exact.any():
        assert rule.verifier
        assert rule.by_texts
        rows, places = np.unique(pairs[:, is_exact], return_inverse=True)
        texts = [columns.texts[row] or "" for row in rows.tolist()]
        measured = rule.verifier.measures(texts, places.reshape(2, -1), rule.by_texts.least)
        of_texts.similarities[is_exact], of_texts.agreements[is_exact] = measured.similarities, measured.agreements
        found[is_exact] = clauses(rule.by_texts, Near(_at(distances, is_exact), measured))
    contents = np.array(columns.contents, dtype=object)
    equal: npt.NDArray[np.bool_] = np.asarray(contents[pairs[0]] == contents[pairs[1]], dtype=np.bool_)
    found[equal & are_near(found)] = EQUAL
    near: dict[int, list[NearRow]] = defaultdict(list)
    for place in np.flatnonzero(are_near(found)).tolist():
        similarity = float(of_texts.meeting[place])
        near[int(pairs[0, place])].append(
            NearRow(
                int(pairs[1, place]),
                int(found[place]),
                None if distances is None else int(distances[place]),
                None if math.isnan(similarity) else similarity,
                bool(is_exact[place]),
            )
        )
    return near


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
