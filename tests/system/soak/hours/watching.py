"""Memory and open files of processes, by what Linux says of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Event, Thread

from tests.system.soak.hours.tally import Tally

_EVERY_SECONDS = 15.0


class Watch(Thread):
    """Measures processes again and again until it is stopped, and keeps the tally in its file."""

    def __init__(
        self, tally: Tally, file: Path, pids: Mapping[str, Callable[[], int | None]], every: float = _EVERY_SECONDS
    ) -> None:
        super().__init__(daemon=True)
        self._tally, self._file, self._pids, self._every = tally, file, pids, every
        self._halt = Event()

    def run(self) -> None:
        """Measure until it is stopped."""
        while not self._halt.wait(self._every):
            self.look()

    def look(self) -> None:
        """Measure once."""
        try:
            for name, pid_of in self._pids.items():
                pid = pid_of()
                if pid is not None and (found := measured(pid)):
                    self._tally.sample(name, pid, *found)
            self._tally.save(self._file)
        except Exception:
            self._tally.failed("watching")

    def stop(self) -> None:
        self._halt.set()
        self.join()


def measured(pid: int) -> tuple[float, int] | None:
    """Return the memory of a process in MB and the number of its open files; None if it has ended."""
    place = Path("/proc", str(pid))
    try:
        status = dict(line.split(":", 1) for line in (place / "status").read_text().splitlines() if ":" in line)
        return int(status["VmRSS"].split()[0]) / 1_024, len(list((place / "fd").iterdir()))
    except (OSError, KeyError):  # ended, or just ending
        return None
