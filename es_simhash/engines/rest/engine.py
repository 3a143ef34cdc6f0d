"""What the engines over Elasticsearch's and OpenSearch's clients have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

from es_simhash._core.json_paths import Json
from es_simhash.engines.rest.operation_requests import conversation, lines_of
from es_simhash.engines.rest.requests import Reply, Request, checked, doing, known
from es_simhash.errors import DocumentError, InputError
from es_simhash.plans.operations import Bulk, Operation

Result = TypeVar("Result")
Dumps = Callable[[Any], "bytes | str"]


class RestEngine(ABC):
    """An engine over a synchronous client; its distribution, if the caller knows it, serves where it is not told."""

    _distribution: str | None

    def perform(self, operation: Operation[Result]) -> Result:
        """Carry out one operation; what cannot be done raises an `EngineError`."""
        steps = conversation(operation)
        body: Any = None
        while True:
            try:
                request = steps.send(body)
            except StopIteration as end:
                result: Result = end.value
                return result
            reply = self._send(request, encoded(operation, request.body, self._dumps))
            body = checked(operation, known(request, reply, self._distribution))

    @abstractmethod
    def close(self) -> None:
        """Close the client, if it is the engine's own."""

    @abstractmethod
    def _send(self, request: Request, body: bytes | None) -> Reply: ...

    @abstractmethod
    def _dumps(self, value: Any) -> bytes | str: ...


class AsyncRestEngine(ABC):
    """An engine over an asynchronous client; otherwise as `RestEngine`."""

    _distribution: str | None

    async def perform(self, operation: Operation[Result]) -> Result:
        """Carry out one operation; what cannot be done raises an `EngineError`."""
        steps = conversation(operation)
        body: Any = None
        while True:
            try:
                request = steps.send(body)
            except StopIteration as end:
                result: Result = end.value
                return result
            reply = await self._send(request, encoded(operation, request.body, self._dumps))
            body = checked(operation, known(request, reply, self._distribution))

    @abstractmethod
    async def close(self) -> None:
        """Close the client, if it is the engine's own."""

    @abstractmethod
    async def _send(self, request: Request, body: bytes | None) -> Reply: ...

    @abstractmethod
    def _dumps(self, value: Any) -> bytes | str: ...


def content_type(request: Request) -> str:
    """The media type of a request's body."""
    return "application/x-ndjson" if isinstance(request.body, list) else "application/json"


def encoded(operation: Operation[Any], body: Json | list[Json] | None, dumps: Dumps) -> bytes | None:
    """The body of a request as bytes, each line made by the client's own serializer.

    What cannot be JSON, or UTF-8, is refused here: a client would send half of a surrogate pair as broken UTF-8.
    """
    if body is None:
        return None
    lines = []
    for number, line in enumerate(body if isinstance(body, list) else [body]):
        try:
            lines.append(_utf8(dumps(line)))
        except (ValueError, TypeError) as error:
            raise _unsendable(operation, number, error) from None
        except Exception as error:
            # The clients wrap the reason in an error of theirs, whose text holds the whole document.
            raise _unsendable(operation, number, error.__context__ or error) from None
    return b"\n".join([*lines, b""])


def _utf8(text: bytes | str) -> bytes:
    if isinstance(text, str):
        return text.encode()
    text.decode()
    return text


def _unsendable(operation: Operation[Any], line: int, reason: BaseException) -> InputError:
    """Why a line of a request cannot be sent, naming the action that it belongs to."""
    problem = f"cannot be sent: {reason}. Give it only what JSON has, and texts without halves of surrogate pairs."
    if not isinstance(operation, Bulk):
        return InputError(f"{doing(operation)}: the request {problem}")
    places = [place for place, action in enumerate(operation.actions) for _ in lines_of(action)]
    action = operation.actions[places[line]]
    return DocumentError(f"{doing(operation)}: action {places[line]} (id {action.id!r}) {problem}")
