"""Connections of a gate that serves itself: how many, how much before a request, and how long each may be slow.

What a body may take is the application's matter (`es_simhash.gate.bodies`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, TypeVar

from es_simhash.errors import MissingExtraError
from es_simhash.gate import limits

try:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
except ImportError:
    raise MissingExtraError("uvicorn with httptools", "gate") from None

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

try:
    import resource
except ImportError:  # on Windows
    resource = None  # type: ignore[assignment]

_Came = TypeVar("_Came")

# Bytes that are read at once, and files that a gate opens in addition to its connections.
_AT_ONCE, _OTHER_FILES = 1 << 16, 300


class Connections:
    """All open connections of a gate."""

    def __init__(self) -> None:
        self._open: dict[Connection, None] = {}
        # Data goes on at once, so one buffer is enough.
        self.buffer = memoryview(bytearray(_AT_ONCE))
        self._most = limits.CONNECTIONS
        if resource is not None and (files := resource.getrlimit(resource.RLIMIT_NOFILE)[0]) != resource.RLIM_INFINITY:
            self._most = max(1, min(self._most, files - _OTHER_FILES))

    def enter(self, connection: Connection) -> bool:
        """Let a connection in, if need be instead of one that waits for its client: without a request, the oldest."""
        if len(self._open) >= self._most:
            waiting = [each for each in self._open if each.since is not None]
            if not waiting:
                return False
            min(waiting, key=lambda each: (each.has_request, each.since)).cut()
        self._open[connection] = None
        return True

    def leave(self, connection: Connection) -> None:
        """Forget a connection that is closed."""
        self._open.pop(connection, None)

    def look(self, now: float) -> None:
        """Cut those off that have let the gate wait for too long, and those that leave too much unread."""
        unread = {each: each.unread(now) for each in tuple(self._open)}
        for each in unread:
            if each.is_late(now):
                each.cut()
        most = sum(unread.values()) - limits.UNREAD_BYTES
        for each in sorted(unread, key=unread.__getitem__, reverse=True):
            if most <= 0:
                break
            most -= unread[each]
            each.cut()


class Connection(HttpToolsProtocol, asyncio.BufferedProtocol):
    """A connection, which knows since when the gate waits for its client: for a request, a body, or its reading."""

    def __init__(self, connections: Connections, **given: Any) -> None:
        super().__init__(**given)
        self._connections = connections
        self._application: Any = self.app
        self.app = self._answer
        self.since: float | None = None
        self._seconds = limits.SILENCE
        # Requests that are not answered, bytes that no body came from, and bytes that the client has not read.
        self._requests = 0
        self._head = 0
        self._unread = 0

    @property
    def has_request(self) -> bool:
        """Whether a request is being read or answered."""
        return self._requests > 0

    def is_late(self, now: float) -> bool:
        """Return whether the gate has waited for too long."""
        return self.since is not None and now - self.since > (limits.UNREAD if self._unread else self._seconds)

    def unread(self, now: float) -> int:
        """Return the bytes that the client has not read; it is waited for from when there were as many."""
        left = self.transport.get_write_buffer_size()
        if left != self._unread and self.since is not None:
            self.since = now
        self._unread = left
        return left

    def cut(self) -> None:
        """Close the connection at once."""
        self._connections.leave(self)
        self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request, if there is a place."""
        super().connection_made(transport)
        self._wait(limits.SILENCE)
        if not self._connections.enter(self):
            self._refuse(b"503 Service Unavailable", b"All connections are in use. Ask again in 1 s.")

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place back."""
        self._connections.leave(self)
        super().connection_lost(exc)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return where to read to."""
        return self._connections.buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Take what was read."""
        self._head += nbytes
        self.data_received(bytes(self._connections.buffer[:nbytes]))
        if self._head > limits.HEAD and not self.transport.is_closing():
            if self.has_request:
                self.cut()
            else:
                most = f"The head of a request has at most {limits.HEAD:,} bytes. Send shorter headers."
                self._refuse(b"431 Request Header Fields Too Large", most.encode())

    def on_message_begin(self) -> None:
        """Begin a request; too many at once are not HTTP."""
        self._requests += 1
        if self._requests > limits.PIPELINED:
            raise ValueError("too many requests are sent before the first one is answered")
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Begin to answer."""
        self._head = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Hand a part of a body on."""
        self._head = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Hand the end of a body on."""
        self._head = 0
        super().on_message_complete()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def waited(seconds: float, client: Awaitable[_Came]) -> _Came:
            self._wait(seconds)
            try:
                return await client
            finally:
                self.since = None

        self.since = None
        try:
            await self._application(
                scope, lambda: waited(limits.PAUSE, receive()), lambda message: waited(limits.UNREAD, send(message))
            )
        finally:
            self._requests -= 1
            self._wait(limits.SILENCE)

    def _wait(self, seconds: float) -> None:
        self.since, self._seconds = self.loop.time(), seconds

    def _refuse(self, status: bytes, reason: bytes) -> None:
        head = b"content-type: text/plain\r\ncontent-length: %d\r\nretry-after: 1\r\nconnection: close" % len(reason)
        self.transport.write(b"HTTP/1.1 %s\r\n%s\r\n\r\n%s" % (status, head, reason))
        self.transport.close()
