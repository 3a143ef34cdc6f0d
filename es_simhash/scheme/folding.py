"""Folding: of the hits of a search, in the order of their ranks, those are shown that duplicate none shown before.

Hits are taken one after the other. Each is folded under the first hit that is shown and is its near-duplicate; if there
is none, it is shown as well. So what is shown depends on the hits before it alone: not on how long the list is, nor on
how many hits are read at once.

The rule is that of all verbs (`es_simhash.scheme.verdict.rule`), but for the surroundings of texts: a search does not
know them, and would judge otherwise by each page that it reads. Where the texts of both hits are known they are
compared, as the scheme's verification says; else their fingerprints. Hits without a fingerprint of the scheme are
shown, and so are those of texts too short to be compared by it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from es_simhash._core.json_paths import Json
from es_simhash._core.search_hits import Name, names_of, values_of
from es_simhash.scheme import own_fields
from es_simhash.scheme.folding_rule import Columns, FoldingRule, Leaders
from es_simhash.scheme.group_fields import GROUP
from es_simhash.scheme.rerank import Match
from es_simhash.scheme.scope import Scope, ScopeValues

# Why a hit is not compared with others.
Apart: TypeAlias = Literal[
    "no group", "no fingerprint", "another scheme", "deferred", "empty", "short", "unreadable", "unscoped"
]


@dataclass(frozen=True)
class GroupRule:
    """A hit is folded under another of the same group, as the last run of `group` wrote it into the documents."""

    prefix: str


@dataclass(slots=True, eq=False)
class ShownHit:
    """A hit that is shown, its ``rank`` in the engine's list, from 0, and the near-duplicates folded under it.

    It is given by its place among those that were read with it, and the name of its document. ``values`` are those in
    the fields of a scope.
    """

    hits: Sequence[Json]
    place: int
    name: Name
    rank: int
    values: ScopeValues | None
    similar: list[Match] = field(default_factory=list)

    @property
    def hit(self) -> Json:
        """The hit as the engine returned it."""
        return self.hits[self.place]


class Folding:
    """The hits of a list that were ``read`` so far, and those ``shown``; without a rule, that is each.

    ``compared`` are the shown ones that later hits can be folded under; ``apart`` are the rank of each other one, and
    why. Hits are folded only under others in ``scope`` with them; those without a value in one of its fields are shown.
    """

    def __init__(self, rule: FoldingRule | GroupRule | None, scope: Scope | None = None) -> None:
        self.rule = rule
        self._scope = scope
        self.read = 0
        self.shown: list[ShownHit] = []
        self.compared: list[ShownHit] = []
        self.apart: list[tuple[int, Apart]] = []
        self._columns: Columns | None = None
        self._seen: set[tuple[str, str, str | None]] = set()

    def add(self, hits: Sequence[Json], enough: int | None = None) -> None:
        """Take the next hits of the list.

        Where more than ``enough`` are shown then, the last ones are folded under those only; nothing can be added.
        """
        ranked = []
        for place, name in enumerate(names_of(hits)):
            # A list that changes meanwhile may show a document again, further down.
            if name not in self._seen:
                self._seen.add(name)
                values = self._scope.values_of(hits[place].get("_source") or {}) if self._scope else None
                ranked.append(ShownHit(hits, place, name, self.read + place, values))
        self.read += len(hits)
        if self.rule is None:
            self.shown += ranked
        elif isinstance(self.rule, GroupRule):
            self._fold_groups(self.rule, ranked, values_of(hits, self.rule.prefix))
        elif ranked:
            self._fold(self.rule, ranked, values_of(hits, self.rule.prefix), enough)

    def begin_at(self, rank: int) -> None:
        """Go on at a rank of the list; the hits so far stand on pages before."""
        self.read, self.apart = rank, []
        self.compared = [replace(each, rank=-1, similar=[]) for each in self.compared]
        self.shown = list(self.compared)

    def _fold_groups(self, rule: GroupRule, ranked: Sequence[ShownHit], objects: Sequence[Any]) -> None:
        leaders: dict[str | None, list[ShownHit]] = defaultdict(list)
        for each in self.compared:
            leaders[_group_of((each.hit.get("_source") or {}).get(rule.prefix))].append(each)
        for each in ranked:
            group = _group_of(objects[each.place])
            leader = next((one for one in leaders[group] if self._are_in_scope(one, each)), None)
            if leader is not None:
                leader.similar.append(Match(each.name[0], each.name[1], None, None))
                continue
            self.shown.append(each)
            if group is None or self._is_unscoped(each):
                self.apart.append((each.rank, "no group" if group is None else "unscoped"))
            else:
                leaders[group].append(each)
                self.compared.append(each)

    def _is_unscoped(self, one: ShownHit) -> bool:
        return self._scope is not None and one.values is None

    def _are_in_scope(self, one: ShownHit, other: ShownHit) -> bool:
        return self._scope is None or self._scope.in_scope(one.values, other.values)

    def _fold(self, rule: FoldingRule, ranked: Sequence[ShownHit], objects: Sequence[Any], enough: int | None) -> None:
        objects = [objects[each.place] for each in ranked]
        reasons: list[Apart | None] = [_why_apart(rule, own) for own in objects]
        if self._scope:
            reasons = [reason or self._why_unscoped(each) for reason, each in zip(reasons, ranked, strict=True)]
        compared = [own if reason is None else None for own, reason in zip(objects, reasons, strict=True)]
        stored = own_fields.read_all(rule.settings, rule.scheme_id, compared)
        new = Columns.of(rule, stored)
        columns = new if self._columns is None else self._columns + new
        first = len(self.compared)
        rows = {place: row for row, place in enumerate(stored.places, first)}
        hits = dict(enumerate([*self.compared, *(ranked[place] for place in stored.places)]))
        wanted = None if enough is None else enough + 1 - len(self.shown)

        def are_in_scope(row: int, other: int) -> bool:
            return self._are_in_scope(hits[other], hits[row])

        def text_of(row: int) -> str | None:
            return rule.text_of(hits[row].hits, hits[row].place) if rule.text_of else None

        folded = Leaders(rule, columns, first, wanted, text_of).of(are_in_scope if self._scope else None)
        for place, each in enumerate(ranked):
            row = rows.get(place)
            if row is None:
                self.apart.append((each.rank, reasons[place] or "unreadable"))
            elif row in folded:
                del hits[row]
                hits[folded[row].row].similar.append(folded[row].match(rule, each.name))
                continue
            self.shown.append(each)
        self.compared, self._columns = list(hits.values()), columns.at(list(hits))

    def _why_unscoped(self, one: ShownHit) -> Apart | None:
        return "unscoped" if self._is_unscoped(one) else None


def _group_of(own: Any) -> str | None:
    group = own.get(GROUP) if isinstance(own, dict) else None
    return group if isinstance(group, str) else None


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
