"""A file of decisions: a line of JSON each, to which several programs may append at once."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from es_simhash._core.json_codec import parse_json
from es_simhash._core.rows import json_record
from es_simhash.documents.decisions import Decision, Key
from es_simhash.errors import InputError


def decisions_of(path: str) -> str:
    """Return the path of the decisions on the documents of a file, next to it.

    >>> decisions_of("news.csv")
    'news.csv.decisions.jsonl'
    """
    return f"{path}.decisions.jsonl"


class DecisionFile:
    """The decisions in a file, which need not be there yet; of a file that was read, only new lines are read.

    >>> decisions = DecisionFile("decisions.jsonl")
    >>> decisions.add([Decision.between("7", "9", same=False)])
    >>> [each.verdict for each in decisions.read()]
    ['different']
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._begin()

    def read(self) -> list[Decision]:
        """Return all decisions, the earliest first; an `InputError` names a line that is not one."""
        self._read_on()
        return list(self._decisions)

    def on(self, documents: Iterable[Key]) -> list[Decision]:
        """Return the decisions on some documents and on pairs with one of them, the earliest first.

        >>> DecisionFile("said.jsonl").on([("", "9")])
        []
        """
        self._read_on()
        places = {place for document in documents for place in self._places.get(document, ())}
        return [self._decisions[place] for place in sorted(places)]

    def add(self, decisions: Iterable[Decision]) -> None:
        """Append decisions, so that they stay if the program is killed."""
        lines = "".join(map(json_record, decisions)).encode()
        with self._named("written"):
            file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                # A last line that people wrote may have no end.
                if os.lseek(file, 0, os.SEEK_END) and os.lseek(file, -1, os.SEEK_END) and os.read(file, 1) != b"\n":
                    lines = b"\n" + lines
                # One write to the end of the file: lines of programs that append at once stay whole.
                if os.write(file, lines) < len(lines):
                    raise OSError(0, "the disk is full")
                os.fsync(file)
            finally:
                os.close(file)

    def _begin(self) -> None:
        self._decisions: list[Decision] = []
        self._places: dict[Key, list[int]] = defaultdict(list)
        self._lines, self._end, self._last = 0, 0, b""

    def _read_on(self) -> None:
        with self._named("read"), suppress(FileNotFoundError), open(self.path, "rb") as file:
            if self._end and not self._goes_on(file):
                self._begin()
                file.seek(0)
            for line in file:
                self._take_in(line)
            return
        self._begin()

    def _goes_on(self, file: BinaryIO) -> bool:
        """Go to where reading ended, and return whether a line ends there still: people may write another file."""
        file.seek(self._end - len(self._last))
        return file.read(len(self._last)) == self._last and self._last.endswith(b"\n")

    def _take_in(self, line: bytes) -> None:
        if line.strip():
            decision = self._decision(self._lines + 1, line)
            for document in decision.documents:
                self._places[document].append(len(self._decisions))
            self._decisions.append(decision)
        self._lines, self._end, self._last = self._lines + 1, self._end + len(line), line

    @contextmanager
    def _named(self, done: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise InputError(
                f"The file of decisions {self.path!r} could not be {done}: {error.strerror}. "
                "Mend that, or name another with --decisions."
            ) from error

    def _decision(self, number: int, line: bytes) -> Decision:
        try:
            record = parse_json(line)
            if not isinstance(record, dict):
                raise InputError("It is not an object.")
            return Decision.of_json(record)
        except ValueError as error:
            raise InputError(f"Line {number} of {self.path!r} is not a decision: {error}") from error
