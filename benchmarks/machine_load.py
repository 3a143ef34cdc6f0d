"""What others do on the machine while a benchmark runs, read from /proc: its numbers count only on a quiet one.

Others are all but this process, those that it started (nodes among them) and the kernel's threads, which work for all.
What a hypervisor took for other machines counts as theirs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PROC = Path("/proc")
MOST = 0.1
"""Others may use this share of the processors."""
LOOK_SECONDS = 5.0
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_KERNEL = "kthreadd"


@dataclass(frozen=True)
class Reading:
    """CPU seconds since the machine started, at a time: of the whole machine, and of each process of others.

    Ours is the rest, for not every process of ours can be asked: PySpark's daemon ignores SIGCHLD, and what its
    workers took is then in no process that is left.
    """

    at: float
    everyone: float
    stolen: float
    others: Mapping[int, float]
    processors: int

    @classmethod
    def of(cls, at: float, stat: str, processes: Iterable[str], pid: int) -> Reading:
        """Read the texts of /proc/stat and of each /proc/PID/stat."""
        first, *others = (line.split() for line in stat.splitlines() if line.startswith("cpu"))
        user, nice, system, _, _, _, _, stolen = map(int, first[1:9])
        everyone = (user + nice + system) / _TICKS
        return cls(at, everyone, stolen / _TICKS, _others(processes, pid), len(others))

    @classmethod
    def now(cls) -> Reading:
        """Read this machine's."""
        processes = []
        for path in PROC.glob("[0-9]*/stat"):
            try:
                processes.append(path.read_text(encoding="utf-8", errors="replace"))
            except OSError:  # it has ended; who waited for it has its seconds
                continue
        stat = (PROC / "stat").read_text(encoding="ascii")
        return cls.of(time.monotonic(), stat, processes, os.getpid())

    def others_since(self, before: Reading) -> float:
        """Return the share of the processors that others used.

        A process of theirs that has ended counts as its parent's, all its life: rather too much than too little.
        """
        return (self._by_others(before) + self.stolen - before.stolen) / (self.at - before.at) / self.processors

    def ours_since(self, before: Reading) -> float:
        """Return the CPU seconds that we and the kernel took."""
        return max(0.0, self.everyone - before.everyone - self._by_others(before))

    def _by_others(self, before: Reading) -> float:
        return sum(max(0.0, seconds - before.others.get(pid, 0.0)) for pid, seconds in self.others.items())


def _others(processes: Iterable[str], pid: int) -> dict[int, float]:
    """Return the seconds of each process but this one, its descendants, and the kernel's threads."""
    parents, seconds, roots = dict[int, int](), dict[int, float](), {pid}
    for line in processes:
        head, _, tail = line.rpartition(")")
        number, _, name = head.partition(" (")
        fields = tail.split()
        parents[int(number)] = int(fields[1])
        # Its own, and those of its children that have ended.
        seconds[int(number)] = sum(map(int, fields[11:15])) / _TICKS
        if name == _KERNEL:
            roots.add(int(number))
    return {each: taken for each, taken in seconds.items() if roots.isdisjoint(_line_of(each, parents))}


def _line_of(pid: int, parents: dict[int, int]) -> list[int]:
    """List a process and its ancestors."""
    line = []
    while pid in parents and pid not in line:
        line.append(pid)
        pid = parents[pid]
    return line


@dataclass
class Watch:
    """Readings before a run, and after each of its parts."""

    before: float
    """Share of the processors that others used just before."""
    average: float
    """The machine's load average then, what we ran before included."""
    readings: list[Reading] = field(default_factory=list)

    @classmethod
    def begun(cls, seconds: float = LOOK_SECONDS) -> Watch:
        """Look for some seconds, in which we do nothing; the run begins."""
        first = Reading.now()
        time.sleep(seconds)
        last = Reading.now()
        return cls(last.others_since(first), os.getloadavg()[0], [last])

    def part_ended(self) -> None:
        """Note that a part of the run has ended; one too short to be judged counts as part of the next."""
        reading = Reading.now()
        if reading.at - self.readings[-1].at >= LOOK_SECONDS:
            self.readings.append(reading)

    def prepared(self) -> None:
        """Judge only what follows: what a part prepares may take long, and is not measured."""
        self.readings[-1] = Reading.now()

    @property
    def parts(self) -> Sequence[float]:
        """The share of the processors that others used in each part."""
        return [later.others_since(earlier) for earlier, later in zip(self.readings, self.readings[1:], strict=False)]

    @property
    def most(self) -> float:
        """The largest share of the processors that others used, before or in any part."""
        return max(self.before, *self.parts, 0.0)

    @property
    def is_busy(self) -> bool:
        """Whether others used too much, before or in any part."""
        return self.most > MOST

    def __str__(self) -> str:
        return f"load {self.average:.1f}, others at most {self.most:.0%}"


def refusal(name: str, watch: Watch) -> str:
    """Say why a section is not published."""
    return (
        f"The machine is too busy to publish {name}: {watch}; {MOST:.0%} are allowed. "
        "Stop what else runs and try again, or take --print to see numbers that are not written."
    )
