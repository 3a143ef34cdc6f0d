"""Reading only what is new in an index whose groups are written, and what of the rest it may change.

It reads:

- the new documents: those in a provisional group, and those in none, where the engine numbers changes only those
  changed since groups were written;
- old ones that share enough keys with a new one: its candidates;
- the groups of documents that people have decided on, which are compared as new ones;
- of a scope, and if fields of canonical documents are copied, groups that have a document changed since: if members no
  longer agree in the scope, they are compared as new ones, so what shares a key with them is read as well;
- all members of the groups met so far, of the groups that have lost one, and of those whose names new ones would get.

So groups are read whole or not at all, and those that are not read stay as they are: what is written is what a run that
reads everything would write. (Of a key that very many documents share, each is paired with few others, which need not
be the same. And that run also finds pairs that share too few keys, by other values: by default, one of a hundred that
are just similar enough.) A group has lost a member if fewer documents name it than its size says, which is looked for
if the number of documents in groups of several is not the one that was noted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from es_simhash._core.batches import BRIEFLY, chunks
from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import StoppableEngine, run
from es_simhash.groups.of_index import stored_fingerprints
from es_simhash.groups.of_index.stored_fingerprints import name_of
from es_simhash.live.sweep.reading import Reading, changed_after
from es_simhash.plans.operations import Count, retry
from es_simhash.scheme import own_fields
from es_simhash.scheme.fingerprinting import Fingerprint
from es_simhash.scheme.mapping import GROUP, SIZE, is_settled
from es_simhash.scheme.query import Criteria, clause, shared_bands
from es_simhash.scheme.scope import Scope

# Reading everything is faster than looking for the candidates of more than this share.
MOST_NEW = 0.2
# How many names of groups one query has.
_GROUPS = 1_000


@dataclass
class NewDocuments:
    """The reading of new documents and of what they may change.

    ``decided`` are the documents that people have decided on. ``members`` counts, for each index, the documents in
    groups of several; ``total`` counts all documents.
    """

    engine: StoppableEngine
    aim: Aim
    decided: Sequence[tuple[str, str]] = ()
    members: dict[str, int] = field(init=False)
    total: int = field(init=False)
    _new: set[tuple[str, str]] = field(default_factory=set)
    _seen: set[tuple[str, str]] = field(default_factory=set)
    _asked: set[tuple[str, str]] = field(default_factory=set)
    _groups: set[str] = field(default_factory=set)
    _alone: set[str] = field(default_factory=set)
    _whole: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.members = {index: self._count(index, self.aim.several) for index in self.aim.since}
        self.total = sum(self._count(index, self.aim.query) for index in self.aim.since)

    def are_few(self) -> bool:
        """Return whether it is faster to read these alone."""
        found = sum(self._count(index, self.aim.new(index)) for index in self.aim.since)
        if self.aim.heeds_changes:
            found += sum(self._count(index, self.aim.changed(index)) for index in self.aim.since)
        return found + len(self.decided) <= MOST_NEW * self.total

    def pages(self, noted: Mapping[str, int]) -> Iterator[tuple[list[Json], bool]]:
        """Yield hits, and whether they are new; ``noted`` counts the documents that were in groups of several."""
        for index in self.aim.since:
            for hits in self._read(index, self.aim.new(index), self.aim.source):
                yield hits, True
                self._new.update((hit["_index"], hit["_id"]) for hit in hits)
                self._groups.update(name for hit in hits for name in self._group_of(hit))
                for _, some in chunks(map(self.aim.own, hits), self.aim.at_once):
                    yield from ((old, False) for old in self._old_sharing(some))
        if self.aim.heeds_changes:
            yield from ((old, False) for old in self._moved())
        yield from ((old, False) for old in self._decided())
        if self.members != noted:
            self._groups |= self._shrunken()
        yield from ((old, False) for old in self._members_of(self._groups))
        yield from ((old, False) for old in self._namesakes())

    def _members_of(self, groups: Iterable[str]) -> Iterator[list[Json]]:
        """Yield the members of some groups that were not met yet."""
        for members in self._whole_groups(groups):
            yield self._unseen(members)

    def _whole_groups(self, groups: Iterable[str]) -> Iterator[list[Json]]:
        """Yield all members of some groups, unless these were read whole before; a group comes at once."""
        for _, names in chunks(sorted(set(groups) - self._whole), _GROUPS):
            self._whole.update(names)
            query = all_of(self.aim.query, self.aim.settled, {"terms": {self.aim.field(GROUP): names}})
            yield [hit for hits in self._read_all(query) for hit in hits]

    def _moved(self) -> Iterator[list[Json]]:
        """Yield the groups of documents that were changed, and what shares a key with members that no longer agree."""
        field = [self.aim.field(GROUP)]
        pages = chain.from_iterable(self._read(index, self.aim.changed(index), field) for index in self.aim.since)
        for members in self._whole_groups({name for hits in pages for hit in hits for name in self._group_of(hit)}):
            yield self._unseen(members)
            if not self.aim.scope:
                continue
            groups: dict[str, list[Json]] = defaultdict(list)
            for hit in members:
                groups[self.aim.own(hit)[GROUP]].append(hit)
            apart = [self.aim.own(hit) for group in groups.values() if self.aim.are_apart(group) for hit in group]
            for _, some in chunks(apart, self.aim.at_once):
                yield from self._old_sharing(some)

    def _decided(self) -> Iterator[list[Json]]:
        """Yield the documents that people have decided on, their groups, and what shares a key with any of these."""
        for index in self.aim.since:
            for _, ids in chunks((id_ for of, id_ in self.decided if of == index), _GROUPS):
                query = all_of(self.aim.query, {"ids": {"values": ids}})
                for found in self._read(index, query, self.aim.source):
                    yield self._unseen(found)
                    names = {name for hit in found for name in self._group_of(hit)}
                    members = [hit for group in self._whole_groups(names) for hit in group]
                    yield self._unseen(members)
                    for _, some in chunks(map(self.aim.own, [*found, *members]), self.aim.at_once):
                        yield from self._old_sharing(some)

    def _namesakes(self) -> Iterator[list[Json]]:
        """Yield the members of groups with the names that new groups would get: they keep these."""
        number, firsts = 0, list(self._new | self._seen)
        while firsts:
            names = {name_of(first, number): first for first in firsts}
            yield from self._members_of(names.keys() - self._groups - self._alone)
            firsts = [names[name] for name in names.keys() & (self._groups | self._alone)]
            number += 1

    def _old_sharing(self, some: Sequence[Json]) -> Iterator[list[Json]]:
        """Yield old documents that share keys with some new ones."""
        if not any(own_fields.terms_in(own, "band") or own_fields.terms_in(own, "block") for own in some):
            return
        for hits in self._read_all(self.aim.sharing(some)):
            yield self._unseen(hits)

    def _unseen(self, hits: Sequence[Json]) -> list[Json]:
        """Return the old documents that are met for the first time, and remember their groups."""
        unseen = []
        for hit in hits:
            key = hit["_index"], hit["_id"]
            # What has come since the new documents were read is left to the next run.
            if key not in self._seen and not self.aim.is_new(hit):
                self._seen.add(key)
                unseen.append(hit)
                # A group of one has no other members.
                is_alone = self.aim.own(hit).get(SIZE) == 1
                (self._alone if is_alone else self._groups).update(self._group_of(hit))
        return unseen

    def _group_of(self, hit: Json) -> list[str]:
        """Return the group that a document is in, or that it wishes to be in."""
        name = self.aim.own(hit).get(GROUP)
        return [] if name is None else [name]

    def _shrunken(self) -> set[str]:
        """Find the groups that fewer documents name than their sizes say."""
        sizes: dict[str, set[int]] = defaultdict(set)
        found: Counter[str] = Counter()
        for index in self.aim.since:
            for hits in self._read(index, self.aim.several, [self.aim.field(name) for name in (GROUP, SIZE)]):
                for own in map(self.aim.own, hits):
                    sizes[own[GROUP]].add(own[SIZE])
                    found[own[GROUP]] += 1
        # Of a group that several runs have written, documents may say different sizes.
        return {name for name, there in sizes.items() if there != {found[name]}}

    def _read_all(self, query: Json) -> Iterator[list[Json]]:
        for index in self.aim.since:
            yield from self._read(index, query, self.aim.source)

    def _read(self, index: str, query: Json, source: list[str]) -> Iterator[list[Json]]:
        reading = Reading(index, query, source, None, self.aim.patience, once=True)
        with ExitStack() as stack:
            stack.callback(self.engine.leave, reading.close(), BRIEFLY)
            while hits := run(reading.next(), self.engine):
                yield hits

    def _count(self, index: str, query: Json) -> int:
        count: int = run(retry(Count(index, query), self.aim.patience), self.engine)
        return count


# How many documents' keys one query has, where one key is enough; and how many clauses, which a server limits, where
# several of the same document must be met.
_BY_ONE, _CLAUSES = 200, 900


@dataclass(frozen=True)
class Aim:
    """The documents to group: those that a query finds, each with its changes when groups were written.

    If one ``heeds_changes``, documents in groups that were changed since count, too.
    """

    documents: Documents
    criteria: Criteria
    scope: Scope | None
    heeds_changes: bool
    query: Json
    since: Mapping[str, Sequence[int]]
    patience: float

    def field(self, name: str) -> str:
        """Return the path of one of our fields."""
        return f"{self.documents.prefix}.{name}"

    @property
    def settled(self) -> Json:
        """The query for documents that a run has put into a group."""
        return all_of({"exists": {"field": self.field(GROUP)}}, {"exists": {"field": self.field(SIZE)}})

    @property
    def several(self) -> Json:
        """The query for those in a group of several."""
        return {"bool": {"filter": [self.query, self.settled], "must_not": [{"term": {self.field(SIZE): 1}}]}}

    def new(self, index: str) -> Json:
        """Return the query for new documents of an index."""
        found, changes = [self.query], self.since[index]
        if changes:
            # A group that a run could not settle is still to be settled.
            provisional: Json = {"exists": {"field": self.field(GROUP)}}
            found.append({"bool": {"should": [changed_after(changes), provisional], "minimum_should_match": 1}})
        return {"bool": {"filter": found, "must_not": [self.settled]}}

    def changed(self, index: str) -> Json:
        """Return the query for documents of an index in groups of several that were changed since, by whomever."""
        return all_of(self.several, changed_after(self.since[index]))

    def are_apart(self, members: Sequence[Json]) -> bool:
        """Return whether members of a group no longer have the same values, or lack one."""
        assert self.scope
        values = [self.scope.values_of(hit.get("_source") or {}) for hit in members]
        return None in values or len({each.within for each in values if each}) > 1

    def is_new(self, hit: Json) -> bool:
        """Return whether a hit is what `new` finds."""
        own, changes = self.own(hit), self.since[hit["_index"]]
        is_old = bool(changes) and hit["_seq_no"] <= min(changes) and own.get(GROUP) is None
        return not is_settled(own) and not is_old

    def own(self, hit: Json) -> Json:
        """Return our fields of a hit."""
        own = (hit.get("_source") or {}).get(self.documents.prefix)
        return own if isinstance(own, dict) else {}

    def sharing(self, some: Sequence[Json]) -> Json:
        """Return the query for documents that share enough keys with one of some, given by their fields."""
        should: list[Json] = []
        if self._is_by_one:
            by_field: dict[str, set[str]] = {}
            for own in some:
                for name, key in own_fields.terms_in(own, "band"):
                    by_field.setdefault(name, set()).add(key)
            should += [{"terms": {self.field(name): sorted(keys)}} for name, keys in by_field.items()]
        else:
            settings, prefix, known = self.documents.scheme, self.documents.prefix, Fingerprint("ok", None, None)
            with_keys = (own for own in some if own_fields.terms_in(own, "band") or own_fields.terms_in(own, "block"))
            should += [clause(settings, known, self.criteria, prefix, scored=False, fields=own) for own in with_keys]
        return all_of(self.query, {"bool": {"should": should, "minimum_should_match": 1}})

    @property
    def at_once(self) -> int:
        """How many documents' keys a query has."""
        scheme = self.documents.scheme
        keys = (scheme.minhash.bands if scheme.minhash else 0) + (scheme.simhash.blocks if scheme.simhash else 0)
        return _BY_ONE if self._is_by_one else max(1, _CLAUSES // keys)

    @property
    def _is_by_one(self) -> bool:
        """Whether documents are candidates that share one key."""
        minhash = self.documents.scheme.minhash
        if minhash is None or self.criteria.similarity is None or self.criteria.distance is not None:
            return False
        return shared_bands(minhash, self.criteria) == 1

    @property
    def source(self) -> list[str]:
        """The fields to read."""
        blocks = [self.field(name) for name in own_fields.names(self.documents.scheme) if name.startswith("block")]
        return list(dict.fromkeys([*stored_fingerprints.paths(self.documents, self.scope), *blocks]))


def all_of(*queries: Any) -> Json:
    return {"bool": {"filter": list(queries)}}
