"""Groups of near-duplicates: the one result of grouping, wherever the documents come from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Components, Integers, UnionFind
from es_simhash._core.batches import counted_arrays
from es_simhash._core.humanize import counted, listed, with_error
from es_simhash._core.json_codec import Json
from es_simhash._core.rows import Rows, Shown
from es_simhash.errors import InputError
from es_simhash.groups.corpus import Corpus, HotKey, Linked, name_of_group
from es_simhash.groups.form_detection import forms
from es_simhash.groups.pairs.compare import (
    Missed,
    Nearness,
    PairNearness,
    Pairs,
    canonicals_of,
    groups_in_batches,
    in_turn,
    pair_type,
    values_of,
)
from es_simhash.groups.pairs.decided import parted, same_ones
from es_simhash.scheme.mapping import Membership
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.rarity import Rarity
from es_simhash.scheme.verification import Level
from es_simhash.scheme.verifier import EQUAL, SIMILAR, PairMeasures, Similarities, are_near, clauses

if TYPE_CHECKING:
    from typing_extensions import Self

# Where the documents come from: texts or an index.
From_co = TypeVar("From_co", bound=Corpus, covariant=True)

_SINGLES = 1000


@dataclass(frozen=True)
class Counts:
    """The counts of a grouping.

    ``empty`` documents have nothing to compare: no text, or in an index no whole fingerprint. ``unscoped`` ones lack a
    value of the scope. Neither are in any pair. ``identical`` pairs have equal texts: each such text, except the first,
    is paired with the one before it, and compared with no other; but with any in scope, where values must differ or
    dates be near. ``near`` counts all other pairs. ``duplicates`` are the documents that another one stands for.

    Among ``compared`` candidates, ``verified`` were compared as texts, and ``refused`` were similar enough but
    shared too few of their numbers. Keys shared by very many documents would have made ``left_out`` more comparisons,
    counted once for each key of a pair. ``cut_off`` counts documents that were not compared because too many have a
    key, once for each key. Left-out comparisons may have ``missed`` near-duplicates, as estimated. Texts part at the
    similarity ``valley``, unless that is not clear (see `es_simhash.groups.pairs.compare`). If groups were extended,
    only ``new`` documents were compared with the others. ``decisions`` of people were followed, except for
    ``conflicts``, where documents stay apart; ``decisions_elsewhere`` are about documents that are not here,
    or have nothing to compare.
    """

    documents: int
    empty: int
    identical: int
    near: int
    groups: int
    duplicates: int
    compared: int
    verified: int
    left_out: int
    refused: int = 0
    cut_off: int = 0
    unscoped: int = 0
    valley: float | None = None
    missed: Missed | None = None
    new: int | None = None
    decisions: int = 0
    decisions_elsewhere: int = 0
    conflicts: tuple[str, ...] = ()

    @property
    def notes(self) -> list[str]:
        """Sentences for people on what is in no group, or was not compared."""
        documents, pairs = ("document has", "documents have"), ("pair is", "pairs are")
        comparisons, drawn = ("comparison was", "comparisons were"), ("random document was", "random documents were")
        missed = self.missed
        nothing = "." if missed is None or missed.found else "; no near-duplicates seem to be missing."
        said = [
            (self.empty, documents, "no text to compare or an incomplete fingerprint, and so no group."),
            (self.unscoped, documents, "no value in a field of the scope, and so no group."),
            (self.refused, pairs, "similar enough, but the numbers in the texts differ."),
            (
                self.left_out,
                comparisons,
                f"left out, between documents that share text, such as a footer, with very many others{nothing}",
            ),
            (self.cut_off, comparisons, "left out because of the limit max_bucket: groups may lack members."),
        ]
        notes = [f"{counted(count, *noun)} {rest}" for count, noun, rest in said if count]
        if self.new is not None:
            notes.insert(0, f"{counted(self.new, 'new document was', 'new documents were')} compared with the others.")
        if missed and missed.found:
            notes.append(
                f"{counted(missed.drawn, *drawn)} compared with all others, and {missed.found:,} more near-duplicates "
                f"were found: the groups may lack about {missed.pairs:,} pairs ({missed.low:,} to {missed.high:,}). To "
                "find them, remove the shared text by a regular expression: strip."
            )
        if self.decisions:
            notes.append(f"{counted(self.decisions, 'decision')} of people followed.")
        if self.decisions_elsewhere:
            are = counted(self.decisions_elsewhere, "decision is", "decisions are")
            notes.append(f"{are} about documents that are not here or have nothing to compare, and left out.")
        return [*notes, *(f"Decisions contradict each other: {each}" for each in self.conflicts)]


@dataclass(frozen=True)
class Member:
    """A document of a group; a duplicate has its distance and similarity to the document that stands for it.

    This is the ``canonical`` one: its id, or its index and id (``INDEX/ID``) where several indices were grouped. An
    estimated similarity has a ``standard_error``. Documents of files have no ``index``. The ``position`` is that among
    the documents that were grouped: of rows, ``rows[member.position]``.
    """

    JSON: ClassVar[tuple[str, ...]] = (
        *("index", "id", "canonical", "is_canonical"),
        *("similarity", "distance", "standard_error"),
    )

    index: str | None
    id: str
    canonical: str
    is_canonical: bool
    similarity: float | None
    distance: int | None
    standard_error: float | None = None
    position: int = 0


@dataclass(frozen=True)
class Group:
    """A group of near-duplicates; each canonical member comes before its duplicates.

    ``id`` is its name, which in an index stays the same from run to run.
    """

    JSON = ("group", "size", "similarity", "distance", "members")

    id: str
    members: tuple[Member, ...]

    @property
    def group(self) -> str:
        """Its name, as tables and documents call it."""
        return self.id

    @property
    def size(self) -> int:
        """The number of members."""
        return len(self.members)

    @property
    def duplicates(self) -> tuple[Member, ...]:
        """The members that others stand for."""
        return tuple(each for each in self.members if not each.is_canonical)

    @property
    def canonical(self) -> Member:
        """The first of the members that stand for themselves."""
        return self.members[0]

    @property
    def similarity(self) -> float | None:
        """The lowest similarity of a member to the document that stands for it."""
        return min((each.similarity for each in self.members if each.similarity is not None), default=None)

    @property
    def distance(self) -> int | None:
        """The largest distance of a member to the document that stands for it."""
        return max((each.distance for each in self.members if each.distance is not None), default=None)


def _shown_row(group: Group) -> list[str]:
    lowest = min(group.members, key=lambda each: 1.0 if each.similarity is None else each.similarity)
    similarity = "" if lowest.similarity is None else with_error(lowest.similarity, lowest.standard_error)
    sides = ([each.id for each in group.members if each.is_canonical == stands] for stands in (True, False))
    return [group.id, f"{group.size:,}", similarity, *map(listed, sides)]


# What a table says of each member, as Arrow calls the types; documents of files have no index.
_COLUMNS = {
    "group": "string",
    "index": "string",
    "id": "string",
    "canonical": "string",
    "is_canonical": "bool",
    "similarity": "double",
    "distance": "int64",
    "standard_error": "double",
}


class Groups(Rows, Generic[From_co]):
    """All groups, the largest first; those that new documents may change, if only these were compared.

    They are a table of Arrow, too (``to_arrow()``), with a row for each member, canonical ones before their duplicates.
    Documents are known by their positions, from 0: ``canonicals`` has for each the one that stands for it.

    Names and links may lie in temporary files: close it, or use it in a ``with`` statement.

    >>> from es_simhash import dedup
    >>> with dedup([("a", "the same text " * 9), ("b", "the same text " * 9)]) as groups:
    ...     [(group.canonical.id, [each.id for each in group.duplicates]) for group in groups]
    [('a', ['b'])]
    """

    def __init__(self, corpus: From_co, found: Linked, criteria: Criteria | None = None) -> None:
        self._corpus = corpus
        self.criteria = criteria or corpus.criteria
        self._are_fewer = criteria is not None
        self._linked = found
        self.left_out: set[int] = set()
        self.canonicals: Integers = np.arange(len(corpus))
        self._make(np.ones(len(corpus), dtype=np.bool_))

    @property
    def corpus(self) -> From_co:
        """The documents that were grouped."""
        return self._corpus

    # ---- groups

    @property
    def groups(self) -> list[Group]:
        """The groups in a list; iteration reads them one by one."""
        return list(self)

    def __len__(self) -> int:
        """Return the number of groups."""
        return len(self._starts)

    def __iter__(self) -> Iterator[Group]:
        """Yield the groups, the largest first."""
        for names, some in self._batches():
            members = self._members_of(some)
            yield from (Group(name, tuple(islice(members, len(each)))) for name, each in zip(names, some, strict=True))

    @property
    def counts(self) -> Counts:
        """The counts of documents, pairs and groups."""
        found, links, comparison = self._linked, self._linked.links, self._linked.comparison
        near, identical = links.near, links.identical
        if self._are_fewer or self.corpus.decided:
            equal = [(len(pairs), np.count_nonzero(pairs["clause"] == EQUAL)) for pairs in self.pairs()]
            identical = int(sum(count for _, count in equal))
            near = sum(count for count, _ in equal) - identical
        return Counts(
            documents=self.corpus.total,
            empty=self.corpus.empty,
            identical=identical,
            near=near,
            groups=len(self),
            duplicates=int(np.count_nonzero(~self.is_canonical)),
            compared=comparison.compared,
            verified=comparison.verified,
            left_out=links.left_out,
            refused=comparison.refused,
            cut_off=links.cut_off,
            unscoped=self.corpus.store.unscoped,
            valley=comparison.sample.valley,
            missed=found.missed,
            new=found.new,
            decisions=self.corpus.decided.count,
            decisions_elsewhere=self.corpus.decided.elsewhere,
            conflicts=self._conflicts,
        )

    @property
    def rarity(self) -> Rarity | None:
        """The table by which texts were compared; None if they were not."""
        return self.corpus.rarity

    @property
    def is_canonical(self) -> npt.NDArray[np.bool_]:
        """Whether each document stands for itself: it is near none that does, or in no group."""
        return self.canonicals == np.arange(len(self.canonicals), dtype=self.canonicals.dtype)

    @property
    def firsts(self) -> Integers:
        """For each document the first of its group; itself if it is in none."""
        found = np.arange(len(self.corpus), dtype=np.int64)
        found[self._members] = np.repeat(self._members[self._starts], self._sizes)
        return found

    @property
    def hot_keys(self) -> list[HotKey]:
        """The keys shared by very many documents."""
        return self._linked.links.hot_keys

    @cached_property
    def forms(self) -> tuple[str, ...]:
        """The names of the first documents of groups that look like forms (see `es_simhash.groups.form_detection`).

        There are none where no texts were compared.
        """
        corpus = self.corpus
        corpus.spools.check_open()
        if corpus.exact is None or self.criteria.similarity is None:
            return ()
        found = forms(corpus.settings, self._nearness, corpus.texts_at, self.positions())
        return tuple(corpus.named(found))

    def pairs(self) -> Iterator[Pairs]:
        """Yield the pairs that link documents in batches, those of equal texts first.

        A batch is a numpy array with the fields ``first`` and ``second``, the positions; ``distance`` if SimHash
        counts; and ``similarity``, with its ``standard_error`` (0 if it ``is_exact``), if MinHash does.

        >>> [(int(pair["first"]), int(pair["second"])) for some in groups.pairs() for pair in some]
        [(0, 1)]
        """
        found, decided = self._links(), self.corpus.decided
        return chain(map(decided.only_allowed, found), self._decided_links()) if decided else found

    def ids(self) -> Iterator[list[str]]:
        """Yield the ids of the members of each group, with their indices where there are several.

        >>> list(groups.ids())
        [['1', '2']]
        """
        for some in groups_in_batches(self.positions()):
            named = iter(self.corpus.named(list(chain.from_iterable(some))))
            yield from (list(islice(named, len(each))) for each in some)

    def positions(self) -> Iterator[list[int]]:
        """Yield the positions of the members of each group.

        >>> list(groups.positions())
        [[0, 1]]
        """
        for start, size in zip(self._starts.tolist(), self._sizes.tolist(), strict=True):
            yield self._members[start : start + size].tolist()

    def at(self, similarity: float | Level) -> Self:
        """Return the groups by a higher minimum similarity, without another run; close either to close both.

        They are those that a run with this similarity finds; its keys may find a few pairs more, or fewer.

        >>> len(groups.at(0.99))
        0
        """
        corpus = self.corpus
        if self._linked.joined or self._linked.new is not None:
            raise InputError("Only new documents were compared. Group all of them to try another similarity.")
        if self.criteria.similarity is None:
            raise InputError("No similarity decided, only the distance. Group again to try another distance.")
        criteria = replace(corpus.options, similarity=similarity).criteria(corpus.settings)
        assert criteria.similarity is not None
        if criteria.similarity < self.criteria.similarity:
            raise InputError(
                f"These groups have pairs from {self.criteria.similarity:g} on, and {criteria.similarity:g} would have "
                "more. Group again with it."
            )
        return type(self)(corpus, replace(self._linked, missed=None), criteria)

    def known_similarities(self) -> tuple[Integers, Similarities]:
        """Return the positions of all duplicates, and how similar each is to its canonical document; NaN if unknown.

        >>> groups.known_similarities()[0]
        array([1])
        """
        unknown = np.full(len(self._duplicates), np.nan)
        return self._duplicates, unknown if self._similarities is None else self._similarities

    def to_canonicals(self, positions: Sequence[int]) -> PairNearness:
        """Return how near documents are to those that stand for them.

        >>> groups.to_canonicals([0]).similarities
        array([1.])
        """
        self._nearness.load(positions)
        members = np.array(positions, dtype=np.int64)
        return self._near(self.canonicals[members].astype(np.int64), members)

    # ---- what is written of them

    @property
    def columns(self) -> dict[str, str]:
        """The columns of the table, and their types as Arrow calls them; only documents of an engine have an index."""
        return {name: kind for name, kind in _COLUMNS.items() if name != "index" or self.corpus.is_of_engine}

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield a row for each member, canonical ones before their duplicates."""
        self.corpus.spools.check_open()
        names = list(self.columns)[1:]
        return ((group.id, *(getattr(each, name) for name in names)) for group in self for each in group.members)

    def fields(self, singles: bool = False) -> Iterator[tuple[int, Json]]:
        """Yield the position of each member, and the fields to write into the document.

        With ``singles``, documents in no group come last, as groups of one.

        >>> [(position, fields["is_canonical"]) for position, fields in groups.fields()]
        [(0, True), (1, False)]
        """
        for names, some in self._batches():
            own, newer = self._members_of(some), self.corpus.newer(some)
            named = dict(zip(newer, self.corpus.named(list(newer.values())), strict=True))
            for name, positions in zip(names, some, strict=True):
                for member in islice(own, len(positions)):
                    superseded_by = named.get(member.position)
                    group = Membership(name, len(positions), member.canonical, member.is_canonical, superseded_by)
                    yield member.position, group.fields(member.distance, member.similarity)
        if singles:
            yield from self._singles()

    def leave_out(self, positions: Collection[int]) -> None:
        """Make the groups again without some documents.

        >>> groups.leave_out([1])
        >>> len(groups)
        0
        """
        is_affected = np.zeros(len(self.corpus), dtype=np.bool_)
        numbers = np.repeat(np.arange(len(self)), self._sizes)
        gone = np.isin(self._members, list(positions))
        gone |= np.isin(self._members, self.corpus.decided.mentioned)  # which others may now join
        is_affected[self._members[np.isin(numbers, numbers[gone])]] = True
        is_affected[self.corpus.decided.mentioned] = True
        self.left_out.update(positions)
        self._make(is_affected)

    def shown(self) -> Shown:
        """Return the largest groups for people."""
        counts, columns = self.counts, ["group", "documents", "lowest similarity", "canonical", "duplicates"]
        nouns = {"document": counts.documents, "group": counts.groups, "duplicate": counts.duplicates}
        heading = ", ".join(counted(count, noun) for noun, count in nouns.items())
        notes = [*counts.notes, *filter(None, [self.corpus.undated_note])]
        if self.is_closed:
            return Shown(heading, notes=["The result is closed, so its groups cannot be read.", *notes])
        return Shown(heading, columns, map(_shown_row, self), len(self), notes)

    @property
    def is_closed(self) -> bool:
        """Whether the temporary files are deleted, and with them the names of documents."""
        return self.corpus.spools.is_closed

    def close(self) -> None:
        """Delete the temporary files, and all that is kept for another run.

        A block that ends by an error keeps the latter.

        >>> groups.close()
        """
        self.__exit__(None)

    def __enter__(self) -> Self:
        """Return the groups, to be closed at the end of the block."""
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error is None:
            self.corpus.remove_kept()
        self.corpus.spools.close()

    # ---- making groups

    def _make(self, is_affected: npt.NDArray[np.bool_]) -> None:
        """Make the groups of linked documents, and choose canonical ones where ``is_affected``; others stay."""
        self.__dict__.pop("forms", None)
        corpus, components = self.corpus, self._union().groups()
        links = corpus.decided.links(self.left_out)
        same = same_ones(links, self._copies, np.asarray(components.firsts)) if links else None
        self._nearness = Nearness(corpus.store, self.criteria, corpus.exact, same)
        # What only an earlier run has linked may not be near.
        are_linked = self._linked.joined is None or not len(self._linked.joined[0])
        pairs = self.pairs if are_linked else None
        before = self.canonicals
        self.canonicals = np.arange(len(self.corpus), dtype=components.firsts.dtype)
        members, sizes = [np.empty(0, dtype=self.canonicals.dtype)], list[int]()
        batches = groups_in_batches(self._staying(components))
        for some in counted_arrays("Making groups", batches, len(components), "groups"):
            ordered = self.corpus.ordered(some)
            new = [each for each in ordered if is_affected[each[0]]]
            old = [position for each in ordered if not is_affected[each[0]] for position in each]
            self.canonicals[old] = before[old]
            standing = canonicals_of(new, self._nearness, are_linked=are_linked, pairs=pairs)
            self.canonicals[list(chain.from_iterable(new))] = standing
            turns = (in_turn(each, self.canonicals[each].tolist()) for each in ordered)
            members.append(np.fromiter(chain.from_iterable(turns), dtype=self.canonicals.dtype))
            sizes += map(len, ordered)
        self._in_order(np.concatenate(members), np.array(sizes, dtype=np.int64))
        self._duplicates = np.flatnonzero(~self.is_canonical)
        self._similarities = self._of_pairs()
        self._names = self.corpus.names_of_groups(self.positions())

    def _in_order(self, members: Integers, sizes: Integers) -> None:
        """Keep the groups, the largest first; of those of one size, in the order of their first documents."""
        starts = np.cumsum(sizes) - sizes
        order = np.argsort(-sizes, kind="stable")
        if self.corpus.is_of_engine:  # which reads documents in any order
            keys = [key[::-1] for key in self.corpus.keys(members[starts].tolist())]
            order = np.array(sorted(order.tolist(), key=lambda number: (-sizes[number], keys[number])), dtype=np.int64)
        starts = starts[order]
        self._sizes = sizes[order]
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._members = members[np.repeat(starts - self._starts, self._sizes) + np.arange(len(members))]

    def _staying(self, components: Components) -> Iterator[list[int]]:
        """Yield the sets of two or more documents that links connect; those left out connect nothing."""
        gone = self.left_out | self.corpus.decided.alone
        if not gone:
            yield from components
            return
        for component in components:
            rest = [position for position in component if position not in gone]
            if len(rest) > 1:
                yield rest

    def _union(self) -> UnionFind:
        """Return what links connect, without the documents left out, and as people have decided."""
        decided = self.corpus.decided
        if not self.left_out and not self._are_fewer and not decided:
            return self._linked.links.union
        copies = self._copies
        union, instead = UnionFind(len(self.corpus)), self._copies_instead(copies)
        for pairs in self._links():
            first, second = (instead[pairs[side]] for side in ("first", "second"))
            stay = (first >= 0) & (second >= 0)
            union.union(first[stay], second[stay])
        if self._linked.joined:
            groups, members = self._linked.joined
            stay = ~np.isin(members, list(self.left_out))
            _, firsts, numbers = np.unique(groups[stay], return_index=True, return_inverse=True)
            union.union(members[stay][firsts][numbers], members[stay])
        stays = self._stays
        if links := decided.links(self.left_out):
            union.union(*np.array(links, dtype=np.int64).T)
        return parted(union, decided, self._links, copies, stays, self.corpus.keys) if decided.different else union

    @property
    def _conflicts(self) -> tuple[str, ...]:
        """What decisions contradict each other in, with the groups that several documents are to stand for."""
        chosen: dict[int, list[int]] = defaultdict(list)
        if len(self.corpus.decided.canonical) > 1:
            firsts = self.firsts
            for position in sorted(self.corpus.decided.canonical):
                chosen[int(firsts[position])].append(position)
        named = (self.corpus.named(each) for each in chosen.values() if len(each) > 1)
        several = (f"{listed(list(map(repr, names)))} are to stand for one group." for names in named)
        return (*self.corpus.decided.conflicts, *several)

    @property
    def _stays(self) -> npt.NDArray[np.bool_]:
        """Which documents may be in a group."""
        stays = np.ones(len(self.corpus), dtype=np.bool_)
        stays[list(self.left_out | self.corpus.decided.alone)] = False
        return stays

    @cached_property
    def _copies(self) -> Integers:
        """Return for each document the first with an equal text.

        Among these only the first has links to others, unless a scope keeps them apart: then each is its own first.
        """
        copies = UnionFind(len(self.corpus))
        if not self.corpus.store.is_by_pairs:
            for pairs in self._links():
                equal = pairs[pairs["clause"] == EQUAL]
                copies.union(equal["first"], equal["second"])
        return np.asarray(copies.groups().firsts, dtype=np.int64)

    def _copies_instead(self, copies: Integers) -> Integers:
        """Return each document that stays, and a copy that stays of the others, or -1."""
        stays = self._stays
        staying, copy = np.flatnonzero(stays), np.full(len(copies), -1, dtype=np.int64)
        copy[copies[staying]] = staying
        return np.where(stays, np.arange(len(copies)), copy[copies])

    def _links(self) -> Iterator[Pairs]:
        """Yield the pairs of near-duplicates, whatever people have decided."""
        pairs = self._linked.links.pairs
        found = counted_arrays("Reading pairs", pairs, len(pairs), "pairs")
        return map(self._near_enough, found) if self._are_fewer else found

    def _decided_links(self) -> Iterator[Pairs]:
        """Yield the pairs that people have linked, with their measures."""
        if not (links := self.corpus.decided.links(self.left_out)):
            return
        first, second = np.array(links, dtype=np.int64).T
        near = self._nearness.between(first, second)
        found = np.zeros(len(links), dtype=pair_type(self.corpus.criteria))
        found["first"], found["second"], found["clause"] = first, second, SIMILAR
        if near.distances is not None and self.corpus.criteria.distance is not None:
            found["distance"] = near.distances
        if near.similarities is not None and self.corpus.criteria.similarity is not None:
            found["similarity"], found["is_exact"], found["meets"] = (
                near.similarities,
                near.standard_errors is None,
                True,
            )
            found["standard_error"] = 0 if near.standard_errors is None else near.standard_errors
        yield found

    def _near_enough(self, pairs: Pairs) -> Pairs:
        """Return the pairs that are near by the higher similarity."""
        distances = pairs["distance"] if self.criteria.distance is not None else None
        measures = PairMeasures(pairs["similarity"], pairs["meets"])
        found: Pairs = pairs[(pairs["clause"] == EQUAL) | are_near(clauses(self.criteria, distances, measures))]
        return found

    def _of_pairs(self) -> Similarities | None:
        """Return the similarity of each duplicate to its canonical document as far as pairs have it, else NaN."""
        if self.criteria.similarity is None:
            return None
        found = np.full(len(self._duplicates), np.nan)
        for pairs in self.pairs():
            sure = pairs[pairs["is_exact"]] if self.corpus.exact else pairs
            for one, other in (("first", "second"), ("second", "first")):
                here = sure[self.canonicals[sure[one]] == sure[other]]
                found[np.searchsorted(self._duplicates, here[one])] = here["similarity"]
        return found

    # ---- reading groups

    def _batches(self) -> Iterator[tuple[list[str], list[list[int]]]]:
        """Yield names of groups, and the positions of their members."""
        names = iter(self._names or ())
        batches = groups_in_batches(self.positions())
        for some in counted_arrays("Reading groups", batches, len(self), "groups"):
            self._nearness.load(list(chain.from_iterable(some)))
            if self._names is None:
                yield [name_of_group(key) for key in self.corpus.keys([each[0] for each in some])], some
            else:
                yield list(islice(names, len(some))), some

    def _members_of(self, groups: Sequence[Sequence[int]]) -> Iterator[Member]:
        positions = np.fromiter(chain.from_iterable(groups), dtype=np.int64)
        canonicals = self.canonicals[positions].astype(np.int64)
        keys, named = self.corpus.keys(positions.tolist()), self.corpus.named(canonicals.tolist())
        near, are_canonical = values_of(self._near(canonicals, positions)), (canonicals == positions).tolist()
        rows = zip(keys, named, are_canonical, near, positions.tolist(), strict=True)
        for (index, id_), name, is_canonical, values, position in rows:
            similarity, distance, error = (None, None, None) if is_canonical else values
            yield Member(index or None, id_, name, is_canonical, similarity, distance, error, position)

    def _near(self, canonicals: Integers, members: Integers) -> PairNearness:
        """Compare members with their canonical documents; most similarities are known from the pairs."""
        known = None
        if self._similarities is not None:
            known = np.full(len(members), np.nan)
            are_later = canonicals != members
            known[are_later] = self._similarities[np.searchsorted(self._duplicates, members[are_later])]
        return self._nearness.between(canonicals, members, known)

    def _singles(self) -> Iterator[tuple[int, Json]]:
        alone = np.ones(len(self.corpus), dtype=np.bool_)
        alone[self._members] = False
        alone[list(self.left_out)] = False
        waiting = np.flatnonzero(alone).tolist()
        for start in range(0, len(waiting), _SINGLES):
            some = waiting[start : start + _SINGLES]
            names = self.corpus.names_of_groups(([position] for position in some), self._names or ())
            named = names or [name_of_group(key) for key in self.corpus.keys(some)]
            fields = (
                Membership(name, 1, key, True).fields()
                for name, key in zip(named, self.corpus.named(some), strict=True)
            )
            yield from zip(some, fields, strict=True)
