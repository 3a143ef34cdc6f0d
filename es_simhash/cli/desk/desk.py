"""What the desk shows, and what is decided there: one value, which all requests share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from threading import RLock
from typing import Protocol

import numpy as np

from es_simhash._core.json_codec import Json
from es_simhash.cli.desk.queue import Answers, Queue, queue_of
from es_simhash.documents.decisions import Decided, Decision, Key, Verdict, now
from es_simhash.groups.corpus import Corpus
from es_simhash.groups.groups import Groups
from es_simhash.scheme.settings import Settings

_PAGE = 50
_AT_ONCE = 1000


class Documents(Protocol):
    """The documents of the groups, and the decisions on them."""

    def texts(self, positions: Sequence[int]) -> list[str]:
        """Return the texts of documents, as far as they can be read."""
        ...

    def parts(self, positions: Sequence[int]) -> list[Json]:
        """Return the fields to show of documents."""
        ...

    def decided(self) -> Decided:
        """Return all decisions, those that others have just made among them."""
        ...

    def decide(self, decision: Decision) -> None:
        """Keep a decision."""
        ...


@dataclass(frozen=True)
class Pair:
    """A duplicate with the document that stands for it, first, by their positions.

    ``said`` are the sentences of those who decided about one of them or both.
    """

    positions: tuple[int, int]
    keys: tuple[Key, Key]
    names: tuple[str, str]
    texts: tuple[str, str]
    parts: tuple[Json, Json]
    similarity: float | None
    said: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """A group in a list: its number, its size, its lowest known similarity, its canonical document and its text."""

    number: int
    size: int
    similarity: float | None
    name: str
    text: str
    parts: Json


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
        self.made: list[tuple[Decision, int]] = []
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

    def decide(self, positions: Sequence[int], verdict: Verdict, place: int = 0) -> Decision:
        """Keep a decision on documents; ``place`` is where the queue was."""
        with self._lock:
            keys = tuple(self._groups.corpus.keys(positions))
            decision = Decision(keys, verdict, who=self.who, when=now())
            self._documents.decide(decision)
            self.made.append((decision, place))
            return decision

    def undo(self) -> int | None:
        """Take the last decision back; return where the queue was, None if there is nothing to take back."""
        with self._lock:
            if not self.made:
                return None
            decision, place = self.made.pop()
            self._documents.decide(decision.withdrawn())
            return place

    def answers(self) -> Answers:
        """Return what all people have said of the pairs of the queue."""
        with self._lock:
            decided = self._documents.decided()
            same, different = set(decided.same), set(decided.different)
            found = {}
            for duplicate, pair in zip(self.queue.duplicates.tolist(), self._keys_of_queue, strict=True):
                if pair in same or pair in different:
                    found[duplicate] = pair in same
            return Answers(self.queue, found)

    @cached_property
    def _keys_of_queue(self) -> list[tuple[Key, ...]]:
        duplicates, keys = self.queue.duplicates, self._groups.corpus.keys
        canonicals = self._groups.canonicals[duplicates].tolist()
        both = zip(keys(canonicals), keys(duplicates.tolist()), strict=True)
        return [tuple(sorted(pair)) for pair in both]

    # ---- looking

    def pair_at(self, place: int) -> Pair:
        """Return a pair of the queue."""
        duplicate = int(self.queue.duplicates[place])
        return self.pair(int(self._groups.canonicals[duplicate]), duplicate)

    def pair(self, first: int, second: int) -> Pair:
        """Return two documents, with what was said of them."""
        with self._lock:
            corpus, positions = self._groups.corpus, [first, second]
            one, other = corpus.keys(positions)
            a, b = self._documents.texts(positions)
            own, others = self._documents.parts(positions)
            name, other_name = corpus.named(positions)
            return Pair(
                positions=(first, second),
                keys=(one, other),
                names=(name, other_name),
                texts=(a, b),
                parts=(own, others),
                similarity=self._similarity(first, second),
                said=tuple(each.sentence for each in self._documents.decided().on(one, other)),
            )

    def _similarity(self, first: int, second: int) -> float | None:
        if int(self._groups.canonicals[second]) != first:
            return None
        found = self._groups.to_canonicals([second]).similarities
        return None if found is None else float(found[0])

    def members(self, number: int) -> list[tuple[int, str, int, float | None]]:
        """Return the members of a group: position, name, the position of the canonical one, similarity to it."""
        with self._lock:
            positions = self._groups_by_number[number]
            found = self._groups.to_canonicals(positions).similarities
            similarities = [None] * len(positions) if found is None else found.tolist()
            canonicals = self._groups.canonicals[positions].tolist()
            return list(zip(positions, self._groups.corpus.named(positions), canonicals, similarities, strict=True))

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
            some = numbers[wanted.page * _PAGE :][:_PAGE]
            firsts = [self._groups_by_number[number][0] for number in some]
            named = self._groups.corpus.named(firsts)
            texts, parts = self._documents.texts(firsts), self._documents.parts(firsts)
            known = [None if np.isnan(lowest[number]) else float(lowest[number]) for number in some]
            found = [
                Row(number, int(sizes[number]), low, name, text, part)
                for number, low, name, text, part in zip(some, known, named, texts, parts, strict=True)
            ]
            return found, len(numbers)

    def _with_value(self, value: str) -> np.ndarray:
        """Whether a member of each group has a value in a shown field; remembered, since all members are read."""
        if self._last_value[0] != value:
            found = np.zeros(self.total, dtype=np.bool_)
            members = ((number, each) for number, own in enumerate(self._groups_by_number) for each in own)
            while some := list(islice(members, _AT_ONCE)):
                parts = self._documents.parts([position for _, position in some])
                found[[number for (number, _), part in zip(some, parts, strict=True) if _has(part, value)]] = True
            self._last_value = value, found
        return self._last_value[1]

    def group_of(self, id_: str) -> int | None:
        """Return the number of the group that a document is in; None if it is in none."""
        with self._lock:
            for number, positions in enumerate(self._groups_by_number):
                if id_ in self._groups.corpus.named(positions):
                    return number
            return None

    @cached_property
    def _groups_by_number(self) -> list[list[int]]:
        return list(self._groups.positions())

    @cached_property
    def _measures(self) -> tuple[np.ndarray, np.ndarray]:
        """The size of each group, and its lowest known similarity."""
        sizes = np.array(list(map(len, self._groups_by_number)), dtype=np.int64)
        duplicates, similarities = self._groups.known_similarities()
        numbers = np.zeros(len(self._groups.corpus), dtype=np.int64)
        for number, positions in enumerate(self._groups_by_number):
            numbers[positions] = number
        lowest = np.full(len(sizes), np.inf)
        known = ~np.isnan(similarities)
        np.minimum.at(lowest, numbers[duplicates[known]], similarities[known])
        return sizes, np.where(np.isinf(lowest), np.nan, lowest)


def _has(part: Json, value: str) -> bool:
    return any(value == str(each) for each in part.values())
