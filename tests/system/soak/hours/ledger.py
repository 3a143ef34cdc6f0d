"""What users of an index know of it: the documents that it acknowledged, and their texts."""

from __future__ import annotations

import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import RLock

from es_simhash._core.json_codec import Json
from tests.system.soak.hours.texts import text


@dataclass(frozen=True)
class Entry:
    """A document: its source without our fields, who wrote it, and when that was acknowledged.

    It ``is_current`` if its fingerprint was written with its text, or since.
    """

    id: str
    source: Json
    family: int
    by: str
    is_current: bool = True
    at: float = 0.0


@dataclass(frozen=True)
class Family:
    """The documents of a family at a moment, which is over once the family has had another number of ``changes``.

    It was last changed ``at`` a moment, also if a document has left it since.
    """

    number: int
    members: Sequence[Entry]
    changes: int
    at: float

    @property
    def ids(self) -> set[str]:
        return {each.id for each in self.members}

    @property
    def age(self) -> float:
        """Seconds since it was last changed."""
        return time.monotonic() - self.at

    @property
    def is_current(self) -> bool:
        return all(each.is_current for each in self.members)


@dataclass
class Ledger:
    """Acknowledged documents by their ids. Nobody else changes a document that is lent to a user."""

    first: int = 0
    _entries: dict[str, Entry] = field(default_factory=dict)
    _families: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    _changes: Counter[int] = field(default_factory=Counter)
    _changed: dict[int, float] = field(default_factory=dict)
    _lent: set[int] = field(default_factory=set)
    _lock: RLock = field(default_factory=RLock)
    _serial: int = 0

    def __len__(self) -> int:
        return len(self._entries)

    def entries(self) -> dict[str, Entry]:
        """Return all documents by their ids."""
        with self._lock:
            return dict(self._entries)

    def serial(self) -> int:
        """Return a number that there was not before."""
        with self._lock:
            self._serial += 1
            return self._serial

    def new_families(self, count: int) -> list[int]:
        """Return the numbers of families without documents, each for the first time."""
        return [self.first + self.serial() for _ in range(count)]

    def made(self, family: int, copy: int, by: str, *, is_current: bool = True) -> Entry:
        """Make a new document, which is not acknowledged yet."""
        serial = self.serial()
        id_ = f"{by} {serial}"
        source = {"id": id_, **text(family, copy), "number": serial, "tag": f"family {family}"}
        return Entry(id_, source, family, by, is_current)

    def moved(self, entry: Entry, family: int) -> Entry:
        """Return a document with the text of another family."""
        source = {**entry.source, **text(family), "number": self.serial(), "tag": f"family {family}"}
        return replace(entry, source=source, family=family, is_current=False)

    def acknowledge(self, entries: Iterable[Entry]) -> None:
        """Note documents as they are from now on."""
        with self._lock:
            for entry in entries:
                self._forget(entry.id)
                self._entries[entry.id] = replace(entry, at=time.monotonic())
                self._families[entry.family].add(entry.id)
                self._note_change(entry.family)

    def forget(self, ids: Iterable[str]) -> None:
        """Note that documents are deleted."""
        with self._lock:
            for id_ in ids:
                self._forget(id_)

    def _forget(self, id_: str) -> None:
        entry = self._entries.pop(id_, None)
        if entry:
            self._families[entry.family].discard(id_)
            self._note_change(entry.family)
            if not self._families[entry.family]:
                del self._families[entry.family]

    def fingerprinted(self, before: float) -> None:
        """Note that documents have their fingerprints that were last changed before a moment."""
        with self._lock:
            for id_, entry in self._entries.items():
                if entry.at < before and not entry.is_current:
                    self._entries[id_] = replace(entry, is_current=True)

    @contextmanager
    def lent(
        self, rng: random.Random, count: int, fits: Callable[[Family], bool] = lambda family: True, oldest: bool = False
    ) -> Iterator[list[Family]]:
        """Lend some families that fit, the ``oldest`` or any."""
        with self._lock:
            numbers = [number for number in self._families if number not in self._lent]
            if not oldest:
                rng.shuffle(numbers)
            found: list[Family] = []
            for family in map(self._family, numbers):
                if len(found) == count:
                    break
                if fits(family):
                    found.append(family)
            taken = {family.number for family in found}
            self._lent |= taken
        try:
            yield found
        finally:
            with self._lock:
                self._lent -= taken

    def families(self) -> dict[int, Family]:
        """Return all families by their numbers."""
        with self._lock:
            return {number: self._family(number) for number in self._families}

    def is_as(self, family: Family) -> bool:
        """Return whether a family is as it was."""
        with self._lock:
            return self._changes[family.number] == family.changes and family.number not in self._lent

    def _family(self, number: int) -> Family:
        members = [self._entries[id_] for id_ in sorted(self._families[number])]
        return Family(number, members, self._changes[number], self._changed[number])

    def _note_change(self, family: int) -> None:
        self._changes[family] += 1
        self._changed[family] = time.monotonic()
