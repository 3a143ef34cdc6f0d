"""How far a backfill is, and what it came to."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TypeAlias

from es_simhash.documents.rejected import OnReject, Rejected
from es_simhash.live.backfill.scope import Part
from es_simhash.live.sweep.writing import Outcome
from es_simhash.plans.operations import Plan, Wait


@dataclass
class Progress:
    """Counts of a run: of ``total`` documents ``done``, which are the sum of ``written``, ``current``, ``gone`` and
    ``rejected``; ``conflicts`` with others' changes and ``refusals`` of an overloaded engine were met on the way.
    Nothing was done in the indices that are ``left_out``. Copies that are ``unfit`` for a fingerprint were written
    without one. Where others did not stop changing texts, ``unsettled`` counts their changes after the last look.
    """

    index: str
    total: int
    written: int = 0
    current: int = 0
    gone: int = 0
    rejected: int = 0
    unfit: int = 0
    unsettled: int = 0
    conflicts: int = 0
    refusals: int = 0
    characters: int = 0
    left_out: Sequence[str] = ()
    started: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, index: str, parts: Sequence[Part], left_out: Sequence[str] = ()) -> Progress:
        """The beginning of a run over these parts."""
        return cls(index, sum(part.due for part in parts), left_out=left_out)

    @property
    def done(self) -> int:
        """How many documents need no more; one that is written again, because others changed it, counts again."""
        return self.written + self.current + self.gone + self.rejected

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return time.monotonic() - self.started


OnProgress: TypeAlias = Callable[[Progress], object]


class Teller:
    """Adds up what becomes of documents, from several threads, and tells it."""

    def __init__(
        self, progress: Progress, on_progress: OnProgress | None = None, on_undone: OnReject | None = None
    ) -> None:
        self.progress = progress
        self._on_progress = on_progress
        self._on_undone = on_undone
        self._told: set[tuple[str, str, str | None]] = set()
        self._lock = Lock()

    def add(self, outcome: Outcome, again: bool = False) -> None:
        """Count what became of some documents; of those met ``again``, only what was written."""
        with self._lock:
            now = self.progress
            now.written += outcome.written
            if not again:
                now.current += outcome.current
                now.gone += outcome.gone
            now.conflicts += outcome.conflicts
            now.refusals += outcome.refusals
            now.characters += outcome.characters
            now.rejected += sum(self._tell("rejected", undone) for undone in outcome.rejected)
            now.unfit += sum(self._tell("unfit", undone) for undone in outcome.unfit)
            if self._on_progress:
                self._on_progress(now)

    def _tell(self, kind: str, undone: Rejected) -> bool:
        """Tell of a document that is undone, if that is new: it may be met again where an index is read again."""
        key = (kind, undone.index, undone.id)
        if key in self._told:
            return False
        self._told.add(key)
        if self._on_undone:
            self._on_undone(undone)
        return True


class Pace:
    """At most so many documents a second, over all threads together."""

    def __init__(self, most_a_second: float | None) -> None:
        self._most = most_a_second
        self._next = time.monotonic()
        self._lock = Lock()

    def turn(self, documents: int) -> Plan[None]:
        """Wait until so many may be written."""
        if self._most is None or not documents:
            return
        with self._lock:
            now = time.monotonic()
            turn = max(self._next, now)
            self._next = turn + documents / self._most
        yield Wait(turn - now)
