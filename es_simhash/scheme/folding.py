"""Folding: of the hits of a search, in the order of their ranks, those are shown that duplicate none shown before.

Hits are taken one after the other. Each is folded under the first hit that is shown and is its near-duplicate; if there
is none, it is shown as well. So what is shown depends on the hits before it alone: not on how long the list is, nor on
how many hits are read at once.

The rule is that of all verbs (`es_simhash.scheme.verdict.rule`). Where the texts of both hits are known they are
compared, as the scheme's verification says; else their fingerprints. Hits without a fingerprint of the scheme are
shown, and so are those of texts too short to be compared by it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from es_simhash._core.json_paths import Json
from es_simhash.scheme import own_fields
from es_simhash.scheme.folding_rule import Columns, FoldingRule, Leaders, Name
from es_simhash.scheme.group_fields import CANONICAL, GROUP
from es_simhash.scheme.own_fields import StoredFingerprints
from es_simhash.scheme.rerank import Match
from es_simhash.scheme.scope import Scope, ScopeValues

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


@dataclass(frozen=True, eq=False)
class _Ranked:
    """Hits that were read at once, and their names; the first has the rank ``first``."""

    hits: Sequence[Json]
    names: Sequence[Name]
    first: int
    values: dict[int, ScopeValues | None]

    def shown(self, place: int) -> ShownHit:
        """Return one of the hits as shown."""
        return ShownHit(self.hits[place], self.names[place], self.first + place, self.values.get(place))


class Folding:
    """The hits of a list that were ``read`` so far, with their ``names``, and those ``shown``; without a rule, each.

    ``compared`` are the shown ones that later hits can be folded under; ``apart`` are the rank of each other one, and
    why. Hits are folded only under others in ``scope`` with them; those without a value in one of its fields are shown.
    """

    def __init__(self, rule: FoldingRule | GroupRule | None, scope: Scope | None = None) -> None:
        self.rule = rule
        self._scope = scope
        self.read = 0
        self.names: list[Name] = []
        self.shown: list[ShownHit] = []
        self.compared: list[ShownHit] = []
        self.apart: list[tuple[int, Apart]] = []
        self._columns: Columns | None = None
        self._seen: set[tuple[str, str, str | None]] = set()

    def add(self, hits: Sequence[Json], enough: int | None = None) -> None:
        """Take the next hits of the list.

        Where more than ``enough`` are shown then, later ones are folded under those only, or left out; nothing can be
        added.
        """
        names = [(hit["_index"], hit["_id"], hit.get("_routing")) for hit in hits]
        new = self._new(names)
        self.names += names
        ranked = _Ranked(hits, names, self.read, {})
        if self._scope:
            ranked.values.update((place, self._scope.values_of(_source_of(hits[place]))) for place in new)
        self.read += len(names)
        if self.rule is None:
            self.shown += map(ranked.shown, new)
        elif isinstance(self.rule, GroupRule):
            self._fold_groups(self.rule, ranked, new)
        elif new:
            self._fold(self.rule, ranked, new, enough)

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

    def _fold_groups(self, rule: GroupRule, ranked: _Ranked, places: Sequence[int]) -> None:
        leaders: dict[_Group | None, list[ShownHit]] = defaultdict(list)
        for each in self.compared:
            leaders[each.group].append(each)
        for place in places:
            one = ranked.shown(place)
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

    def _fold(self, rule: FoldingRule, ranked: _Ranked, places: Sequence[int], enough: int | None) -> None:
        stored, reasons = self._stored(rule, ranked, places)
        columns = Columns.of(rule, stored)
        if self._columns is not None:
            columns = self._columns + columns
        first = len(self.compared)
        hits: dict[int, ShownHit] = dict(enumerate(self.compared))

        def texts_of(rows: list[int]) -> list[str | None]:
            if rule.text_of is None:
                return [None] * len(rows)
            asked = (hits[row].hit if row < first else ranked.hits[stored.places[row - first]] for row in rows)
            return [rule.text_of(_source_of(hit)) for hit in asked]

        def are_in_scope(row: int, other: int) -> bool:
            return self._are_in_scope(
                *(
                    hits[each].values if each < first else ranked.values[stored.places[each - first]]
                    for each in (other, row)
                )
            )

        wanted = None if enough is None else enough + 1 - len(self.shown)
        folded = Leaders(rule, columns, first, wanted, texts_of).of(are_in_scope if self._scope else None)
        rows = dict(zip(stored.places, range(first, first + len(stored.places)), strict=True))
        for place in places:
            row = rows.get(place, -1)
            if row in folded:
                leader = hits.get(folded[row].row)
                if leader is not None:
                    leader.similar.append(folded[row].match(rule, ranked.names[place]))
            elif enough is None or len(self.shown) <= enough:
                one = ranked.shown(place)
                self.shown.append(one)
                if row < 0:
                    self.apart.append((one.rank, reasons.get(place) or "unreadable"))
                else:
                    hits[row] = one
        self.compared, self._columns = list(hits.values()), columns.at(list(hits))

    def _stored(
        self, rule: FoldingRule, ranked: _Ranked, places: Sequence[int]
    ) -> tuple[StoredFingerprints, Mapping[int, Apart]]:
        """Return the fingerprints of the hits that are compared, by their places, and why each other one is not."""
        stored, apart = _read(rule, ranked.hits)
        read = set(stored.places).intersection(places)
        unscoped = {place for place in read if self._is_unscoped(ranked.values.get(place))}
        return stored.only(read - unscoped), {**apart, **dict.fromkeys(unscoped, "unscoped")}


def _read(rule: FoldingRule, hits: Sequence[Json]) -> tuple[StoredFingerprints, dict[int, Apart]]:
    """Return the fingerprints of hits, and why others have none that can be compared, as far as they say it."""
    own = [_source_of(hit).get(rule.prefix) for hit in hits]
    apart = {place: reason for place, each in enumerate(own) if (reason := _why_apart(rule, each))}
    objects = [None if place in apart else each for place, each in enumerate(own)]
    return own_fields.read_all(rule.settings, rule.scheme_id, objects), apart


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
