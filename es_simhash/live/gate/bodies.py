"""Bodies of requests, within limits: of one body, and of all that are being read or answered."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.requests import Request

# Bytes of a body or of a line of /bulk, and of all bodies at once.
MOST_OF_ONE = 8 << 20
MOST_OF_ALL = 128 << 20


class RefusedError(Exception):
    """A request that is not answered: its status, why, and perhaps after how many seconds to try again."""

    def __init__(self, status: int, reason: str, seconds: int | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.seconds = seconds


@dataclass
class Bodies:
    """The bytes of bodies at work; ``most`` is the limit of one."""

    most: int = MOST_OF_ONE
    at_work: int = 0

    @contextmanager
    def room(self, size: int) -> Iterator[None]:
        """Make room for a body while it is read and answered."""
        if self.at_work and self.at_work + size > max(MOST_OF_ALL, self.most):
            raise RefusedError(429, "Too many requests are at work. Ask again in 1 s.", 1)
        self.at_work += size
        try:
            yield
        finally:
            self.at_work -= size

    def size_of(self, request: Request) -> int:
        """Return the bytes that a request may take: as it says, or else the limit."""
        self.check_encoding(request)
        given = request.headers.get("content-length", "")
        if not given.isdecimal():
            return self.most
        if int(given) > self.most:
            raise self.too_large()
        return int(given)

    async def whole(self, request: Request) -> bytes:
        """Read a body."""
        parts, size = [], 0
        async for part in request.stream():
            size += len(part)
            if size > self.most:
                raise self.too_large()
            parts.append(part)
        return b"".join(parts)

    async def lines(self, request: Request) -> AsyncIterator[list[bytes]]:
        """Yield the lines of a body, as many at once as have come; empty ones are left out."""
        rest = b""
        async for part in request.stream():
            *lines, rest = (rest + part).split(b"\n")
            if len(rest) > self.most or any(len(line) > self.most for line in lines):
                raise self.too_large("line")
            if some := [line for line in lines if line.strip()]:
                yield some
        if rest.strip():
            yield [rest]

    def too_large(self, what: str = "body") -> RefusedError:
        """Return the refusal of a body, or of a line."""
        return RefusedError(413, f"A {what} has at most {self.most:,} bytes. Send less at once, or raise --max-body.")

    @staticmethod
    def check_encoding(request: Request) -> None:
        """Refuse compressed bodies, which could be of any size."""
        if request.headers.get("content-encoding", "identity") != "identity":
            raise RefusedError(415, "Compressed bodies are not read. Send the body as it is.")
