"""Bodies of requests, within limits: of one body, of all that are read or answered, and of the time that they take."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any

from es_simhash.gate import limits
from es_simhash.gate.requests import BATCH

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Receive
    from typing_extensions import Self

_LINE = re.compile(rb"[^\n]+")
# Bytes up to which a block of a body grows.
_BLOCK = 1 << 16


class RefusedError(Exception):
    """A request that is not answered: its status, why, and perhaps after how many seconds to try again."""

    def __init__(self, status: int, reason: str, seconds: int | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.seconds = seconds


class Blocks:
    """Bytes that come in parts, in blocks that are not moved as they grow: they take no memory but their own."""

    def __init__(self) -> None:
        self._blocks: list[bytearray] = []
        self.size = 0

    def add(self, part: bytes) -> None:
        """Take what comes next."""
        if self._blocks and len(self._blocks[-1]) + len(part) <= _BLOCK:
            self._blocks[-1] += part
        elif part:
            self._blocks.append(bytearray(part))
        self.size += len(part)

    def taken(self) -> bytes:
        """Return all that came, and begin again."""
        blocks, self._blocks, self.size = self._blocks, [], 0
        return b"".join(blocks)


class Lines:
    """Lines of at most ``most`` bytes, made of parts that end anywhere."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._rest = Blocks()

    @property
    def rest(self) -> int:
        """The bytes of the line that has not ended."""
        return self._rest.size

    def of(self, part: bytes) -> Iterator[list[bytes]]:
        """Yield the lines that end in a part, up to a batch at once; empty ones are left out."""
        end = part.rfind(b"\n") + 1
        ended = self._rest.taken() + part[:end] if end else b""
        self._rest.add(part[end:])
        some: list[bytes] = []
        for found in _LINE.finditer(ended):
            if found.end() - found.start() > self._most:
                yield some
                raise too_large(self._most, "line")
            if line := found[0].strip():
                some.append(line)
            if len(some) == BATCH:
                yield some
                some = []
        if some:
            yield some
        if self.rest > self._most:
            raise too_large(self._most, "line")

    def last(self) -> list[bytes]:
        """Return the line that nothing ended, if there is one."""
        return [line] if (line := self._rest.taken().strip()) else []


class Bodies:
    """The bytes of bodies at work; ``most`` is the limit of one."""

    def __init__(self, most: int = limits.BODY) -> None:
        self.most = most
        self.at_work = 0
        self._readings: set[Reading] = set()

    def check(self, request: Request) -> None:
        """Refuse a body that says it is too large."""
        self.check_encoding(request)
        given = request.headers.get("content-length", "")
        if given.isdecimal() and int(given) > self.most:
            raise too_large(self.most)

    @staticmethod
    def check_encoding(request: Request) -> None:
        """Refuse compressed bodies, which could be of any size."""
        if request.headers.get("content-encoding", "identity") != "identity":
            raise RefusedError(415, "Compressed bodies are not read. Send the body as it is.")

    def reading(self, receive: Receive) -> Reading:
        """Return a request that is to be read and answered within a ``with``."""
        return Reading(self, receive)

    def make_room(self, size: int, reading: Reading) -> None:
        """Let a body have ``size`` bytes more, those of clients that are waited for if need be."""
        most = max(limits.AT_WORK, self.most)
        if size > 0 and self.at_work + size > most:
            slow = [each for each in self._readings if each is not reading and each.counted and each.makes_way]
            for each in sorted(slow, key=lambda one: one.counted, reverse=True):
                if self.at_work + size > most:
                    each.cut(RefusedError(408, "The body came too slowly, and others needed its room. Send it again."))
        if size > 0 and self.at_work > reading.counted and self.at_work + size > most:
            raise RefusedError(429, "Too many requests are at work. Ask again in 1 s.", 1)
        self.at_work += size

    def begin(self, reading: Reading) -> None:
        """Know a request that is being read."""
        self._readings.add(reading)

    def end(self, reading: Reading) -> None:
        """Have the room of a request again."""
        self._readings.discard(reading)
        self.at_work -= reading.counted


class Reading:
    """A request from its first byte to its answer: what it holds, and how long its client has been waited for."""

    def __init__(self, bodies: Bodies, receive: Receive) -> None:
        self._bodies = bodies
        self._receive = receive
        self._held = 0
        # Seconds of waiting since the client has made progress, and bytes that came in the meantime.
        self._waited = 0.0
        self._gained = 0
        self._since: float | None = None
        self._coming: asyncio.Future[Any] | None = None
        self._cut: RefusedError | None = None

    def __enter__(self) -> Self:
        self._bodies.begin(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self._cut is None:
            self._bodies.end(self)

    @property
    def counted(self) -> int:
        """The bytes that others cannot have."""
        return max(0, self._held - limits.UNCOUNTED)

    @property
    def makes_way(self) -> bool:
        """Whether its client has been waited for long enough."""
        if self._since is None:
            return False
        return self._waited + asyncio.get_running_loop().time() - self._since > limits.MAKES_WAY

    def hold(self, size: int) -> None:
        """Hold ``size`` bytes more, or fewer; refuse the request if there is no room."""
        more = max(0, self._held + size - limits.UNCOUNTED) - self.counted
        self._bodies.make_room(more, self)
        self._held += size

    def cut(self, error: RefusedError) -> None:
        """End the waiting for the client."""
        self._bodies.end(self)
        self._cut = error
        if self._coming is not None:
            self._coming.cancel()

    async def whole(self) -> bytes:
        """Read a body."""
        body, most, more = Blocks(), self._bodies.most, True
        while more:
            part, more = await self._part(limits.STALLED)
            if body.size + len(part) > most:
                raise too_large(most)
            self.hold(len(part))
            body.add(part)
        return body.taken()

    async def lines(self) -> AsyncIterator[list[bytes]]:
        """Yield the lines of a body, as many at once as have come; empty ones are left out."""
        lines, more = Lines(self._bodies.most), True
        while more:
            part, more = await self._part(limits.PAUSE if lines.rest <= limits.UNCOUNTED else limits.STALLED)
            self.hold(len(part))
            for some in lines.of(part):
                self._progress()
                yield some
            self.hold(lines.rest - self._held)
        if last := lines.last():
            yield last

    async def _part(self, seconds: float) -> tuple[bytes, bool]:
        """Return what comes next, and whether more does."""
        loop = asyncio.get_running_loop()
        self._since = began = loop.time()
        self._coming = asyncio.ensure_future(self._receive())
        try:
            message = await asyncio.wait_for(self._coming, max(seconds - self._waited, 0.001))
        except asyncio.TimeoutError:
            raise RefusedError(
                408,
                f"Less than {limits.PROGRESS:,} bytes came in {seconds:.0f} s, and not the end. Send it again, faster.",
            ) from None
        except asyncio.CancelledError:
            if self._cut is not None:
                raise self._cut from None
            raise
        finally:
            self._since = None
            self._waited += loop.time() - began
        if self._cut is not None:
            raise self._cut
        if message["type"] == "http.disconnect":
            raise RefusedError(400, "The client has gone away.")
        part: bytes = message.get("body", b"")
        self._gained += len(part)
        if self._gained >= limits.PROGRESS:
            self._progress()
        return part, message.get("more_body", False)

    def _progress(self) -> None:
        self._waited, self._gained = 0.0, 0


def too_large(most: int, what: str = "body") -> RefusedError:
    """Return the refusal of a body, or of a line."""
    return RefusedError(413, f"A {what} has at most {most:,} bytes. Send less at once, or raise --max-body.")
