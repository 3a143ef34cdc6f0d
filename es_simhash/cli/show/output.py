"""Output of commands: tables and progress bars on a terminal, plain lines elsewhere, JSON on request."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from es_simhash._core.harmless import printable
from es_simhash._core.rows import Result, cell, json_record
from es_simhash.cli.show import log
from es_simhash.live.telemetry.run import Run

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

# How often a run without a terminal reports its progress.
_SECONDS_BETWEEN_LINES = 10.0


class Advance(Protocol):
    """A function that reports the progress of a command."""

    def __call__(self, done: int, failed: int = 0, position: int | None = None, /, more: str = "") -> None:
        """Report the number of items done and failed; ``position`` counts towards a total that is not items.

        ``more`` is additional text.
        """


@dataclass(frozen=True)
class Output:
    """The output of a command: results on standard output, for pipes; notes and progress on standard error.

    With ``is_verbose`` it also shows what only experts read. Its ``run`` has what operators see of it.
    """

    as_json: bool = False
    quiet: bool = False
    is_verbose: bool = False
    run: Run = field(default_factory=Run, compare=False)
    _bars: list[Progress] = field(default_factory=list, repr=False, compare=False)

    def result(self, *values: Any) -> None:
        """Print a result as a line of JSON, with --json only; several values are joined to one object."""
        if self.as_json:
            print(json_record(*values), end="", flush=True)

    def show(self, result: Result) -> None:
        """Print a result: as JSON, or else its table or heading; and its notes. Details need --verbose."""
        self.result(result)
        shown = result.shown()
        shown = shown if self.is_verbose else shown.for_everyone()
        rows = list(shown.rows)
        if rows:
            self.table(shown.columns, rows)
            self.note(f"{shown.heading}.")
        else:
            self.line(f"{shown.heading}.")
        for note in (*shown.notes, *shown.details):
            self.note(note)

    def line(self, text: str = "") -> None:
        """Print a line of a result for people."""
        if not self.as_json:
            print(printable(text), flush=True)

    def row(self, *cells: Any) -> None:
        """Print a row with tabs between cells, for people and programs: ids are not escaped."""
        self.line("\t".join(map(printed, cells)))

    def report(self, text: str) -> None:
        """Print what was done, unless --quiet: then the exit code says enough."""
        if not self.quiet:
            self.line(text)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str | None = None) -> None:
        """Print a table on a terminal, else its rows with tabs between cells."""
        if self.as_json:
            return
        if not sys.stdout.isatty():
            for row in (columns, *rows):
                self.row(*row)
            return
        from rich.table import Table

        made = Table(title=title, title_justify="left", header_style="bold")
        for column in columns:
            made.add_column(column, overflow="fold")
        for row in rows:
            made.add_row(*(printed(value) for value in row))
        self._console(sys.stdout).print(made, markup=False)

    def rejected(self, count: int, path: str) -> None:
        """Note how many documents were rejected, if any."""
        if count:
            self.note(f"{count:,} rejected; {path} has the reasons.", event="rejected", rejected=count, path=path)

    def note(self, text: str, event: log.Event = "note", **fields: Any) -> None:
        """Print a remark about the results, unless --quiet; a log for programs also gets the fields."""
        if not self.quiet:
            log.write("info", event, text, **fields)

    def resumed(self, state: object) -> None:
        """Say that a run goes on with what an interrupted one has kept."""
        self.note(f"Resumed: {state} has comparisons of an interrupted run, which are not repeated.")

    def detail(self, text: str, **fields: Any) -> None:
        """Print a remark that only experts need, with --verbose; a log for programs always gets it."""
        if self.is_verbose or log.is_json():
            self.note(text, **fields)

    def next_step(self, *command: str) -> None:
        """Print the command that a user probably needs next; programs need no advice."""
        if not (self.as_json or log.is_json()):
            self.note(f"Next: es-simhash {shlex.join(command)}")

    def stage(self, name: str, seconds: float) -> None:
        """Log that a stage is over, for programs; stages of single pages are too many."""
        if name != "prepare":
            self.note("", event="stage", stage=name, seconds=round(seconds, 3))

    def warn(self, text: str, event: log.Event = "warning", **fields: Any) -> None:
        """Print that results may be wrong, even with --quiet; a log for programs also gets the fields."""
        if text:
            log.write("warning", event, text, **fields)

    @contextmanager
    def progress(self, doing: str, total: int | None = None, unit: str = "documents") -> Iterator[Advance]:
        """Show a bar on a terminal, occasional lines elsewhere; ``total`` counts positions, or else items."""
        if self.quiet:
            yield lambda done, failed=0, position=None, /, more="": None
        elif sys.stderr.isatty() and not log.is_json():
            with self._bar(doing, total, unit) as advance:
                yield advance
        else:
            yield _lines(doing, total, unit)

    @contextmanager
    def _bar(self, doing: str, total: int | None, unit: str) -> Iterator[Advance]:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        columns = [
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[state]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        ]
        started = monotonic()
        with ExitStack() as stack:
            if not self._bars:  # a terminal has one display at once, which shows several bars
                self._bars.append(stack.enter_context(Progress(*columns, console=self._console(sys.stderr))))
                stack.callback(self._bars.clear)
            bar = self._bars[0]
            task = bar.add_task(doing, total=total, state="")

            def advance(done: int, failed: int = 0, position: int | None = None, /, more: str = "") -> None:
                state = _state(done, failed, monotonic() - started, unit) + more
                bar.update(task, completed=done if position is None else position, state=state)

            yield advance

    def _console(self, stream: Any) -> Console:
        from rich.console import Console

        return Console(file=stream)


def _lines(doing: str, total: int | None, unit: str) -> Advance:
    started = last = monotonic()

    def advance(done: int, failed: int = 0, position: int | None = None, /, more: str = "") -> None:
        nonlocal last
        now = monotonic()
        if now - last >= _SECONDS_BETWEEN_LINES:
            last = now
            share = f" {100 * (done if position is None else position) // total}%" if total else ""
            text = f"{doing}:{share} {_state(done, failed, now - started, unit)}{more}"
            log.write("info", "progress", text, done=done, failed=failed, seconds=round(now - started, 3))

    return advance


def _state(done: int, failed: int, seconds: float, unit: str) -> str:
    failures = f", {failed:,} failed" if failed else ""
    return f"{done:,} {unit}, {done / seconds if seconds else 0:,.0f}/s{failures}"


def printed(value: Any) -> str:
    """Write a cell, or a text: documents must not control the terminal."""
    return "".join(character if character.isprintable() else " " for character in cell(value))
