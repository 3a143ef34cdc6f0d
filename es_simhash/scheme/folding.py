"""Folding: of the hits of a search, in the order of their ranks, those are shown that duplicate none shown before.

Hits are taken one after the other. Each is folded under the first hit that is shown and is its near-duplicate; if there
is none, it is shown as well. So what is shown depends on the hits before it alone: not on how long the list is, nor on
how many hits are read at once.

The rule is that of all verbs (`es_simhash.scheme.verifier`). If the texts of both hits are known they are
compared, as the scheme's verification says; else their fingerprints. Hits without a fingerprint of the scheme are
shown, and so are those of texts too short to be compared by it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np

from es_simhash._core.arrays import Codes, Integers
from es_simhash._core.environment import by_kernels
from es_simhash._core.json_codec import Json
from es_simhash.scheme import own_fields
from es_simhash.scheme.mapping import CANONICAL, GROUP
from es_simhash.scheme.own_fields import StoredFingerprints, estimated_by
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.rerank import Match
from es_simhash.scheme.scope import Scope, ScopeValues
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verifier import (
    CLAUSES,
    EQUAL,
    PairMeasures,
    Similarities,
    Verifier,
    are_near,
    clauses,
    lowest_estimate,
)
from es_simhash.sketches import hamming
from es_simhash.sketches.minhash.common import Signatures, estimates, standard_error

# The name of a group, and the canonical document that stands for a hit. Ids alone may be those of several indices.
_Group: TypeAlias = tuple[str, str | None]
# Why a hit is not compared with others.
Apart: TypeAlias = Literal[
    "no group", "no fingerprint", "another scheme", "deferred", "empty", "short", "unreadable", "unscoped"
]


@dataclass(frozen=True)
class GroupRule:
    """A hit is folded under another that the same document stands for, as the last run of `group` wrote it.

    Groups that were written before they named canonical documents are folded as a whole.
    """

    prefix: str


@dataclass(slots=True, eq=False)
class ShownHit:
    """A hit that is shown, its ``rank`` in the engine's list, from 0, and the near-duplicates folded under it.

    ``name`` is that of its document. ``values`` are those in the fields of a scope; ``group`` and canonical document
    are those of a hit that is folded by groups.
    """

    hit: Json
    name: Name
    rank: int
    values: ScopeValues | None
    similar: list[Match] = field(default_factory=list)
    group: _Group | None = None


class Folding:
    """The hits of a list that were ``read`` so far, with their ``names``, and those ``shown``; without a rule, each.

    ``compared`` are the shown ones that later hits can be folded under; ``apart`` are the rank of each other one, and
    why. Hits are folded only under others in ``scope`` with them; those without a value in one of its fields are shown.
    ``decided`` says which others people have decided to be the same as a hit (True), or different (False); it
    ``lacks_decisions`` of the index of this name.
    """

    def __init__(self, rule: FoldingRule | GroupRule | None, scope: Scope | None = None) -> None:
        self.rule = rule
        self._scope = scope
        self.decided: Callable[[Name, Name], bool | None] | None = None
        self.lacks_decisions: str | None = None
        self.read = 0
        self.names: list[Name] = []
        self.shown: list[ShownHit] = []
        self.compared: list[ShownHit] = []
        self.apart: list[tuple[int, Apart]] = []
        self._columns: Columns | None = None
        self._seen: set[tuple[str, str, str | None]] = set()

    def add(self, hits: Sequence[Json], enough: int | None = None) -> None:
        """Take the next hits of the list.

        If more than ``enough`` are shown then, later ones are folded under those only, or left out; nothing can be
        added.
        """
        names = [(hit["_index"], hit["_id"], hit.get("_routing")) for hit in hits]
        new: dict[int, ShownHit] = {}
        for place in self._new(names):
            values = self._scope.values_of(_source_of(hits[place])) if self._scope else None
            new[place] = ShownHit(hits[place], names[place], self.read + place, values)
        self.names += names
        self.read += len(names)
        if self.rule is None:
            self.shown += new.values()
        elif isinstance(self.rule, GroupRule):
            self._fold_groups(self.rule, new.values())
        elif new:
            self._fold(self.rule, hits, new, enough)

    def _new(self, names: Sequence[Name]) -> Sequence[int]:
        """Return the places of documents that did not come before: a list that changes may show one again."""
        if len(set(names)) == len(names) and self._seen.isdisjoint(names):
            self._seen.update(names)
            return range(len(names))
        firsts = {name: place for place, name in reversed(list(enumerate(names))) if name not in self._seen}
        self._seen.update(names)
        return sorted(firsts.values())

    @property
    def has_repeats(self) -> bool:
        """Whether the list has a hit twice."""
        return len(self._seen) < len(self.names)

    def begin_at(self, rank: int) -> None:
        """Go on at a rank of the list; the hits so far stand on pages before."""
        self.read, self.apart = rank, []
        self.compared = [replace(each, rank=-1, similar=[]) for each in self.compared]
        self.shown = list(self.compared)

    def _fold_groups(self, rule: GroupRule, new: Iterable[ShownHit]) -> None:
        leaders: dict[_Group | None, list[ShownHit]] = defaultdict(list)
        for each in self.compared:
            leaders[each.group].append(each)
        for one in new:
            one.group = _group_of(_source_of(one.hit).get(rule.prefix))
            leader = next((each for each in leaders[one.group] if self._are_in_scope(each.values, one.values)), None)
            if leader is not None:
                leader.similar.append(Match(one.name[0], one.name[1], None, None))
                continue
            self.shown.append(one)
            if one.group is None or self._is_unscoped(one.values):
                self.apart.append((one.rank, "no group" if one.group is None else "unscoped"))
            else:
                leaders[one.group].append(one)
                self.compared.append(one)

    def _is_unscoped(self, values: ScopeValues | None) -> bool:
        return self._scope is not None and values is None

    def _are_in_scope(self, one: ScopeValues | None, other: ScopeValues | None) -> bool:
        return self._scope is None or self._scope.in_scope(one, other)

    def _fold(self, rule: FoldingRule, hits: Sequence[Json], new: dict[int, ShownHit], enough: int | None) -> None:
        stored, apart = self._stored(rule, hits, new)
        columns = Columns.of(rule, stored)
        if self._columns is not None:
            columns = self._columns + columns
        first = len(self.compared)
        rows = [*self.compared, *(new[place] for place in stored.places)]

        def text_of(row: int) -> str | None:
            return rule.text_of(_source_of(rows[row].hit)) if rule.text_of else None

        def may_lead(row: int, other: int) -> bool:
            is_apart = self.decided is not None and self.decided(rows[other].name, rows[row].name) is False
            return not is_apart and self._are_in_scope(rows[other].values, rows[row].values)

        wanted = None if enough is None else enough + 1 - len(self.shown)
        leaders = Leaders(rule, columns, first, wanted, text_of, may_lead if self._scope or self.decided else None)
        leading = dict(enumerate(self.compared))
        row_of = dict(zip(stored.places, range(first, len(rows)), strict=True))
        for place, one in new.items():
            row = row_of.get(place, -1)
            if row in leaders.of:
                if leader := leading.get(leaders.of[row]):
                    leader.similar.append(leaders.match(row, one.name))
            elif same := self._decided_leader(one, leading.values()):
                same.similar.append(Match(one.name[0], one.name[1], None, None, clause="people"))
            elif enough is None or len(self.shown) <= enough:
                self.shown.append(one)
                if row < 0:
                    self.apart.append((one.rank, apart.get(place) or "unreadable"))
                else:
                    leading[row] = one
        self.compared, self._columns = list(leading.values()), columns.at(list(leading))

    def _decided_leader(self, one: ShownHit, leading: Iterable[ShownHit]) -> ShownHit | None:
        """Return the first hit that leads and is the same as another, as people have decided."""
        decided = self.decided
        return next((each for each in leading if decided(each.name, one.name)), None) if decided else None

    def _stored(
        self, rule: FoldingRule, hits: Sequence[Json], new: dict[int, ShownHit]
    ) -> tuple[StoredFingerprints, dict[int, Apart]]:
        """Return the fingerprints of the hits that are compared, by their places, and why others are not, if known."""
        own = [_source_of(hit).get(rule.prefix) for hit in hits]
        apart = {place: reason for place, each in enumerate(own) if (reason := _why_apart(rule, each))}
        objects = [None if place in apart else each for place, each in enumerate(own)]
        stored = own_fields.read_all(rule.settings, rule.scheme_id, objects)
        read = new.keys() & stored.places
        unscoped = {place for place in read if self._is_unscoped(new[place].values)}
        return stored.only(read - unscoped), {**apart, **dict.fromkeys(unscoped, "unscoped")}


def _source_of(hit: Json) -> Json:
    source: Json = hit.get("_source") or {}
    return source


def _group_of(own: Any) -> _Group | None:
    group, canonical = (own.get(GROUP), own.get(CANONICAL)) if isinstance(own, dict) else (None, None)
    return (group, canonical if isinstance(canonical, str) else None) if isinstance(group, str) else None


def _why_apart(rule: FoldingRule, stored: Any) -> Apart | None:
    """Return why a document with this object is not compared; None if it is, or cannot be read."""
    if not isinstance(stored, dict):
        return "no fingerprint"
    status, scheme = stored.get("status"), stored.get("scheme")
    if status == own_fields.DEFERRED:
        return "deferred"
    if scheme is None:
        return "no fingerprint"
    if scheme != rule.scheme_id:
        return "another scheme"
    return status if status in ("empty", "short") else None


# The index, the id and the routing of a document.
Name: TypeAlias = tuple[str, str, str | None]


@dataclass(frozen=True)
class FoldingRule:
    """When a hit is folded under another: by fingerprints, or by a ``verifier`` if both texts are known.

    ``text_of`` reads the text of a document's source; None or an empty one is not known.
    """

    settings: Settings
    scheme_id: str
    prefix: str
    by_fingerprints: Criteria
    by_text: Criteria | None = None
    verifier: Verifier | None = None
    text_of: Callable[[Json], str | None] | None = None

    @cached_property
    def estimated_by(self) -> tuple[int, int]:
        """The number of values that estimates compare, and their bits: 1 where there are none."""
        return estimated_by(self.settings) if self.settings.minhash else (1, 1)


@dataclass(eq=False)
class Columns:
    """The parts of some hits that are compared."""

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


# Estimates are shares of the positions, so few differ.
_standard_error = lru_cache(maxsize=4096)(standard_error)


class Leaders:
    """Which rows are folded under which: each under the first before it that leads, and that it is near.

    The rows before ``start`` lead, and so do those that are folded under none. Fingerprints are compared at once. Texts
    are compared in rounds, as few as possible: a row that is folded leads no other, so nothing is compared with it.
    Once as many rows from ``start`` on are near none as are ``wanted``, later rows are folded under those before the
    last of these only. ``text_of`` reads the text of a row; ``may_lead`` says whether one may be folded under another.
    """

    def __init__(
        self,
        rule: FoldingRule,
        columns: Columns,
        start: int,
        wanted: int | None,
        text_of: Callable[[int], str | None],
        may_lead: Callable[[int, int], bool] | None,
    ) -> None:
        self._rule = rule
        self._contents = columns.contents
        pairs, self._distances, estimated = _plausible(rule, columns, start, wanted)
        self._measures = PairMeasures.of_similarities(estimated)
        self._found = clauses(rule.by_fingerprints, self._distances, self._measures)
        self._texts = {row: text_of(row) for row in sorted(set(pairs.ravel().tolist()))} if rule.verifier else {}
        rows, others = pairs.tolist()
        known = {row for row, text in self._texts.items() if text}
        self._have_texts = [row in known and other in known for row, other in zip(rows, others, strict=True)]
        self._places = self._folded(rows, others, may_lead)
        # The row that each is folded under.
        self.of = {row: others[place] for row, place in self._places.items()}

    def _folded(
        self, rows: list[int], others: list[int], may_lead: Callable[[int, int], bool] | None
    ) -> dict[int, int]:
        """Return the rows that are folded, and the places of their pairs."""
        waiting: dict[int, list[int]] = defaultdict(list)
        for place, row in enumerate(rows):
            if may_lead is None or may_lead(row, others[place]):
                waiting[row].append(place)
        to_measure, near = list(self._have_texts), are_near(self._found).tolist()
        folded: dict[int, int] = {}
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
            for place, is_near in zip(asked, self._measured(asked, rows, others), strict=True):
                to_measure[place], near[place] = False, is_near
            waiting = undecided
        return folded

    def _measured(self, places: list[int], firsts: list[int], others: list[int]) -> list[bool]:
        """Compare the texts of some pairs; return which are near."""
        if not places:
            return []
        assert self._rule.verifier
        assert self._rule.by_text
        numbers: dict[int, int] = {}
        ends = [[numbers.setdefault(rows[place], len(numbers)) for place in places] for rows in (firsts, others)]
        texts = [self._texts[row] or "" for row in numbers]
        measured = self._rule.verifier.measures(texts, np.array(ends), self._rule.by_text.least)
        self._measures.similarities[places] = measured.similarities
        self._measures.meets[places] = measured.meets
        self._found[places] = clauses(self._rule.by_text, _at(self._distances, places), measured)
        is_near: list[bool] = are_near(self._found[places]).tolist()
        return is_near

    def match(self, row: int, name: Name) -> Match:
        """Return a row that is folded, the document of that name, as a match of the one that it is folded under."""
        place, rule = self._places[row], self._rule
        is_exact, measures = self._have_texts[place], self._measures
        similarity = float(measures.similarities[place]) if measures.meets[place] else 0.0
        is_known, is_same = not math.isnan(similarity), self._contents[row] == self._contents[self.of[row]]
        is_estimate = is_known and not is_exact and rule.settings.minhash
        return Match(
            name[0],
            name[1],
            None if self._distances is None else int(self._distances[place]),
            similarity if is_known else None,
            is_exact=is_exact,
            same_text=is_same,
            standard_error=_standard_error(similarity, *rule.estimated_by) if is_estimate else None,
            clause=CLAUSES[EQUAL if is_same else self._found[place]],
        )


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
    """Return the lowest estimate with which a pair may be near, with texts or without."""
    if rule.by_fingerprints.similarity is None:
        return 1.0
    if rule.by_text is None or rule.settings.minhash is None:
        return rule.by_fingerprints.similarity
    by_text = lowest_estimate(rule.by_text, rule.settings.minhash, rule.estimated_by[1])
    return min(rule.by_fingerprints.similarity, by_text)


def _at(column: Any, places: Any) -> Any:
    return None if column is None else column[places]
