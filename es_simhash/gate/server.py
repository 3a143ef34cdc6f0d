"""A gate as a service of its own: listening, and stopping without losing what is in flight."""

from __future__ import annotations

import asyncio
import ipaddress
import math
import signal
import socket
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from es_simhash.errors import InputError, MissingExtraError
from es_simhash.gate import limits

if TYPE_CHECKING:
    from starlette.applications import Starlette

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

    from es_simhash.gate.connections import Connection, Connections

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
        timeout_keep_alive=math.ceil(limits.SILENCE),
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
