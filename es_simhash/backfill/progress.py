"""How far a backfill is, and what it came to."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import TypeAlias

from es_simhash.backfill.writing import Outcome
from es_simhash.documents import Rejected


@dataclass
class Progress:
    """Counts of a run: of ``total`` documents ``done``, which are the sum of ``written``, ``current``, ``gone`` and
    ``rejected``; ``conflicts`` with others' changes and ``refusals`` of an overloaded engine were met on the way.
    """

    index: str
    total: int
    written: int = 0
    current: int = 0
    gone: int = 0
    rejected: int = 0
    conflicts: int = 0
    refusals: int = 0
    characters: int = 0
    started: float = field(default_factory=time.monotonic)

    @property
    def done(self) -> int:
        """How many documents need no more."""
        return self.written + self.current + self.gone + self.rejected

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return time.monotonic() - self.started


OnProgress: TypeAlias = Callable[[Progress], object]
OnReject: TypeAlias = Callable[[Rejected], object]


class Teller:
    """Adds up what becomes of documents, from several threads, and tells it."""

    def __init__(self, progress: Progress, on_progress: OnProgress | None, on_reject: OnReject | None) -> None:
        self.progress = progress
        self._on_progress = on_progress
        self._on_reject = on_reject
        self._rejected: set[str] = set()
        self._lock = Lock()

    def add(self, outcome: Outcome) -> None:
        """Count what became of some documents."""
        with self._lock:
            now = self.progress
            now.written += outcome.written
            now.current += outcome.current
            now.gone += outcome.gone
            now.conflicts += outcome.conflicts
            now.refusals += outcome.refusals
            now.characters += outcome.characters
            for rejected in outcome.rejected:
                self._reject(rejected)
            if self._on_progress:
                self._on_progress(now)

    def _reject(self, rejected: Rejected) -> None:
        # A document may be met again where an index is read again.
        if rejected.reason not in self._rejected:
            self._rejected.add(rejected.reason)
            self.progress.rejected += 1
            if self._on_reject:
                self._on_reject(rejected)


class Pace:
    """At most so many documents a second, over all threads together."""

    def __init__(self, most_a_second: float | None) -> None:
        self._most = most_a_second
        self._next = time.monotonic()
        self._lock = Lock()

    def seconds_until(self, documents: int) -> float:
        """How long to wait until so many may be written."""
        if self._most is None:
            return 0.0
        with self._lock:
            now = time.monotonic()
            turn = max(self._next, now)
            self._next = turn + documents / self._most
            return turn - now
