"""A gate on standard input and output: a document a line, an answer a line, in order."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from heapq import nlargest
from types import FrameType
from typing import IO, Any

from es_simhash._core.humanize import counted
from es_simhash._core.json_codec import values_at
from es_simhash.documents.guess import source_and_date
from es_simhash.errors import InputError
from es_simhash.gate import limits
from es_simhash.gate.bodies import Lines, RefusedError
from es_simhash.gate.gate import Gate
from es_simhash.gate.requests import Answer, Asked, asked_of, lines_of, parsed
from es_simhash.gate.verdict import Verdict
from es_simhash.groups.losses import LEAST, Loss, named, percent

_AT_ONCE = 1 << 18
_MOST_SOURCES, _MOST_CHARACTERS, _SHOWN = 1_000, 100, 3


class _StoppedError(Exception):
    """Raised while the process waits for lines, and was asked to stop."""


class _Stopping:
    """Whether the process was asked to stop: it does so between two batches."""

    def __init__(self) -> None:
        self.is_asked = False
        self._reads = False

    def read(self, stream: IO[bytes]) -> bytes:
        """Read what has come; nothing at the end, or once asked to stop."""
        if self.is_asked:
            return b""
        self._reads = True
        try:
            return stream.read1(_AT_ONCE)  # type: ignore[attr-defined]
        except _StoppedError:
            return b""
        finally:
            self._reads = False

    @contextmanager
    def asked_by_signals(self) -> Iterator[None]:
        """Within the block, SIGTERM asks to stop."""
        before = signal.signal(signal.SIGTERM, self._asked)
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, before)

    def _asked(self, number: int, frame: FrameType | None) -> None:
        self.is_asked = True
        if self._reads:
            raise _StoppedError


def answer_lines(gate: Gate, writes: bool, id_field: str) -> Answered:
    """Answer lines as they come, all that wait together; return how many there were."""
    answered, stopping = Answered(), _Stopping()
    with stopping.asked_by_signals():
        for lines in _lines(sys.stdin.buffer, stopping):
            asked = [asked_of(parsed(line), writes, id_field) for line in lines]
            answers = gate.answer(asked)
            sys.stdout.buffer.write(lines_of(asked, answers, gate.name))
            sys.stdout.buffer.flush()
            answered.add(asked, answers)
    return answered


@dataclass
class Answered:
    """How many documents were answered, and how many were duplicates: of all, and of each of a thousand sources."""

    documents: int = 0
    duplicates: int = 0
    _path: str | None = None
    _sources: dict[str, list[int]] = field(default_factory=dict)

    def add(self, asked: Sequence[Asked], answers: Sequence[Answer]) -> None:
        """Count documents; the first ones show which field has their sources."""
        bodies = [_body(each.document) for each in asked]
        if not self.documents:
            self._path, _ = source_and_date(bodies)
        for body, answer in zip(bodies, answers, strict=True):
            is_duplicate = isinstance(answer, Verdict) and answer.kind in ("equal", "near-duplicate")
            self.documents += 1
            self.duplicates += is_duplicate
            name = str(next(values_at(body, self._path), None))[:_MOST_CHARACTERS] if self._path else ""
            if name in self._sources or len(self._sources) < _MOST_SOURCES:
                counts = self._sources.setdefault(name, [0, 0])
                counts[0] += 1
                counts[1] += is_duplicate

    @property
    def sentence(self) -> str:
        """How many there were."""
        said = f"{counted(self.documents, 'document was', 'documents were')} answered."
        if not self.duplicates:
            return said
        loss = Loss("", self.documents, self.duplicates)
        return f"{said} {percent(loss.share)} of them ({self.duplicates:,}) were duplicates."

    @property
    def worst(self) -> list[str]:
        """Sentences on the sources that sent mostly duplicates."""
        losses = [Loss(name, *counts) for name, counts in self._sources.items() if self._path]
        large = [loss for loss in losses if loss.documents >= LEAST and 2 * loss.duplicates > loss.documents]
        return [
            f"{percent(loss.share)} of {named(None, self._path, loss.value)} were duplicates "
            f"({loss.duplicates:,} of {loss.documents:,}). Look at some of them."
            for loss in nlargest(_SHOWN, large, key=lambda loss: loss.duplicates)
        ]


def _body(document: Any) -> Mapping[str, Any]:
    body = document.get("_source", document) if isinstance(document, Mapping) else None
    return body if isinstance(body, Mapping) else {}


def _lines(stream: IO[bytes], stopping: _Stopping) -> Iterator[list[bytes]]:
    lines = Lines(limits.BODY)
    try:
        while part := stopping.read(stream):
            yield from lines.of(part)
    except RefusedError as error:
        raise InputError(error.reason) from None
    if not stopping.is_asked and (last := lines.last()):
        yield last
