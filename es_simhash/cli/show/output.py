"""What commands print: tables and progress on a terminal, plain lines elsewhere, JSON when asked for."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from es_simhash.cli.show.exits import tell

if TYPE_CHECKING:
    from rich.console import Console

# How often a run without a terminal says how far it is.
_SECONDS_BETWEEN_LINES = 10.0


class Advance(Protocol):
    """How a command says how far it is."""

    def __call__(self, done: int, failed: int = 0, position: int | None = None, /, more: str = "") -> None:
        """So many items are done and failed by now; ``position`` counts towards the total, if that is not items.

        ``more`` is what else is to be seen.
        """


@dataclass(frozen=True)
class Output:
    """Where a command's results go. Notes and progress go to standard error, so that results can be piped on."""

    as_json: bool = False
    quiet: bool = False

    def result(self, form: dict[str, Any]) -> None:
        """One result as JSON; nothing unless JSON was asked for."""
        if self.as_json:
            print(json.dumps(form, ensure_ascii=False, default=str), flush=True)

    def line(self, text: str = "") -> None:
        """A line of a result for people."""
        if not self.as_json:
            print(text, flush=True)

    def row(self, *cells: Any) -> None:
        """A row of a result, with tabs between cells, for people and programs: ids stand there as they are."""
        self.line("\t".join(map(_cell, cells)))

    def report(self, text: str) -> None:
        """A line about what was done, which the exit code tells those who want it quiet."""
        if not self.quiet:
            self.line(text)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str | None = None) -> None:
        """A table on a terminal, else its rows with tabs between cells."""
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
            made.add_row(*(_cell(value) for value in row))
        self._console(sys.stdout).print(made, markup=False)

    def note(self, text: str) -> None:
        """Something to know beside the results."""
        if not self.quiet:
            tell(text)

    def warn(self, text: str) -> None:
        """Something that may make the results wrong, which is told even to those who want it quiet."""
        if text:
            tell(text)

    @contextmanager
    def progress(self, doing: str, total: int | None = None, unit: str = "documents") -> Iterator[Advance]:
        """A bar on a terminal, a line now and then elsewhere; ``total`` counts what `Advance` calls positions."""
        if self.quiet:
            yield lambda done, failed=0, position=None, /, more="": None
        elif sys.stderr.isatty():
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
        with Progress(*columns, console=self._console(sys.stderr)) as bar:
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
            tell(f"{doing}:{share} {_state(done, failed, now - started, unit)}{more}")

    return advance


def _state(done: int, failed: int, seconds: float, unit: str) -> str:
    failures = f", {failed:,} failed" if failed else ""
    return f"{done:,} {unit}, {done / seconds if seconds else 0:,.0f}/s{failures}"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = f"{value:.3f}" if isinstance(value, float) else str(value)
    # What a document holds must not write to the terminal what it likes.
    return "".join(character if character.isprintable() else " " for character in text)
