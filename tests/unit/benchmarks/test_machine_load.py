"""What others do on the machine does not count as a benchmark's work, and keeps its numbers from being published."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence

import pytest

from benchmarks import __main__ as command
from benchmarks import machine_load
from benchmarks.machine_load import Reading, Watch
from benchmarks.tables import Table

BENCHMARK = 100
# Hundredths of seconds.
STAT = "cpu  {user} 20 30 9000 50 7 8 {stolen} 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\ncpu1 1 1 1 1 1 1 1 1 0 0\nintr 5\n"


def process(pid: int, parent: int, ticks: tuple[int, int, int, int], name: str = "java (a) b") -> str:
    user, system, of_children, system_of_children = ticks
    return f"{pid} ({name}) S {parent} 0 0 0 -1 0 0 0 0 0 {user} {system} {of_children} {system_of_children} 20 0 9\n"


def reading(at: float, user: int, *processes: str, stolen: int = 0) -> Reading:
    return Reading.of(at, STAT.format(user=user, stolen=stolen), processes, BENCHMARK)


@pytest.fixture(autouse=True)
def hundred_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_load, "_TICKS", 100)


def test_all_but_a_process_its_descendants_and_the_kernel_are_others() -> None:
    read = reading(
        0,
        1000,
        process(1, 0, (500, 0, 0, 0)),
        process(2, 0, (1, 0, 0, 0), "kthreadd"),
        process(50, 2, (10, 0, 0, 0), "kworker/0:1"),
        process(BENCHMARK, 1, (100, 200, 300, 400)),
        process(101, BENCHMARK, (1000, 0, 0, 0)),
        process(102, 101, (2000, 0, 0, 0)),
        process(103, 1, (1000, 2000, 3000, 1000)),
    )
    assert read.others == {1: 5, 103: 70}
    assert read.processors == 2


def test_others_used_what_their_processes_did_and_what_was_stolen() -> None:
    before = reading(10, 1000, process(BENCHMARK, 1, (100, 0, 0, 0)), process(7, 1, (300, 0, 0, 0)))
    # Five seconds of two processors, one of them stolen.
    after = reading(
        15,
        1400,
        process(BENCHMARK, 1, (400, 0, 0, 0)),
        process(7, 1, (350, 0, 0, 0)),
        process(8, 1, (50, 0, 0, 0)),
        stolen=100,
    )
    assert after.others_since(before) == pytest.approx(0.2)
    assert after.ours_since(before) == pytest.approx(3)


def test_a_process_of_others_that_has_ended_does_not_hide_another() -> None:
    before = reading(0, 1000, process(1, 0, (0, 0, 0, 0)), process(7, 1, (900, 0, 0, 0)))
    unasked = reading(5, 1200, process(1, 0, (0, 0, 0, 0)), process(8, 1, (200, 0, 0, 0)))
    assert unasked.others_since(before) == pytest.approx(0.2)
    waited_for = reading(5, 1200, process(1, 0, (0, 0, 900, 0)), process(8, 1, (200, 0, 0, 0)))
    assert waited_for.others_since(before) > 0.2


@pytest.mark.parametrize("waited_for", [600, 0], ids=["waited for", "asked by nobody"])
def test_a_child_that_has_ended_stays_ours(waited_for: int) -> None:
    running = reading(0, 1000, process(BENCHMARK, 1, (0, 0, 0, 0)), process(101, BENCHMARK, (500, 0, 0, 0)))
    ended = reading(5, 1100, process(BENCHMARK, 1, (0, 0, waited_for, 0)))
    assert ended.others_since(running) == 0
    assert ended.ours_since(running) == pytest.approx(1)


def test_this_machine_can_be_read() -> None:
    before = Reading.now()
    sum(number * number for number in range(1_000_000))
    read = Reading.now()
    assert read.ours_since(before) <= read.everyone - before.everyone
    assert read.others_since(before) >= 0
    assert os.getpid() not in read.others
    assert read.processors > 0


def at(seconds: float, by_others: float) -> Reading:
    """Read a machine of one processor on which one process is not ours."""
    return Reading(seconds, 0, 0, {7: by_others}, 1)


def watch(before: float, *others: float) -> Watch:
    """Return a watch over parts of a second in which others used these shares of one processor."""
    readings, seconds = [at(0, 0)], 0.0
    for ended, share in enumerate(others, 1):
        seconds += share
        readings.append(at(ended, seconds))
    return Watch(before, 0.5, readings)


def test_a_machine_is_busy_if_others_were_before_or_in_any_part() -> None:
    assert not watch(0.01, 0.05, 0.02).is_busy
    assert watch(0.5, 0.05).is_busy
    assert watch(0.01, 0.05, 0.5, 0.0).is_busy
    assert str(watch(0.01, 0.05, 0.02)) == "load 0.5, others at most 5%"


def test_a_part_too_short_to_be_judged_counts_as_part_of_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = watch(0.01)
    now = iter([at(0.01, 0.01), at(10, 0.5)])
    monkeypatch.setattr(Reading, "now", lambda: next(now))
    watched.part_ended()
    assert watched.parts == []
    watched.part_ended()
    assert watched.parts == [0.05]


def test_what_is_prepared_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = watch(0.01)
    now = iter([at(60, 50.0), at(70, 50.5)])
    monkeypatch.setattr(Reading, "now", lambda: next(now))
    watched.prepared()
    watched.part_ended()
    assert watched.parts == [0.05]


# ---- what becomes of a section


class Written:
    """Sections written instead of published, and what others used of the processors while one was measured."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, before: float, during: float = 0.0) -> None:
        watched = watch(before)
        self.sections: list[str] = []
        self.derived: list[str] = []
        self.asked: dict[str, object] = {}

        def run(share: float = 1.0) -> Iterator[Table | None]:
            self.asked["share"] = share
            yield None
            yield Table("A table", ["", "ms"], rows=[["row", "1.00"]])

        monkeypatch.setattr("benchmarks.memory.run", run)
        monkeypatch.setattr(watched, "prepared", lambda: None)
        monkeypatch.setattr(watched, "part_ended", lambda: watched.readings.append(at(1, during)))
        monkeypatch.setattr(Watch, "begun", lambda: watched)
        monkeypatch.setattr(command, "_write", lambda name, section: self.sections.append(section))
        monkeypatch.setattr(command, "DERIVED", {"pictures": lambda docs: self.derived.append("pictures")})

    def main(self, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
        monkeypatch.setattr("sys.argv", ["benchmarks", "memory", *arguments])
        try:
            command.main()
        except SystemExit as ended:
            return int(str(ended.code))
        return 0


def test_a_section_measured_on_a_quiet_machine_is_written_with_its_load(monkeypatch: pytest.MonkeyPatch) -> None:
    written = Written(monkeypatch, 0.01, 0.02)
    assert written.main(monkeypatch) == 0
    [section] = written.sections
    assert "load 0.5, others at most 2%" in section
    assert "| row | 1.00 |" in section
    assert written.derived == ["pictures"]


def test_a_busy_machine_is_refused_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written = Written(monkeypatch, 0.5)
    assert written.main(monkeypatch) == 1
    assert (written.sections, written.derived, written.asked) == ([], [], {})
    assert "too busy to publish memory" in capsys.readouterr().err


def test_a_machine_that_becomes_busy_keeps_the_section_from_being_written(monkeypatch: pytest.MonkeyPatch) -> None:
    written = Written(monkeypatch, 0.01, 0.9)
    assert written.main(monkeypatch) == 1
    assert (written.sections, written.derived, written.asked) == ([], [], {"share": 1.0})


def test_kernels_that_do_not_fit_are_not_measured_as_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    written = Written(monkeypatch, 0.01)
    monkeypatch.setattr(command, "native", lambda: warnings.warn("Build it again.", RuntimeWarning, stacklevel=1))
    monkeypatch.setattr("sys.argv", ["benchmarks", "memory"])
    with pytest.raises(SystemExit, match="Build it again"):
        command.main()
    assert (written.sections, written.asked) == ([], {})


def test_sizes_are_not_given_to_a_section_without_any(monkeypatch: pytest.MonkeyPatch) -> None:
    written = Written(monkeypatch, 0.01)
    assert written.main(monkeypatch, "--sizes", "10", "20") == 0
    assert written.asked == {"share": 1.0}


def test_sizes_are_given_to_a_section_that_has_some(monkeypatch: pytest.MonkeyPatch) -> None:
    written = Written(monkeypatch, 0.01)

    def run(share: float = 1.0, sizes: Sequence[int] = ()) -> Iterator[Table]:
        written.asked["sizes"] = sizes
        yield Table("A table", ["", "ms"], rows=[["row", "1.00"]])

    monkeypatch.setattr("benchmarks.memory.run", run)
    assert written.main(monkeypatch, "--sizes", "10", "20") == 0
    assert written.asked["sizes"] == [10, 20]


@pytest.mark.parametrize("arguments", [["--print"], ["--share", "0.5"]])
def test_a_busy_machine_prints_what_is_not_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    written = Written(monkeypatch, 0.5)
    assert written.main(monkeypatch, *arguments) == 0
    assert (written.sections, written.derived) == ([], [])
    assert written.asked == {"share": 0.5 if "0.5" in arguments else 1.0}
    printed = capsys.readouterr().out
    assert "| row | 1.00 |" in printed
    assert "others at most 50%" in printed
