"""What happened in a soak: counts by kind, problems, and what was measured; kept in a file as it goes."""

from __future__ import annotations

import json
import os
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import NamedTuple

from es_simhash._core.json_codec import Json

_MOST_KEPT = 100
# Errors that come so soon after a fault come of it: a server that was killed recovers for some time.
_AFTERMATH_SECONDS = 60.0
_NOTHING = "nothing"


class Sample(NamedTuple):
    """A process at a moment: seconds since the beginning, memory in MB, and open files."""

    at: float
    pid: int
    memory: float
    handles: int


@dataclass
class Tally:
    """Counts; ``broken`` are invariants that did not hold, ``failures`` are those of the harness itself."""

    server: str
    seed: int
    begun: float = field(default_factory=time.monotonic)
    seconds: float = 0.0
    is_complete: bool = False
    operations: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    checked: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    samples: dict[str, list[Sample]] = field(default_factory=lambda: defaultdict(list))
    checkpoints: int = 0
    _faults_now: Counter[str] = field(default_factory=Counter)
    _last_fault: tuple[str, float] = (_NOTHING, -1e9)
    _lock: RLock = field(default_factory=RLock)

    def did(self, operation: str, count: int = 1) -> None:
        """Count what users did."""
        with self._lock:
            self.operations[operation] += count

    def hold(self, invariant: str, problems: Iterable[str] = (), count: int = 1) -> None:
        """Count that an invariant was checked so often, and note where it does not hold."""
        with self._lock:
            self.checked[invariant] += count
            for problem in problems:
                if len(self.broken) < _MOST_KEPT:
                    self.broken.append(f"{self.now:.0f} s: {invariant}: {problem}")

    def saw(self, error: str) -> None:
        """Count an error that a user saw, by its kind and by the fault that was going on."""
        with self._lock:
            self.errors[f"{error} ({self._cause})"] += 1

    def failed(self, where: str) -> None:
        """Note a failure of the harness, from where it is handled."""
        with self._lock:
            if len(self.failures) < _MOST_KEPT:
                self.failures.append(f"{self.now:.0f} s: {where}: {traceback.format_exc()}")

    @contextmanager
    def fault(self, kind: str) -> Iterator[None]:
        """Count a fault, which goes on within."""
        with self._lock:
            self.faults[kind] += 1
            self._faults_now[kind] += 1
        try:
            yield
        finally:
            with self._lock:
                self._faults_now[kind] -= 1
                self._last_fault = kind, time.monotonic()

    def sample(self, process: str, pid: int, memory: float, handles: int) -> None:
        """Note the memory and the open files of a process."""
        with self._lock:
            self.samples[process].append(Sample(round(self.now, 1), pid, round(memory, 1), handles))

    @property
    def now(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self.begun

    @property
    def _cause(self) -> str:
        if active := +self._faults_now:
            return " and ".join(sorted(active))
        kind, ended = self._last_fault
        return f"after {kind}" if time.monotonic() - ended < _AFTERMATH_SECONDS else _NOTHING

    @property
    def is_right(self) -> bool:
        """Whether nothing was broken, neither of the product nor of the harness."""
        return not self.broken and not self.failures

    def as_json(self) -> Json:
        """Return everything, for `report`."""
        counts = ["operations", "faults", "checked", "errors", "checkpoints"]
        names = ["server", "seed", "seconds", "is_complete", *counts, "broken", "failures", "samples"]
        with self._lock:
            self.seconds = round(self.now, 1)
            return json.loads(json.dumps({name: getattr(self, name) for name in names}))

    def save(self, path: Path) -> None:
        """Write everything to a file, which is whole at any moment."""
        part = path.with_suffix(".part")
        part.write_text(json.dumps(self.as_json()), encoding="utf-8")
        os.replace(part, path)
