"""A gate on standard input and output: a document a line, an answer a line, in order."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import IO

from es_simhash.errors import InputError
from es_simhash.gate import requests
from es_simhash.gate.gate import Gate
from es_simhash.gate.requests import Lines, RefusedError, asked_of, lines_of, parsed

_AT_ONCE = 1 << 18


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


def answer_lines(gate: Gate, writes: bool, id_field: str) -> None:
    """Answer lines as they come, all that wait together."""
    stopping = _Stopping()
    with stopping.asked_by_signals():
        for lines in _lines(sys.stdin.buffer, stopping):
            asked = [asked_of(parsed(line), writes, id_field) for line in lines]
            answers = gate.answer(asked)
            sys.stdout.buffer.write(lines_of(asked, answers, gate.name))
            sys.stdout.buffer.flush()


def _lines(stream: IO[bytes], stopping: _Stopping) -> Iterator[list[bytes]]:
    lines = Lines(requests.BODY)
    try:
        while part := stopping.read(stream):
            yield from lines.of(part)
    except RefusedError as error:
        raise InputError(error.reason) from None
    if not stopping.is_asked and (last := lines.last()):
        yield last
