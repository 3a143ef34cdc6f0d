"""Clients that hold what others need: silent ones, slow ones, greedy ones; and an honest one among them."""

from __future__ import annotations

import http.client
import json
import selectors
import socket
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Condition, Event, Thread
from typing import Any

# Seconds after which something that should happen is taken for broken.
_TIMEOUT = 240.0
STREAM = b"POST /bulk HTTP/1.1\r\nhost: gate\r\ntransfer-encoding: chunked\r\n\r\n"


def chunk(content: bytes) -> bytes:
    """Return a part of a body whose length nobody has announced."""
    return b"%x\r\n%s\r\n" % (len(content), content)


def announced(path: str, length: int, content: bytes) -> bytes:
    """Return a request that announces a number of bytes, with some of them."""
    return b"POST %s HTTP/1.1\r\nhost: gate\r\ncontent-length: %d\r\n\r\n%s" % (path.encode(), length, content)


def most_memory(pid: int) -> int:
    """Return the most bytes of memory that a process has ever had at once."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    [found] = [int(line.split()[1]) for line in lines if line.startswith("VmHWM:")]
    return found << 10


class Crowd:
    """Connections that all send the same, as far as they are let, and read nothing until they wait to be closed."""

    def __init__(self, address: tuple[str, int], count: int, sent: bytes) -> None:
        self._selector = selectors.DefaultSelector()
        self._left: dict[socket.socket, memoryview] = {}
        self.closed = 0
        self.answers: Counter[bytes] = Counter()
        self._heard: dict[socket.socket, bytes] = {}
        for _ in range(count):
            made = socket.socket()
            made.settimeout(_TIMEOUT)
            # Unread data soon fills it.
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 14)
            made.connect(address)
            made.setblocking(False)
            self._left[made] = memoryview(sent)
            self._selector.register(made, selectors.EVENT_READ | selectors.EVENT_WRITE)

    def send(self) -> None:
        """Send until all have sent all, or were closed."""
        while any(self._left.values()):
            self._go_on(reads=False)

    def await_closed(self) -> None:
        """Read until all were closed."""
        while self._left:
            self._go_on(reads=True)

    def close(self) -> None:
        """Go away."""
        for one in tuple(self._left):
            self._forget(one)
        self._selector.close()

    def _go_on(self, *, reads: bool) -> None:
        for one, left in self._left.items():
            events = (selectors.EVENT_WRITE if left else 0) | (selectors.EVENT_READ if reads or not left else 0)
            self._selector.modify(one, events or selectors.EVENT_READ)
        ready = self._selector.select(_TIMEOUT)
        assert ready, "the gate neither reads nor closes"
        for key, _ in ready:
            assert isinstance(key.fileobj, socket.socket)
            self._go_on_with(key.fileobj, reads)

    def _go_on_with(self, one: socket.socket, reads: bool) -> None:
        try:
            if left := self._left[one]:
                self._left[one] = left[one.send(left[: 1 << 16]) :]
            elif reads:
                came = one.recv(1 << 16)
                self._heard[one] = (self._heard.get(one, b"") + came)[:4096]
                if not came:
                    self._count(one)
        except BlockingIOError:
            pass
        except OSError:
            self._count(one)

    def _count(self, one: socket.socket) -> None:
        self.closed += 1
        self.answers[self._heard.pop(one, b"").partition(b"\r\n")[0]] += 1
        self._forget(one)

    def _forget(self, one: socket.socket) -> None:
        self._selector.unregister(one)
        self._left.pop(one)
        one.close()


@contextmanager
def crowd(address: tuple[str, int], count: int, sent: bytes) -> Iterator[Crowd]:
    """Within the block, ``count`` clients are connected, and send."""
    made = Crowd(address, count, sent)
    try:
        yield made
    finally:
        made.close()


class Honest:
    """A client that asks over and over, each time on a new connection, and counts the answers by status."""

    def __init__(self, address: tuple[str, int], requests: Mapping[str, Any]) -> None:
        self._address = address
        self._requests = requests
        self._changed = Condition()
        self._ends = Event()
        self.statuses: Counter[tuple[str, int | str]] = Counter()
        self._thread = Thread(target=self._ask, daemon=True)

    def __enter__(self) -> Honest:
        self._thread.start()
        self.await_more(1)
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join(_TIMEOUT)

    @property
    def rounds(self) -> int:
        """How often each of the requests was answered."""
        return min(
            sum(count for (path, status), count in self.statuses.items() if path == one and status == 200)
            for one in self._requests
        )

    def await_more(self, count: int) -> None:
        """Wait until each request was answered ``count`` times more."""
        with self._changed:
            goal = self.rounds + count
            assert self._changed.wait_for(lambda: self.rounds >= goal, _TIMEOUT), self.statuses

    def _ask(self) -> None:
        while not self._ends.is_set():
            for path, body in self._requests.items():
                status: int | str
                try:
                    with closing(http.client.HTTPConnection(*self._address, timeout=_TIMEOUT)) as connection:
                        connection.request("GET" if body is None else "POST", path, body and json.dumps(body))
                        with connection.getresponse() as reply:
                            reply.read()
                            status = reply.status
                except (OSError, http.client.HTTPException) as error:
                    status = type(error).__name__
                with self._changed:
                    self.statuses[path, status] += 1
                    self._changed.notify_all()
