"""What the engines over Elasticsearch's and OpenSearch's clients share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

from es_simhash._core.json_paths import Json
from es_simhash._core.native import native
from es_simhash.engines.rest.operation_requests import conversation, lines_of
from es_simhash.engines.rest.requests import Reply, Request, checked, doing, known
from es_simhash.errors import InputError, UnsendableError
from es_simhash.plans.operations import Bulk, Operation

Result = TypeVar("Result")
Dumps = Callable[[Any], "bytes | str"]


class RestEngine(ABC):
    """An engine over a synchronous client; ``_distribution`` is used where the server does not identify itself."""

    _distribution: str | None

    def perform(self, operation: Operation[Result]) -> Result:
        """Perform one operation; raise an `EngineError` if it fails."""
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
        """Close the client, if the engine created it."""

    @abstractmethod
    def _send(self, request: Request, body: bytes | None) -> Reply: ...

    @property
    @abstractmethod
    def _dumps(self) -> Dumps: ...


class AsyncRestEngine(ABC):
    """An engine over an asynchronous client; otherwise like `RestEngine`."""

    _distribution: str | None

    async def perform(self, operation: Operation[Result]) -> Result:
        """Perform one operation; raise an `EngineError` if it fails."""
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
        """Close the client, if the engine created it."""

    @abstractmethod
    async def _send(self, request: Request, body: bytes | None) -> Reply: ...

    @property
    @abstractmethod
    def _dumps(self) -> Dumps: ...


def content_type(request: Request) -> str:
    """Return the media type of a request's body."""
    return "application/x-ndjson" if isinstance(request.body, list) else "application/json"


def dumps_of(serializer: Any, standard: type) -> Dumps:
    """Return what writes an object as a client's serializer does.

    If that is the client's ``standard`` one, the compiled kernels write the types that Python's json knows by itself.
    """
    by_client: Dumps = serializer.dumps
    kernels = native()
    if kernels is None or type(serializer) is not standard:
        return by_client
    by_kernels, refused = kernels.json_bytes, kernels.Refused

    def dumps(value: Any) -> bytes | str:
        try:
            return by_kernels(value)
        except refused:
            return by_client(value)

    return dumps


def encoded(operation: Operation[Any], body: Json | list[Json] | None, dumps: Dumps) -> bytes | None:
    """Encode the body of a request, each line by the client's own serializer.

    What is not valid JSON or UTF-8 is refused here: a client would send half of a surrogate pair as broken UTF-8.
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
            # The clients wrap the reason in their own error, whose text contains the whole document.
            raise _unsendable(operation, number, error.__context__ or error) from None
    return b"\n".join([*lines, b""])


def _utf8(text: bytes | str) -> bytes:
    if isinstance(text, str):
        return text.encode()
    text.decode()
    return text


def _unsendable(operation: Operation[Any], line: int, reason: BaseException) -> InputError:
    """Return the error for a line of a request that cannot be sent; it names the action of that line."""
    problem = f"cannot be sent: {reason}. Give it only what JSON has, and texts without halves of surrogate pairs."
    if not isinstance(operation, Bulk):
        return InputError(f"{doing(operation)}: the request {problem}")
    places = [place for place, action in enumerate(operation.actions) for _ in lines_of(action)]
    place = places[line]
    named = f"{doing(operation)}: action {place} (id {operation.actions[place].id!r:.80})"
    return UnsendableError(problem, place, named)
