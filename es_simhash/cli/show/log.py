"""What the program says on standard error: lines of text for people, or with ``--log-format json`` objects of JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias

from es_simhash._core.harmless import json_text, printable

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
def written(format: Format, run_id: str = "") -> Iterator[None]:
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
