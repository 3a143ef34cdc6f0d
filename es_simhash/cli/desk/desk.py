"""What the desk shows, and what is decided there: one value, which all requests share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from math import inf
from threading import RLock
from time import monotonic
from typing import Protocol

import numpy as np

from es_simhash._core.json_codec import Json
from es_simhash.cli.desk.queue import Answers, Queue, queue_of
from es_simhash.documents.decisions import ON_ONE, Decided, Decision, Key, Verdict, now
from es_simhash.groups.corpus import Corpus
from es_simhash.groups.groups import Groups
from es_simhash.scheme.rerank import leaves
from es_simhash.scheme.settings import Settings

# Groups, and documents of a group, on a page.
PAGE = 50
_AT_ONCE = 1000
# What others say of the queue is read again after these seconds; what they say of a pair, with each page that shows it.
_SECONDS = 5.0


class Documents(Protocol):
    """The documents of the groups, and the decisions on them."""

    def texts(self, positions: Sequence[int]) -> list[str]:
        """Return the texts of documents, as far as they can be read."""

    def parts(self, positions: Sequence[int]) -> list[Json]:
        """Return the fields to show of documents."""

    def decided(self, documents: Sequence[Key]) -> Decided:
        """Return the decisions on documents, those that others have just made among them."""

    def decide(self, decisions: list[Decision]) -> None:
        """Keep decisions."""


@dataclass(frozen=True)
class Shown:
    """A document as pages show it: its name, its text, and the fields that were asked for."""

    name: str
    text: str
    parts: Json


@dataclass(frozen=True)
class Pair:
    """A duplicate with the document that stands for it, first, by their positions.

    ``group`` is the number of the second's group, -1 if it is in none; ``said`` are the sentences of those who
    decided about one of them or both.
    """

    positions: tuple[int, int]
    documents: tuple[Shown, Shown]
    similarity: float | None
    group: int
    said: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """A group in a list: its number, its size, its lowest known similarity, and its canonical document."""

    number: int
    size: int
    similarity: float | None
    canonical: Shown


@dataclass(frozen=True)
class MemberRow:
    """A member of a group, the document that stands for it, how similar they are, and what was ``said`` of it."""

    position: int
    canonical: int
    canonical_name: str
    similarity: float | None
    document: Shown
    said: list[str]


@dataclass(frozen=True)
class Wanted:
    """Which groups to list: of a least size, with a lowest similarity in a range, with a value in a shown field."""

    size: int = 2
    low: float = 0.0
    high: float = 1.0
    value: str = ""
    page: int = 0


class Desk:
    """The groups of an index or a file, with their documents, and ``who`` decides about them."""

    def __init__(self, groups: Groups[Corpus], documents: Documents, name: str, who: str) -> None:
        self._groups, self._documents, self._lock = groups, documents, RLock()
        self.name, self.who = name, who
        self.queue: Queue = queue_of(groups)
        # Each with what was decided before, and the address of the page.
        self.made: list[tuple[Decision, list[Decision], str]] = []
        # Says what the last request has kept.
        self.kept = ""
        self._decided, self._due = Decided(), -inf
        self._last_value = "", np.ones(self.total, dtype=np.bool_)

    @property
    def settings(self) -> Settings:
        """How texts are compared."""
        return self._groups.corpus.settings

    @property
    def threshold(self) -> float | None:
        """The minimum similarity."""
        return self._groups.criteria.similarity

    @property
    def total(self) -> int:
        """The number of groups."""
        return len(self._groups)

    # ---- deciding

    def decide(self, positions: Sequence[int], verdict: Verdict, page: str = "/") -> None:
        """Keep a decision on a pair, or that its first document stands for both, made on a page."""
        with self._lock:
            keys = tuple(self._groups.corpus.keys(positions))
            decision = Decision(keys[:1] if verdict in ON_ONE else keys, verdict, who=self.who, when=now())
            own = [each for each in self._documents.decided(keys).decisions if each.who == self.who]
            before = [each for each in own if each.subject == decision.subject] or [decision.withdrawn()]
            # Who lets one stand for both no longer lets the other.
            others = [each for each in own if each.subject == (keys[1:], verdict) and each.holds]
            self._keep([*(each.withdrawn() for each in others), decision])
            self.made.append((decision, [*before, *others], page))
            self.kept = f"Saved: {decision.claim}."

    def undo(self) -> str:
        """Take the last decision back, if there is one; return the page on which it was made."""
        with self._lock:
            if not self.made:
                return "/"
            decision, before, page = self.made.pop()
            self._keep(before)
            self.kept = f"Taken back: {decision.claim}."
            return page

    def _keep(self, decisions: list[Decision]) -> None:
        self._documents.decide(decisions)
        self._decided = Decided([*self._decided.decisions, *decisions])

    def answers(self) -> Answers:
        """Return what all people have said of the pairs of the queue."""
        with self._lock:
            pairs, at = self._keys_of_queue, monotonic()
            if at >= self._due:
                self._decided = self._documents.decided(list(dict.fromkeys(chain(*pairs))))
                self._due = at + _SECONDS
            found = {}
            for duplicate, (one, other) in zip(self.queue.duplicates.tolist(), pairs, strict=True):
                is_same = other in self._decided.others("same", one)
                if is_same or other in self._decided.others("different", one):
                    found[duplicate] = is_same
            return Answers(self.queue, found)

    @cached_property
    def _keys_of_queue(self) -> list[tuple[Key, Key]]:
        duplicates, keys = self.queue.duplicates, self._groups.corpus.keys
        canonicals = self._groups.canonicals[duplicates].tolist()
        return list(zip(keys(canonicals), keys(duplicates.tolist()), strict=True))

    # ---- looking

    def pair_at(self, place: int) -> Pair:
        """Return a pair of the queue."""
        duplicate = int(self.queue.duplicates[place])
        return self.pair(int(self._groups.canonicals[duplicate]), duplicate)

    def pair(self, first: int, second: int) -> Pair:
        """Return two documents, with what was said of them."""
        with self._lock:
            keys = self._groups.corpus.keys([first, second])
            a, b = self._shown([first, second])
            said = tuple(each.sentence for each in self._documents.decided(keys).on(*keys))
            is_canonical = int(self._groups.canonicals[second]) == first
            similarity = self._similarities([second])[0] if is_canonical else None
            return Pair((first, second), (a, b), similarity, int(self._numbers[second]), said)

    def _shown(self, positions: Sequence[int]) -> list[Shown]:
        names, documents = self._groups.corpus.named(positions), self._documents
        found = zip(names, documents.texts(positions), documents.parts(positions), strict=True)
        return [Shown(*each) for each in found]

    def _similarities(self, positions: list[int]) -> list[float | None]:
        found = self._groups.to_canonicals(positions).similarities
        return [None] * len(positions) if found is None else found.tolist()

    def members(self, number: int, page: int = 0) -> tuple[list[MemberRow], int]:
        """Return a page of the members of a group, and how many it has."""
        with self._lock:
            every = self._groups_by_number[number]
            positions = every[page * PAGE :][:PAGE]
            if not positions:
                raise LookupError(page)
            canonicals, corpus = self._groups.canonicals[positions].tolist(), self._groups.corpus
            keys = corpus.keys(positions)
            pairs, decided = zip(corpus.keys(canonicals), keys, strict=True), self._documents.decided(keys)
            said = [[each.sentence for each in decided.on(*pair) if pair[1] in each.documents] for pair in pairs]
            names, similarities = corpus.named(canonicals), self._similarities(positions)
            rows = zip(positions, canonicals, names, similarities, self._shown(positions), said, strict=True)
            return [MemberRow(*row) for row in rows], len(every)

    def rows(self, wanted: Wanted) -> tuple[list[Row], int]:
        """Return a page of groups, and how many there are of those that are wanted."""
        with self._lock:
            sizes, lowest = self._measures
            fits = sizes >= wanted.size
            if (wanted.low, wanted.high) != (0.0, 1.0):
                fits &= (lowest >= wanted.low) & (lowest <= wanted.high)
            if wanted.value:
                fits &= self._with_value(wanted.value)
            numbers = np.flatnonzero(fits).tolist()
            some = numbers[wanted.page * PAGE :][:PAGE]
            shown = self._shown([self._groups_by_number[number][0] for number in some])
            known = [None if np.isnan(low) else low for low in lowest[some].tolist()]
            return list(map(Row, some, sizes[some].tolist(), known, shown)), len(numbers)

    def _with_value(self, value: str) -> np.ndarray:
        """Whether a member of each group has a value in a shown field; remembered, since all members are read."""
        if self._last_value[0] != value:
            found = np.zeros(self.total, dtype=np.bool_)
            for some in self._members():
                parts = self._documents.parts([position for _, _, position in some])
                for (number, *_), part in zip(some, parts, strict=True):
                    values = (each if isinstance(each, list) else [each] for _, each in leaves(part))
                    found[number] |= value in map(str, chain(*values))
            self._last_value = value, found
        return self._last_value[1]

    def group_of(self, id_: str) -> tuple[int, int] | None:
        """Return the number of the group that a document is in, and its page; None if it is in none."""
        with self._lock:
            for some in self._members():
                keys = self._groups.corpus.keys([position for _, _, position in some])
                for (number, place, _), (index, own) in zip(some, keys, strict=True):
                    if id_ in (own, f"{index}/{own}"):
                        return number, place // PAGE
            return None

    def _members(self) -> Iterator[list[tuple[int, int, int]]]:
        """Yield the members of all groups, many at once: the number of the group, the place there, the position."""
        groups = enumerate(self._groups_by_number)
        members = ((number, place, each) for number, own in groups for place, each in enumerate(own))
        while some := list(islice(members, _AT_ONCE)):
            yield some

    @cached_property
    def _groups_by_number(self) -> list[list[int]]:
        return list(self._groups.positions())

    @cached_property
    def _measures(self) -> tuple[np.ndarray, np.ndarray]:
        """The size of each group, and its lowest known similarity."""
        sizes = np.array(list(map(len, self._groups_by_number)), dtype=np.int64)
        duplicates, similarities = self._groups.known_similarities()
        lowest = np.full(len(sizes), np.inf)
        known = ~np.isnan(similarities)
        np.minimum.at(lowest, self._numbers[duplicates[known]], similarities[known])
        return sizes, np.where(np.isinf(lowest), np.nan, lowest)

    @cached_property
    def _numbers(self) -> np.ndarray:
        """The number of the group of each document, -1 for those in none."""
        numbers = np.full(len(self._groups.corpus), -1, dtype=np.int64)
        for number, positions in enumerate(self._groups_by_number):
            numbers[positions] = number
        return numbers
