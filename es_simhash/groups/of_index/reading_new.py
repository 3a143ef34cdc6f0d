"""Reading only what is new in an index whose groups are written, and what of the rest it may change.

What is read:

- the new documents: those in a provisional group, and those in none, where the engine numbers changes only those
  changed since groups were written;
- old ones that share enough keys with a new one: its candidates;
- of a scope, groups that have a document changed since: if its members no longer agree, they are compared as new ones,
  so what shares a key with them is read as well;
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

from es_simhash._core.batched import chunks
from es_simhash._core.json_paths import Json
from es_simhash._core.prefetch import BRIEFLY
from es_simhash.engines.base import StoppableEngine, run
from es_simhash.groups.of_index.group_names import name_of
from es_simhash.groups.of_index.new_document_queries import Aim, all_of
from es_simhash.live.sweep.reading import Reading
from es_simhash.plans.operation_retry import retry
from es_simhash.plans.operations import Count
from es_simhash.scheme import own_fields
from es_simhash.scheme.group_fields import GROUP, SIZE

# Reading everything is faster than looking for the candidates of more than this share.
MOST_NEW = 0.2
# How many names of groups one query has.
_GROUPS = 1_000


@dataclass
class NewDocuments:
    """The reading of new documents and of what they may change.

    ``members`` counts, for each index, the documents in groups of several; ``total`` counts all documents.
    """

    engine: StoppableEngine
    aim: Aim
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
        if self.aim.scope:
            found += sum(self._count(index, self.aim.changed(index)) for index in self.aim.since)
        return found <= MOST_NEW * self.total

    def pages(self, noted: Mapping[str, int]) -> Iterator[tuple[list[Json], bool]]:
        """Yield hits, and whether they are new; ``noted`` counts the documents that were in groups of several."""
        for index in self.aim.since:
            for hits in self._read(index, self.aim.new(index), self.aim.source):
                yield hits, True
                self._new.update((hit["_index"], hit["_id"]) for hit in hits)
                self._groups.update(name for hit in hits for name in self._group_of(hit))
                for _, some in chunks(map(self.aim.own, hits), self.aim.at_once):
                    yield from ((old, False) for old in self._old_sharing(some))
        if self.aim.scope:
            yield from ((old, False) for old in self._moved())
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
            groups: dict[str, list[Json]] = defaultdict(list)
            for hit in members:
                groups[self.aim.own(hit)[GROUP]].append(hit)
            apart = [self.aim.own(hit) for group in groups.values() if self.aim.are_apart(group) for hit in group]
            for _, some in chunks(apart, self.aim.at_once):
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
        sizes: dict[str, int] = {}
        found: Counter[str] = Counter()
        for index in self.aim.since:
            for hits in self._read(index, self.aim.several, [self.aim.field(name) for name in (GROUP, SIZE)]):
                for own in map(self.aim.own, hits):
                    sizes[own[GROUP]] = own[SIZE]
                    found[own[GROUP]] += 1
        return {name for name, size in sizes.items() if found[name] != size}

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
