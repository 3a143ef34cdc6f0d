"""Output of commands: tables and progress on a terminal, lines or JSON elsewhere; the log, progress, and exit codes."""

from __future__ import annotations

import errno
import shlex
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import click

from es_simhash._core.humanize import json_text, printable
from es_simhash._core.rows import Result, cell, json_record
from es_simhash.live.telemetry import Run, counts_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bars

    from es_simhash.live.doctor.facts import Finding, IndexPart
    from es_simhash.live.learning import Learnt
    from es_simhash.live.sweep.writing import Progress
    from es_simhash.scheme.learnt_rarity import LearntRarity


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
    _bars: list[Bars] = field(default_factory=list, repr=False, compare=False)

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

    def note(self, text: str, event: Event = "note", **fields: Any) -> None:
        """Print a remark about the results, unless --quiet; a log for programs also gets the fields."""
        if not self.quiet:
            write("info", event, text, **fields)

    def resumed(self, state: object) -> None:
        """Say that a run goes on with what an interrupted one has kept."""
        self.note(f"Resumed: {state} has comparisons of an interrupted run, which are not repeated.")

    def detail(self, text: str, **fields: Any) -> None:
        """Print a remark that only experts need, with --verbose; a log for programs always gets it."""
        if self.is_verbose or is_json():
            self.note(text, **fields)

    def next_step(self, *command: str, prefix: str | None = None) -> None:
        """Print the command that a user probably needs next, with the prefix of the fields; programs need no advice."""
        if not (self.as_json or is_json()):
            from es_simhash.scheme.mapping import DEFAULT_PREFIX

            own = ("--prefix", prefix) if prefix and prefix != DEFAULT_PREFIX else ()
            self.note(f"Next: es-simhash {shlex.join((*command, *own))}")

    def stage(self, name: str, seconds: float) -> None:
        """Log that a stage is over, for programs; stages of single pages are too many."""
        if name != "prepare":
            self.note("", event="stage", stage=name, seconds=round(seconds, 3))

    def warn(self, text: str, event: Event = "warning", **fields: Any) -> None:
        """Print that results may be wrong, even with --quiet; a log for programs also gets the fields."""
        if text:
            write("warning", event, text, **fields)

    @contextmanager
    def progress(self, doing: str, total: int | None = None, unit: str = "documents") -> Iterator[Advance]:
        """Show a bar on a terminal, occasional lines elsewhere; ``total`` counts positions, or else items."""
        if self.quiet:
            yield lambda done, failed=0, position=None, /, more="": None
        elif sys.stderr.isatty() and not is_json():
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
            write("info", "progress", text, done=done, failed=failed, seconds=round(now - started, 3))

    return advance


def _state(done: int, failed: int, seconds: float, unit: str) -> str:
    failures = f", {failed:,} failed" if failed else ""
    return f"{done:,} {unit}, {done / seconds if seconds else 0:,.0f}/s{failures}"


def printed(value: Any) -> str:
    """Write a cell, or a text: documents must not control the terminal."""
    return "".join(character if character.isprintable() else " " for character in cell(value))


FINE = 0
SOME_FAILED = 1
USAGE = 2
LATER = 3
REFUSED = 4
INTERRUPTED = 130

MEANINGS = {
    FINE: "fine",
    SOME_FAILED: "some items failed",
    USAGE: "wrong usage or input",
    LATER: "a temporary problem: run it again later",
    REFUSED: "refused: a person must act",
    INTERRUPTED: "interrupted",
}


class Interrupted(KeyboardInterrupt):
    """An interruption of a command that can report what was done until then."""


@contextmanager
def saying_if_interrupted(done: Callable[[], str]) -> Iterator[None]:
    """Report an interruption within the block by what ``done`` returns; the innermost block counts."""
    try:
        yield
    except Interrupted:
        raise
    except KeyboardInterrupt:
        raise Interrupted(done()) from None


def code_of(error: BaseException, *, debug: bool, as_json: bool = False) -> int:
    """Print an exception on standard error, and return its exit code."""
    code, message = described(error)
    if not message:
        return code
    trace = {"traceback": "".join(traceback.format_exception(error))} if debug and code != INTERRUPTED else {}
    if is_json():
        event: Event = "interrupted" if code == INTERRUPTED else "error"
        known = {} if code == INTERRUPTED else {"error_type": type(error).__name__}
        write("error", event, message, **known, **trace)
    elif as_json:
        print_stderr(json_text({"error": message, "code": code, **trace}))
    else:
        for each in trace.values():
            print_stderr(printable(each.rstrip()))
        if isinstance(error, click.ClickException):
            error.show()
        else:
            write("error", "error", message if code == INTERRUPTED else f"Error: {message}")
    return code


def described(error: BaseException) -> tuple[int, str]:
    """Return the exit code of an exception, and what is said of it."""
    # Errors are imported only if there is one.
    from es_simhash.errors import EngineError, EsSimhashError

    match error:
        case click.exceptions.Exit():
            known = error.exit_code, ""
        case click.exceptions.Abort() | KeyboardInterrupt():
            known = INTERRUPTED, f"Interrupted. {_done_before(error)}"
        case click.ClickException():
            known = error.exit_code, error.format_message()
        case EsSimhashError() if error.may_pass:
            known = LATER, str(error)
        case EsSimhashError():
            known = REFUSED if isinstance(error, EngineError) else USAGE, str(error)
        case BrokenPipeError() | SystemExit():  # the reader has seen enough, as `head` does; what click makes of it
            known = FINE, ""
        case OSError():
            known = USAGE, f"{error.filename or 'The system'}: {error.strerror}. {_remedy(error)}"
        case _:
            known = SOME_FAILED, f"{type(error).__name__}: {error}. This is a bug. Run it with --debug, and report it."
    return known


def after(failed: int, may_pass: int) -> int:
    """Return the exit code of a run by the number of items that failed, and of those that may not the next time."""
    if not failed:
        return FINE
    return LATER if may_pass == failed else SOME_FAILED


def _done_before(interruption: BaseException) -> object:
    """Return what a command reports to have done before it was interrupted."""
    # Click makes an Abort of the interruption, which only newer versions name as its cause.
    causes = (interruption, interruption.__cause__, interruption.__context__)
    return next((each for each in causes if isinstance(each, Interrupted)), "Nothing was changed.")


def _remedy(error: OSError) -> str:
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            return "Make room, or name a file on another disk."
        case errno.EMFILE | errno.ENFILE:
            return "Allow more open files: ulimit -n"
        case errno.EBADF:
            return "Open it, or name a file."
    return "Check the path and its permissions."


Format: TypeAlias = Literal["text", "json"]
Level: TypeAlias = Literal["info", "warning", "error"]
Event: TypeAlias = Literal[
    "started",
    "engine",
    "stage",
    "progress",
    "note",
    "finding",
    "rejected",
    "warning",
    "library",
    "error",
    "interrupted",
    "finished",
]

FORMATS: tuple[Format, ...] = ("text", "json")


@dataclass
class _Log:
    format: Format = "text"
    run_id: str = ""


# There is one standard error.
_log = _Log()


@contextmanager
def log_written_as(format: Format, run_id: str = "") -> Iterator[None]:
    """Write in this format within the block, for the run with this id; as JSON also what libraries warn of."""
    before = _log.format, _log.run_id
    takes_over = format == "json" and not is_json()
    _log.format, _log.run_id = format, run_id
    try:
        with _library_warnings() if takes_over else nullcontext():
            yield
    finally:
        _log.format, _log.run_id = before


def is_json() -> bool:
    """Return whether programs read what is written."""
    return _log.format == "json"


def format_in(arguments: Sequence[str]) -> Format:
    """Find the format in a command line, which may have mistakes that the log is to name."""
    return "json" if ("--log-format", "json") in pairwise(arguments) or "--log-format=json" in arguments else "text"


def write(level: Level, event: Event, message: str = "", **fields: Any) -> None:
    """Write a message, or an event with its fields that only programs read."""
    if not is_json():
        if message:
            print_stderr(printable(message))
        return
    from datetime import datetime, timezone

    moment = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    said = {"run_id": _log.run_id, "message": message}
    known = {"timestamp": moment, "level": level, "event": event, **{name: text for name, text in said.items() if text}}
    print_stderr(json_text({**known, **fields}, default=str))


def print_stderr(line: str) -> None:
    """Print a line on standard error; ignore that its reader has gone away."""
    with suppress(BrokenPipeError):
        sys.stderr.write(f"{line}\n")  # at once, since other threads may write, too
        sys.stderr.flush()


@contextmanager
def _library_warnings() -> Iterator[None]:
    """Write what libraries log and warn of, which otherwise goes to standard error as text."""
    import logging

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            level: Level = "error" if record.levelno >= logging.ERROR else "warning"
            more = {"traceback": logging.Formatter().formatException(record.exc_info)} if record.exc_info else {}
            write(level, "library", record.getMessage(), logger=record.name, **more)

    root, handler = logging.getLogger(), Handler(logging.WARNING)
    root.addHandler(handler)
    logging.captureWarnings(True)
    try:
        yield
    finally:
        logging.captureWarnings(False)
        root.removeHandler(handler)


_SECONDS_BETWEEN_EVENTS = 1.0


def show_findings(output: Output, findings: Iterable[Finding]) -> None:
    """Print the doctor's findings, except "ok", and with --quiet only stops."""
    for finding in findings:
        text = f"{finding.level.capitalize()} ({finding.code}): {finding.message} {finding.remedy}"
        if finding.level == "stop":
            output.warn(text, event="finding", code=finding.code)
        elif finding.level != "ok":
            output.note(text, event="finding", code=finding.code)


def show_parts(output: Output, parts: Sequence[IndexPart]) -> None:
    """Print the number of documents to process in each index."""
    table = [[part.index, f"{part.due:,}", f"{part.documents:,}"] for part in parts]
    output.table(["index", "to do", "documents"], table)


def warn_of_left_out(output: Output, progress: Progress) -> None:
    """Warn of indices that were left out."""
    if progress.left_out:
        output.warn(f"Indices left out: {', '.join(progress.left_out)}. See the reasons above.")


@contextmanager
def showing_progress(
    output: Output,
    doing: str,
    progress: Progress,
    done: Callable[[int], str],
    more: Callable[[Progress], str] = lambda _: "",
) -> Iterator[Callable[[Progress], None]]:
    """Yield a function that shows the progress of a run; ``more`` returns additional text.

    ``done`` says how many documents were written until an interruption.
    """
    said = float("-inf")
    with (
        output.progress(doing, progress.total) as advance,
        saying_if_interrupted(lambda: f"{done(progress.written)}. Run the command again for the rest."),
    ):

        def show(progress: Progress) -> None:
            nonlocal said
            output.run.count(counts_of(progress), max(0, progress.total - progress.done))
            advance(progress.done, progress.rejected, min(progress.done, progress.total), more=more(progress))
            if not output.quiet and monotonic() - said >= _SECONDS_BETWEEN_EVENTS:
                said = monotonic()
                output.result({"event": "progress"}, progress)

        yield show


def sample(learnt: LearntRarity) -> str:
    """Return from how many documents it was learnt, in words."""
    whole = "" if learnt.among is None else f" of {learnt.among:,}"
    return f"{learnt.sample:,}{whole} documents"


def show_learnt(output: Output, learnt: Learnt, path: str | None = None) -> None:
    """Say what was learnt, or why it could not be; a file at the ``path`` keeps it, or else the index."""
    if isinstance(learnt, Exception):
        output.note(f"The common phrases of these texts could not be stored, so built-in ones are used: {learnt}")
    elif learnt is not None:
        output.note(f"Learnt from {sample(learnt)} which phrases are common: they count less in comparisons.")
        output.detail(f"The rarity table {learnt.table} is in {path or 'the mapping'}.")
