"""A gate in its own process, with clients that take what they get: its memory is bounded, and others are answered."""

from __future__ import annotations

import http.client
import json
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from es_simhash.gate import requests
from tests.support.commands import run
from tests.support.corpus import corpus
from tests.support.gate_process import GateProcess
from tests.support.greedy_clients import STREAM, Honest, announced, chunk, crowd, most_memory

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")

TEXT = corpus(1)[0]
MB = 1 << 20
# What the process may take beyond what it takes when it is idle: the bytes at work, and some for parsing one body and
# for what the allocator keeps.
SOME, ALL = 100 * MB, requests.AT_WORK + 90 * MB
# The gate's own program, whose clients may be slow for a moment only.
HURRIED = (
    "from es_simhash.gate import requests; "
    "requests.SILENCE = requests.STALLED = requests.PAUSE = requests.UNREAD = 2.0; "
    "from es_simhash.cli.process import main; main()"
)


class Served:
    """A gate, with an honest client and the memory that it took before others came."""

    def __init__(self, gate: GateProcess, honest: Honest) -> None:
        assert gate.pid
        self.address = gate.address
        self._pid = gate.pid
        self._quiet = most_memory(gate.pid)
        self._honest = honest

    def others_are_answered(self) -> None:
        """Wait until the honest client was answered some times more."""
        self._honest.await_more(5)

    @property
    def more_memory(self) -> int:
        """The bytes that it took beyond those."""
        return most_memory(self._pid) - self._quiet

    def ask(self, path: str, body: bytes) -> tuple[int, Any]:
        with closing(http.client.HTTPConnection(*self.address, timeout=120)) as connection:
            connection.request("POST", path, body)
            with connection.getresponse() as reply:
                return reply.status, json.loads(reply.read())


def served(tmp_path: Path, program: tuple[str, ...]) -> Iterator[Served]:
    run("init", "news", "--field", "title", "--field", "body", cwd=tmp_path)
    gate = GateProcess("news", cwd=tmp_path, program=program)
    gate.start()
    try:
        with Honest(gate.address, {"/health/live": None, "/check": {"id": "a", **TEXT}}) as honest:
            yield Served(gate, honest)
    finally:
        gate.kill()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Served]:
    yield from served(tmp_path, (sys.executable, "-m", "es_simhash"))


@pytest.fixture
def hurried(tmp_path: Path) -> Iterator[Served]:
    yield from served(tmp_path, (sys.executable, "-c", HURRIED))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"[" + b"1," * 3_700_000 + b"1]", "/bulk"),
        (b"[" + b'{"":0},' * 1_100_000 + b"{}]", "/bulk"),
        (b'{"title":[' + b"0.5," * 1_800_000 + b"1]}", "values"),
        (b'{"title":' * 800_000, "nested"),
        (b'{"title":' + b"9" * 7_000_000 + b"}", "digits"),
    ],
    ids=["items", "documents", "values", "depth", "digits"],
)
def test_a_body_of_millions_of_parts_is_refused_before_it_takes_memory(
    service: Served, body: bytes, reason: str
) -> None:
    status, answer = service.ask("/check", body)
    assert status in (400, 413)
    assert reason in answer["reason"]
    assert service.more_memory < SOME
    service.others_are_answered()


def test_clients_that_stop_within_a_long_line_are_cut_off(hurried: Served) -> None:
    with crowd(hurried.address, 60, STREAM + chunk(b"x" * (7 * MB))) as greedy:
        greedy.send()
        hurried.others_are_answered()
        greedy.await_closed()
        assert greedy.closed == 60
    assert hurried.more_memory < ALL


def test_clients_that_stop_within_a_body_are_cut_off_with_the_reason(hurried: Served) -> None:
    with crowd(hurried.address, 30, announced("/check", 8_000_000, b"x" * 300_000)) as slow:
        slow.send()
        hurried.others_are_answered()
        slow.await_closed()
        assert slow.answers == {b"HTTP/1.1 408 Request Timeout": 30}


def test_what_is_announced_takes_nobody_elses_room(service: Served) -> None:
    with crowd(service.address, 20, announced("/check", 8_000_000, b"{")) as slow:
        slow.send()
        large = json.dumps({"id": "b", "title": "word " * 1_400_000}).encode()
        assert service.ask("/check", large)[0] == 200
        service.others_are_answered()


def test_silent_connections_make_way_for_others(service: Served) -> None:
    with crowd(service.address, requests.CONNECTIONS + 100, b""):
        service.others_are_answered()
        assert service.more_memory < SOME


def test_streams_that_wait_make_way_for_others(service: Served) -> None:
    with crowd(service.address, requests.CONNECTIONS + 100, STREAM + chunk(b"5\n{")) as streams:
        streams.send()
        service.others_are_answered()
        assert service.more_memory < SOME


@pytest.mark.parametrize("sent", [b"", b"POST /check HTTP/1.1\r\nhost: ga"], ids=["silent", "slow head"])
def test_connections_without_a_request_are_closed(hurried: Served, sent: bytes) -> None:
    with crowd(hurried.address, 50, sent) as silent:
        silent.send()
        silent.await_closed()
        assert silent.closed == 50
        hurried.others_are_answered()


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (b"GET /health/live HTTP/1.1\r\n" + b"a: b\r\n" * 2_000_000, b"HTTP/1.1 431 Request Header Fields Too Large"),
        (b"GET /" + b"x" * 8_000_000, b"HTTP/1.1 431 Request Header Fields Too Large"),
        (b"GET /health/live HTTP/1.1\r\nhost: gate\r\n\r\n" * 100_000, None),
        (STREAM + chunk(b"5\n") + b"0\r\n" + b"a: b\r\n" * 2_000_000, None),
    ],
    ids=["headers", "path", "pipeline", "trailers"],
)
def test_what_no_body_comes_from_is_bounded(service: Served, sent: bytes, answer: bytes | None) -> None:
    with crowd(service.address, 20, sent) as greedy:
        greedy.await_closed()
        service.others_are_answered()
        # Who still sends does not always read what was answered.
        assert answer is None or set(greedy.answers) <= {answer, b""}
    assert service.more_memory < SOME


def test_clients_that_read_nothing_are_cut_off(hurried: Served) -> None:
    # Each is answered with its id, which is too long.
    line = json.dumps({"id": "x" * 30_000}).encode() + b"\n"
    with crowd(hurried.address, 10, STREAM + chunk(line * 10) * 100) as deaf:
        # They send until nothing goes any more, and are closed.
        deaf.send()
        hurried.others_are_answered()
        deaf.await_closed()
    assert hurried.more_memory < SOME


def test_many_large_texts_at_once_are_within_the_memory(service: Served) -> None:
    large = json.dumps({"title": "".join(f"{place * 7919} " for place in range(900_000))[: 7 * MB]}).encode()
    with crowd(service.address, 30, announced("/check", len(large), large)) as greedy:
        greedy.send()
        service.others_are_answered()
    assert service.more_memory < ALL + 300 * MB
