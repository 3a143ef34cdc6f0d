"""The links between the nodes of a cluster: each goes through a proxy of ours, at which it can be cut or fall silent.

All nodes reach a node at the one port that it publishes. Which of them a connection comes from is found by its port, in
what Linux says of the sockets of processes; so no namespaces and no privileges are needed.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Collection, Coroutine, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from .machine import LOOPBACK

Result = TypeVar("Result")
Pair = frozenset[int]

_CHUNK_BYTES = 1 << 16
_SOCKETS = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))


@dataclass(eq=False)
class _Connection:
    """A connection to a node from a port; the ``pair`` of nodes is found when it matters."""

    target: int
    port: int
    ends: list[asyncio.StreamWriter]
    pair: Pair | None = None

    def abort(self) -> None:
        for end in self.ends:
            end.transport.abort()


@dataclass
class Links:
    """Proxies before the nodes with these transport ports; ``pids`` has the process of each node that runs."""

    targets: list[int]
    pids: Callable[[], Mapping[int, int]]
    ports: list[int] = field(default_factory=list)
    """Where the proxies listen: what the nodes publish."""
    _cut: set[Pair] = field(default_factory=set)
    _silent: dict[Pair, asyncio.Event] = field(default_factory=dict)
    _connections: set[_Connection] = field(default_factory=set)
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def start(self) -> None:
        """Listen, in a thread of its own."""
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._servers = self._do(self._listen())

    def stop(self) -> None:
        """Close all connections."""
        self._do(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def cut(self, one: int, other: int) -> None:
        """Break off what two nodes have to say to each other, and refuse more."""
        self._do(self._change(frozenset((one, other)), is_silent=False))

    def silence(self, one: int, other: int) -> None:
        """Let nothing through between two nodes; it arrives once the link is whole again."""
        self._do(self._change(frozenset((one, other)), is_silent=True))

    def heal(self) -> None:
        """Make all links whole."""
        self._do(self._heal())

    def _do(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _listen(self) -> list[asyncio.Server]:
        servers = []
        for target in range(len(self.targets)):
            servers.append(await asyncio.start_server(self._connected_to(target), LOOPBACK))
            self.ports.append(servers[-1].sockets[0].getsockname()[1])
        return servers

    async def _close(self) -> None:
        for server in self._servers:
            server.close()
        await self._heal()
        for connection in list(self._connections):
            connection.abort()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _change(self, pair: Pair, is_silent: bool) -> None:
        self._find_pairs(self._connections)
        if is_silent:
            self._silent.setdefault(pair, asyncio.Event())
            return
        self._cut.add(pair)
        for connection in [each for each in self._connections if each.pair == pair]:
            connection.abort()

    def _find_pairs(self, connections: Collection[_Connection]) -> None:
        """Find out whose the connections are that were opened while that did not matter."""
        unknown = [connection for connection in connections if connection.pair is None]
        if unknown:
            sockets = _sockets_by_port()
            files = {file: node for node, pid in self.pids().items() for file in _files_of(pid)}
            for connection in unknown:
                connection.pair = frozenset((files.get(sockets.get(connection.port, ""), -1), connection.target))

    async def _heal(self) -> None:
        self._cut.clear()
        silent, self._silent = self._silent, {}
        for event in silent.values():
            event.set()

    def _connected_to(
        self, target: int
    ) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]:
        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task
            self._tasks.add(task)
            try:
                await self._relay(target, reader, writer)
            except (OSError, asyncio.CancelledError):  # streams would report that they were cancelled
                writer.transport.abort()
            finally:
                self._tasks.discard(task)

        return connected

    async def _relay(self, target: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = _Connection(target, writer.get_extra_info("peername")[1], [writer])
        self._connections.add(connection)
        try:
            if self._cut or self._silent:
                self._find_pairs([connection])
            if connection.pair not in self._cut:
                upstream, downstream = await asyncio.open_connection(LOOPBACK, self.targets[target])
                connection.ends.append(downstream)
                away = self._pump(connection, reader, downstream)
                await asyncio.gather(away, self._pump(connection, upstream, writer))
        finally:
            self._connections.discard(connection)
            connection.abort()

    async def _pump(self, connection: _Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while chunk := await reader.read(_CHUNK_BYTES):
            if connection.pair and (silent := self._silent.get(connection.pair)):
                await silent.wait()
            writer.write(chunk)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


def _sockets_by_port() -> dict[int, str]:
    """Return the name of the socket at each port from which a connection was opened."""
    lines = [line.split() for path in _SOCKETS for line in path.read_text().splitlines()[1:]]
    return {int(fields[1].rpartition(":")[2], 16): f"socket:[{fields[9]}]" for fields in lines}


def _files_of(pid: int) -> set[str]:
    """Return the names of the files and sockets that a process has open."""
    folder, found = f"/proc/{pid}/fd", set()
    try:
        for name in os.listdir(folder):
            found.add(os.readlink(f"{folder}/{name}"))
    except FileNotFoundError:  # closed in the meantime
        pass
    return found
