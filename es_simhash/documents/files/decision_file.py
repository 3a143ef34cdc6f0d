"""A file of decisions: a line of JSON each, to which several programs may append at once."""

from __future__ import annotations

import os
from collections.abc import Iterable

from es_simhash._core.json_codec import parse_json
from es_simhash._core.rows import json_record
from es_simhash.documents.decisions import Decision
from es_simhash.errors import InputError


class DecisionFile:
    """The decisions in a file, which need not be there yet.

    >>> decisions = DecisionFile("decisions.jsonl")
    >>> decisions.add([Decision.between("7", "9", same=False)])
    >>> [each.verdict for each in decisions.read()]
    ['different']
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)

    def read(self) -> list[Decision]:
        """Return all decisions, the earliest first; an `InputError` names a line that is not one."""
        found = []
        try:
            with open(self.path, "rb") as lines:
                for number, line in enumerate(lines, 1):
                    if line.strip():
                        found.append(self._decision(number, line))
        except FileNotFoundError:
            return []
        return found

    def add(self, decisions: Iterable[Decision]) -> None:
        """Append decisions, so that they stay if the program is killed."""
        lines = "".join(map(json_record, decisions)).encode()
        # One write to the end of the file: lines of programs that append at once stay whole.
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(file, lines)
            os.fsync(file)
        finally:
            os.close(file)

    def _decision(self, number: int, line: bytes) -> Decision:
        try:
            record = parse_json(line)
            if not isinstance(record, dict):
                raise InputError("It is not an object.")
            return Decision.of_json(record)
        except ValueError as error:
            raise InputError(f"Line {number} of {self.path!r} is not a decision: {error}") from error
