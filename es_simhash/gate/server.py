"""A gate as a service of its own: connections and their limits, and a stop that loses nothing in flight.

What a body may take is the application's matter (`es_simhash.gate.requests`).
"""

from __future__ import annotations

import asyncio
import ipaddress
import math
import signal
import socket
from collections.abc import Awaitable, Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from es_simhash.errors import InputError, MissingExtraError
from es_simhash.gate import requests

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.types import Receive, Scope, Send


PORT = 9280
# Seconds for the requests that are at work when the service is stopped.
_LAST = 30
# Connections that wait to be let in, and tenths of a second between two looks at all of them.
_BACKLOG, _LOOKS = 128, 10
_PACKAGES = ("starlette.applications", "uvicorn", "httptools")


def check_extra() -> None:
    """Raise unless all is installed that a service needs."""
    for name in _PACKAGES:
        try:
            import_module(name)
        except ImportError:
            raise MissingExtraError(name.partition(".")[0], "gate") from None


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def bound(host: str, port: int, has_token: bool) -> socket.socket:
    """Return a socket that is bound to an address; other machines may reach it only with a token."""
    if not has_token and not is_loopback(host):
        raise InputError(
            f"Other machines reach {host}, so the gate needs a token there. Name a file that holds one by "
            "--token-file, or set ES_SIMHASH_GATE_TOKEN; or leave the address out."
        )
    try:
        [(family, kind, _, _, address), *_] = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        # asyncio sends at once what a client waits for only where the protocol is named; else 40 ms later.
        found = socket.socket(family, kind, socket.IPPROTO_TCP)
        try:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind(address)
        except OSError:
            found.close()
            raise
    except OSError as error:
        raise InputError(f"The gate cannot listen at {host}:{port}: {error.strerror}. Name another --port.") from None
    return found


def serve(application: Starlette, at: socket.socket, on_start: Callable[[str], object]) -> None:
    """Serve until SIGTERM or SIGINT; then finish what is in flight. ``on_start`` gets the address."""
    import uvicorn

    pass

    connections = Connections()
    host, port = at.getsockname()[:2]
    config = uvicorn.Config(
        application,
        log_config=None,  # what it warns of goes where the warnings of other libraries go
        log_level="warning",
        access_log=False,
        lifespan="on",
        http=partial(Connection, connections),  # type: ignore[arg-type]
        ws="none",
        backlog=_BACKLOG,
        timeout_keep_alive=math.ceil(requests.SILENCE),
        timeout_graceful_shutdown=_LAST,
        server_header=False,
    )

    class _Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                on_start(f"http://{f'[{host}]' if ':' in host else host}:{port}")

        async def on_tick(self, counter: int) -> bool:
            if counter % _LOOKS == 0:
                connections.look(asyncio.get_running_loop().time())
            return await super().on_tick(counter)

    # The library repeats the signal in the end, which would end the process before the gate is closed.
    before = {each: signal.signal(each, lambda *_: None) for each in (signal.SIGTERM, signal.SIGINT)}
    try:
        _Server(config).run(sockets=[at])
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        at.close()


try:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
except ImportError:
    raise MissingExtraError("uvicorn with httptools", "gate") from None

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
        self._most = requests.CONNECTIONS
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
        most = sum(unread.values()) - requests.UNREAD_BYTES
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
        self._seconds = requests.SILENCE
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
        return self.since is not None and now - self.since > (requests.UNREAD if self._unread else self._seconds)

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
        self._wait(requests.SILENCE)
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
        if self._head > requests.HEAD and not self.transport.is_closing():
            if self.has_request:
                self.cut()
            else:
                most = f"The head of a request has at most {requests.HEAD:,} bytes. Send shorter headers."
                self._refuse(b"431 Request Header Fields Too Large", most.encode())

    def on_message_begin(self) -> None:
        """Begin a request; too many at once are not HTTP."""
        self._requests += 1
        if self._requests > requests.PIPELINED:
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
                scope, lambda: waited(requests.PAUSE, receive()), lambda message: waited(requests.UNREAD, send(message))
            )
        finally:
            self._requests -= 1
            self._wait(requests.SILENCE)

    def _wait(self, seconds: float) -> None:
        self.since, self._seconds = self.loop.time(), seconds

    def _refuse(self, status: bytes, reason: bytes) -> None:
        head = b"content-type: text/plain\r\ncontent-length: %d\r\nretry-after: 1\r\nconnection: close" % len(reason)
        self.transport.write(b"HTTP/1.1 %s\r\n%s\r\n\r\n%s" % (status, head, reason))
        self.transport.close()
