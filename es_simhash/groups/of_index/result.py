"""The groups found in an index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from types import TracebackType
from typing import Any, ClassVar

import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash._core.arrow_tables import ArrowRows
from es_simhash._core.json_paths import Json
from es_simhash._core.stages import counted_arrays, counted_each
from es_simhash.groups.forms import FindForms
from es_simhash.groups.of_index.canonical_order import Ranking
from es_simhash.groups.of_index.document_refs import DocumentRefs
from es_simhash.groups.of_index.group_names import names
from es_simhash.groups.of_index.stored_fingerprints import content_number
from es_simhash.groups.pairs.compare import Pairs
from es_simhash.groups.pairs.diameters import Diameter, diameters
from es_simhash.groups.pairs.document_links import HotKey, Links
from es_simhash.groups.pairs.group_batches import groups_in_batches
from es_simhash.groups.pairs.nearness import Nearness, values_of
from es_simhash.groups.pairs.result import MEMBER_COLUMNS, Counts
from es_simhash.groups.pairs.spool import Spools
from es_simhash.groups.pairs.standing import canonicals_of, in_turn
from es_simhash.groups.union_find import UnionFind
from es_simhash.live.sweep.document_ref import DocumentRef
from es_simhash.scheme.group_fields import Membership
from es_simhash.scheme.verdict.rarity import Rarity
from es_simhash.scheme.verdict.rule import EQUAL

_SINGLES = 1000


@dataclass(frozen=True)
class Member:
    """A document of a group, with its distance and similarity to the document that stands for it.

    This is the ``canonical`` one: its id, or its index and id (``INDEX/ID``) where several indices were grouped. An
    estimated similarity has a ``standard_error``.
    """

    index: str
    id: str
    canonical: str
    is_canonical: bool
    distance: int | None
    similarity: float | None
    standard_error: float | None = None


@dataclass(frozen=True)
class Group:
    """A group of near-duplicates; each canonical member comes before its duplicates.

    ``id`` is its name, which stays the same from run to run; ``diameter`` is the largest distance between members.
    """

    id: str
    members: tuple[Member, ...]
    diameter: Diameter

    @property
    def canonical(self) -> Member:
        """The first of the members that stand for themselves."""
        return self.members[0]


@dataclass(frozen=True)
class ReadPart:
    """Of all groups, only those that new documents may change were read.

    ``members`` counts, for each index, the documents that were in groups of several. With ``singles`` all others are
    in groups of one. ``documents`` counts all.
    """

    members: Mapping[str, int]
    singles: bool
    documents: int


@dataclass(frozen=True, eq=False)
class LinkedDocuments:
    """The linked documents, from which groups are made; ``joined`` has pairs that were in a group before.

    ``rarity`` is the table by which texts were compared, if they were. ``part`` is there if not all were read. Of a
    shard (``is_shard``) no documents are linked.
    """

    refs: DocumentRefs
    links: Links
    nearness: Nearness
    ranking: Ranking
    rarity: Rarity | None
    indices: dict[str, list[int] | None]
    note: tuple[str, Json]
    joined: tuple[Integers, Integers]
    unread: Mapping[str, str]
    part: ReadPart | None = None
    is_shard: bool = False
    find_forms: FindForms | None = None

    @property
    def has_several_indices(self) -> bool:
        """Whether documents of several indices are grouped, whose ids may be the same."""
        return len(self.indices) > 1


class Grouped(ArrowRows):
    """All groups, or those that new documents may change.

    They are a table of Arrow, too (``to_arrow()``), with a row for each member, canonical ones before their duplicates.

    Ids and links may lie in temporary files: close it, or use it in a ``with`` statement.

    ``others`` counts the documents without a fingerprint of the scheme, or with an empty text, which are in no group.
    ``new`` counts those that were compared with the others; None if all were.
    """

    def __init__(self, spools: Spools, found: LinkedDocuments, counts: Counts, others: int, new: int | None) -> None:
        self._spools = spools
        self._linked = found
        self.others = others
        self.new = new
        self._counts = counts
        self._without: set[int] = set()
        self._positions: list[list[int]] = []
        self._canonicals = np.arange(len(found.refs))
        self._make()

    def _make(self) -> None:
        """Make the groups of linked documents."""
        self._positions, self._canonicals = self._groups()
        self._names = self._named(self._positions)
        self._forms: tuple[str, ...] | None = None

    def leave_out(self, positions: Collection[int]) -> None:
        """Make the groups again without some documents."""
        self._without.update(positions)
        self._make()

    @property
    def left_out(self) -> set[int]:
        """The positions of documents that were left out of the groups."""
        return self._without

    def __len__(self) -> int:
        """Return the number of groups."""
        return len(self._positions)

    @property
    def indices(self) -> dict[str, list[int] | None]:
        """The indices that were read, each with the changes of its shards before, if the engine numbers them."""
        return self._linked.indices

    @property
    def part(self) -> ReadPart | None:
        """What is known of the groups that were not read; None if all were."""
        return self._linked.part

    @property
    def is_shard(self) -> bool:
        """Whether a shard was read into files, and no groups were made."""
        return self._linked.is_shard

    @property
    def rarity(self) -> Rarity | None:
        """The table by which texts were compared; None if they were not."""
        return self._linked.rarity

    @property
    def forms(self) -> tuple[str, ...]:
        """The first documents of groups that look like forms, named as `Member.canonical` names them.

        See `es_simhash.groups.forms`. There are none where no texts were compared.
        """
        if self._forms is None:
            self._spools.check_open()
            found = self._linked.find_forms(self._positions) if self._linked.find_forms else []
            self._forms = tuple(self._keys_as_written(found))
        return self._forms

    @property
    def unread(self) -> Mapping[str, str]:
        """The indices behind the name that were left out, with the reasons."""
        return self._linked.unread

    @property
    def note(self) -> tuple[str, Json]:
        """The name of an index's note about its groups, and the settings with which they were made."""
        return self._linked.note

    @property
    def counts(self) -> Counts:
        """The counts of documents, pairs and groups."""
        duplicates = int(np.count_nonzero(self._canonicals != np.arange(len(self._canonicals))))
        return replace(self._counts, groups=len(self), duplicates=duplicates)

    @property
    def hot_keys(self) -> list[HotKey]:
        """The keys shared by very many documents."""
        return self._linked.links.hot_keys

    def __iter__(self) -> Iterator[Group]:
        """Yield the groups, the largest first."""
        nearness, names_ = self._linked.nearness, iter(self._names)
        for some in counted_arrays("Reading groups", self._loaded(self._positions), len(self), "groups"):
            positions = list(chain.from_iterable(some))
            canonicals = self._canonicals[positions]
            near = nearness.between(canonicals, np.array(positions))
            standing = zip(self._keys_as_written(canonicals.tolist()), (canonicals == positions).tolist(), strict=True)
            rows = zip(self.keys(positions), standing, values_of(near), strict=True)
            members = (Member(*key, *own, *values) for key, own, values in rows)
            for each, diameter in zip(some, diameters(nearness, some, near), strict=True):
                yield Group(next(names_), tuple(islice(members, len(each))), diameter)

    def _loaded(self, groups: Iterable[list[int]]) -> Iterator[list[list[int]]]:
        """Yield groups in batches, and load what is compared of each batch meanwhile."""
        for some in groups_in_batches(groups):
            self._linked.nearness.load(list(chain.from_iterable(some)))
            yield some

    def _keys_as_written(self, positions: Sequence[int]) -> list[str]:
        """Return the keys of documents as others name them: ids, with their indices where there are several."""
        keys = self.keys(positions)
        return [f"{index}/{id_}" if self._linked.has_several_indices else id_ for index, id_ in keys]

    def _keys_of_members(self, groups: Sequence[Sequence[int]]) -> Mapping[int, tuple[str, str]]:
        """Return the index and the id of each member of groups, by its position."""
        positions = list(chain.from_iterable(groups))
        return dict(zip(positions, self.keys(positions), strict=True))

    def pairs(self) -> Iterator[Pairs]:
        """Yield the pairs that link documents, by their positions, in batches; see `Duplicates.pairs`."""
        pairs = self._linked.links.pairs
        return counted_arrays("Reading pairs", pairs, len(pairs), "pairs")

    def refs(self, positions: Sequence[int]) -> list[DocumentRef]:
        """Return references to documents, by their positions."""
        return self._linked.refs.take(positions)

    def keys(self, positions: Sequence[int]) -> list[tuple[str, str]]:
        """Return the index and the id of documents, by their positions."""
        return self._linked.refs.keys(positions)

    def refs_of(self, keys: Sequence[tuple[str, str]]) -> list[DocumentRef]:
        """Return references to members of groups, by index and id; the largest groups are searched first."""
        found: dict[tuple[str, str], DocumentRef] = {}
        missing = set(keys)
        for some in groups_in_batches(self._positions):
            if not missing:
                break
            named = self._keys_of_members(some)
            here = [position for position, key in named.items() if key in missing]
            found.update((named[position], ref) for position, ref in zip(here, self.refs(here), strict=True))
            missing -= {named[position] for position in here}
        return [found.get(key) or DocumentRef(*key, None, {}) for key in keys]

    def duplicates(self) -> Iterator[DocumentRef]:
        """Yield references to the members of groups that others stand for."""
        for positions in counted_each("Reading duplicates", self._positions, len(self), "groups"):
            yield from self.refs([each for each in positions if self._canonicals[each] != each])

    def has_content(self, position: int, content: str) -> bool:
        """Return whether the fingerprinted text of a document has this hash."""
        return self._linked.nearness.has_content(position, content_number(content))

    @property
    def scope_paths(self) -> tuple[str, ...]:
        """The fields of the scope."""
        return self._linked.nearness.scope_paths

    def has_scope(self, position: int, document: Json) -> bool:
        """Return whether a document still has the values of the scope that were read."""
        return self._linked.nearness.has_scope(position, document)

    def fields(self, singles: bool = False) -> Iterator[tuple[int, Json]]:
        """Yield the position of each member, and the fields to write into the document.

        With ``singles``, documents in no group come last, as groups of one.
        """
        names_ = iter(self._names)
        for some in self._loaded(self._positions):
            members = np.concatenate(some)
            canonicals = self._canonicals[members]
            near = values_of(self._linked.nearness.between(canonicals, members))
            own = zip(self._keys_as_written(canonicals.tolist()), (canonicals == members).tolist(), near, strict=True)
            for positions in some:
                name = next(names_)
                for position, (key, is_canonical, (distance, similarity, _)) in zip(positions, own, strict=False):
                    group = Membership(name, len(positions), key, is_canonical)
                    yield position, group.fields(distance, similarity)
        if singles:
            yield from self._singles()

    def _singles(self) -> Iterator[tuple[int, Json]]:
        alone = np.ones(len(self._linked.refs), dtype=np.bool_)
        for positions in (*self._positions, list(self._without)):
            alone[positions] = False
        waiting = np.flatnonzero(alone).tolist()
        for start in range(0, len(waiting), _SINGLES):
            some = waiting[start : start + _SINGLES]
            made = self._named([[position] for position in some], self._names)
            keys = self._keys_as_written(some)
            fields = (Membership(name, 1, key, True).fields() for name, key in zip(made, keys, strict=True))
            yield from zip(some, fields, strict=True)

    def present_fields(self) -> Iterator[tuple[int, Json]]:
        """Yield the positions of documents that have fields of groups already, and these fields."""
        return self._linked.refs.stored_groups()

    def _groups(self) -> tuple[list[list[int]], Integers]:
        """Make the groups, the largest first; return their members, each canonical one before its duplicates.

        Return with them the position of the document that stands for each.
        """
        found, before = self._linked, {each[0]: set(each) for each in self._positions}
        groups: list[tuple[int, tuple[str, str], list[int]]] = []
        canonicals = np.arange(len(found.refs))
        # What only an earlier run has linked may not be near.
        are_linked = not len(found.joined[0])
        batches = groups_in_batches(self._components())
        for some in counted_arrays("Making groups", batches, len(found.links.union.groups()), "groups"):
            keys = self._keys_of_members(some)
            ordered = [found.ranking.ordered(component, keys) for component in some]
            made = [each for each in ordered if before.get(each[0]) == set(each)]
            new = [each for each in ordered if before.get(each[0]) != set(each)]
            kept = list(chain.from_iterable(made))
            canonicals[kept] = self._canonicals[kept]
            pairs = self.pairs if are_linked else None
            standing = canonicals_of(new, found.nearness, are_linked=are_linked, pairs=pairs)
            canonicals[list(chain.from_iterable(new))] = standing
            for each in ordered:
                groups.append((-len(each), keys[each[0]][::-1], in_turn(each, canonicals[each].tolist())))
        return [positions for *_, positions in sorted(groups)], canonicals

    def _components(self) -> Iterator[list[int]]:
        """Yield the sets of two or more documents that links connect; those left out connect nothing."""
        union = self._union_without() if self._without else self._linked.links.union
        for component in union.groups():
            rest = [position for position in component if position not in self._without]
            if len(rest) > 1:
                yield rest

    def _union_without(self) -> UnionFind:
        union, instead = UnionFind(len(self._linked.refs)), self._copies_instead()
        for pairs in self.pairs():
            first, second = (instead[pairs[side]] for side in ("first", "second"))
            stay = (first >= 0) & (second >= 0)
            union.union(first[stay], second[stay])
        groups, members = self._linked.joined
        stay = ~np.isin(members, list(self._without))
        _, firsts, numbers = np.unique(groups[stay], return_index=True, return_inverse=True)
        union.union(members[stay][firsts][numbers], members[stay])
        return union

    def _copies_instead(self) -> Integers:
        """Return each document that stays, and a copy that stays of those left out, or -1.

        Among documents with equal texts only the first has links to others, unless a scope keeps them apart.
        """
        count = len(self._linked.refs)
        copies, stays = UnionFind(count), np.ones(count, dtype=np.bool_)
        stays[list(self._without)] = False
        if self._linked.nearness.is_by_pairs:
            return np.where(stays, np.arange(count), -1)
        for pairs in self.pairs():
            equal = pairs[pairs["clause"] == EQUAL]
            copies.union(equal["first"], equal["second"])
        firsts, staying = copies.groups().firsts, np.flatnonzero(stays)
        copy = np.full(count, -1, dtype=np.int64)
        copy[firsts[staying]] = staying
        return np.where(stays, np.arange(count), copy[firsts])

    def _named(self, groups: list[list[int]], others: Sequence[str] = ()) -> list[str]:
        """Name groups, without using the names of others."""
        firsts = self._linked.refs.keys([each[0] for each in groups])
        there = self._stored_names
        counters = [Counter(there[position] for position in each if position in there) for each in groups]
        return names(list(zip(firsts, counters, strict=True)), others)

    @cached_property
    def _stored_names(self) -> dict[int, str]:
        return {position: own["group"] for position, own in self.present_fields() if "group" in own}

    _COLUMNS: ClassVar[dict[str, str]] = {
        "group": "string",
        "index": "string",
        "id": "string",
        **MEMBER_COLUMNS,
    }

    def _arrow_rows(self) -> Iterator[tuple[Any, ...]]:
        self._spools.check_open()
        return (
            (group.id, *(getattr(each, name) for name in ("index", "id", *MEMBER_COLUMNS)))
            for group in self
            for each in group.members
        )

    def _repr_html_(self) -> str:
        from es_simhash.groups.groups_html import grouped_html

        return grouped_html(self)

    @property
    def is_closed(self) -> bool:
        """Whether the temporary files are deleted, and with them the members of the groups."""
        return self._spools.is_closed

    def close(self) -> None:
        """Delete the temporary files."""
        self._spools.close()

    def __enter__(self) -> Grouped:
        """Return the groups, to be closed at the end of the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
