"""What the clients send over their connections, and how large each request and each reply is, in bytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

import elastic_transport
import opensearchpy


class Exchange(NamedTuple):
    """A request and its reply."""

    method: str
    target: str
    sent: int
    received: int


@contextmanager
def recorded_requests() -> Iterator[list[Exchange]]:
    """Record all requests of all clients within the block, also those of threads."""
    found: list[Exchange] = []

    def note(method: str, target: str, body: Any, answer: Any) -> None:
        reply = answer.body if hasattr(answer, "body") else answer[2]
        found.append(Exchange(method, target, _bytes(body), _bytes(reply)))

    def synchronous(original: Any) -> Any:
        def perform_request(self: Any, method: str, target: str, *given: Any, **named: Any) -> Any:
            answer = original(self, method, target, *given, **named)
            note(method, target, _body_in(original, given, named), answer)
            return answer

        return perform_request

    def asynchronous(original: Any) -> Any:
        async def perform_request(self: Any, method: str, target: str, *given: Any, **named: Any) -> Any:
            answer = await original(self, method, target, *given, **named)
            note(method, target, _body_in(original, given, named), answer)
            return answer

        return perform_request

    with ExitStack() as stack:
        for kind, wrapped in (
            (elastic_transport.Urllib3HttpNode, synchronous),
            (elastic_transport.AiohttpHttpNode, asynchronous),
            (opensearchpy.Urllib3HttpConnection, synchronous),
            (opensearchpy.AIOHttpConnection, asynchronous),
            (opensearchpy.AsyncHttpConnection, asynchronous),
        ):
            stack.enter_context(patch.object(kind, "perform_request", wrapped(kind.perform_request)))
        yield found


def _body_in(original: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Return the body among the arguments of a connection's method, which has no more before it than parameters."""
    names = original.__code__.co_varnames[3 : original.__code__.co_argcount]
    return dict(zip(names, given, strict=False)).get("body", named.get("body"))


def _bytes(text: Any) -> int:
    if text is None:
        return 0
    return len(text.encode() if isinstance(text, str) else text)
