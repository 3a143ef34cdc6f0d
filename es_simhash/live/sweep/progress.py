"""The progress of a long job."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock

from es_simhash._core.stages import OnProgress
from es_simhash.documents.rejected import OnReject, Rejected
from es_simhash.errors import EngineError
from es_simhash.live.sweep.reading import Part
from es_simhash.live.sweep.writing import Outcome
from es_simhash.scheme.verdict.learnt import LearntRarity


@dataclass
class Progress:
    """The counts of a long job.

    Of ``total`` documents, ``done`` are ``written``, ``current``, ``gone`` or ``rejected``. ``conflicts`` with changes
    of others and ``refusals`` of an overloaded engine were met on the way. Of the written ones, ``resent`` were done by
    requests whose replies were lost, as turned out when these were sent again. The indices ``left_out`` were not
    touched.
    ``unfit`` copies were written without a fingerprint. If others kept changing texts, ``unsettled`` counts their
    changes after the last look; ``seen`` has, by index, the changes of its shards until then. ``learnt`` is how rare
    features are, if the job has learnt that, or why it could not.
    """

    JSON = ("*", "done", "seconds", "seconds_left", "documents_per_second", "megabytes_per_second")

    index: str
    total: int
    written: int = 0
    current: int = 0
    gone: int = 0
    rejected: int = 0
    unfit: int = 0
    unsettled: int = 0
    conflicts: int = 0
    resent: int = 0
    refusals: int = 0
    characters: int = field(default=0, repr=False)
    left_out: Sequence[str] = ()
    learnt: LearntRarity | EngineError | None = None
    seen: dict[str, list[int]] = field(default_factory=dict, repr=False)
    started: float = field(default_factory=time.monotonic, repr=False)

    @classmethod
    def of(cls, index: str, parts: Sequence[Part], left_out: Sequence[str] = ()) -> Progress:
        """Begin the counts of a job over these parts."""
        return cls(index, sum(part.due for part in parts), left_out=left_out)

    @property
    def done(self) -> int:
        """The number of documents done; one written again, because others changed it, counts again."""
        return self.written + self.current + self.gone + self.rejected

    @property
    def seconds(self) -> float:
        """The seconds since the job began."""
        return round(time.monotonic() - self.started, 3)

    @property
    def documents_per_second(self) -> float:
        """The documents done per second."""
        return round(self.done / self.seconds, 1) if self.seconds else 0.0

    @property
    def megabytes_per_second(self) -> float:
        """Millions of characters of text per second: a little less than bytes."""
        return round(self.characters / 1e6 / self.seconds, 3) if self.seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        """The seconds that the rest takes at this speed; None if nothing is done yet."""
        left = max(0, self.total - self.done)
        return round(left * self.seconds / self.done, 1) if self.done else None


class Tally:
    """Counts what becomes of documents in several threads, and reports it."""

    def __init__(
        self, progress: Progress, on_progress: OnProgress[Progress] | None = None, on_reject: OnReject | None = None
    ) -> None:
        self.progress = progress
        self._on_progress = on_progress
        self._on_reject = on_reject
        self._reported: set[tuple[str, str, str | None]] = set()
        self._lock = Lock()

    def add(self, outcome: Outcome, again: bool = False) -> None:
        """Count what became of some documents; of those met ``again``, count only the written ones."""
        with self._lock:
            now = self.progress
            now.written += outcome.written
            if not again:
                now.current += outcome.current
                now.gone += outcome.gone
            now.conflicts += outcome.conflicts
            now.resent += outcome.resent
            now.refusals += outcome.refusals
            now.characters += outcome.characters
            now.rejected += sum(self._report("rejected", each) for each in outcome.rejected)
            now.unfit += sum(self._report("unfit", each) for each in outcome.unfit)
            if self._on_progress:
                self._on_progress(now)

    def _report(self, kind: str, rejected: Rejected) -> bool:
        """Report a document unless it was reported before: an index that is read again brings it up again."""
        key = (kind, rejected.index, rejected.id)
        if key in self._reported:
            return False
        self._reported.add(key)
        if self._on_reject:
            self._on_reject(rejected)
        return True
