"""What the engines over Elasticsearch's and OpenSearch's clients share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Generic, TypeVar

from es_simhash._core.json_codec import Json, dumps, json_lines, loads
from es_simhash.engines.base import driven, driven_async
from es_simhash.engines.rest.operations import checked, conversation, doing, lines_of
from es_simhash.engines.rest.requests import Reply, Request, with_distribution
from es_simhash.errors import InputError, UnsendableError
from es_simhash.plans.operations import Bulk, Operation

Result = TypeVar("Result")
Client = TypeVar("Client")


class OverClient(ABC, Generic[Client]):
    """What engines over synchronous and asynchronous clients share.

    The ``distribution`` is used where the server does not identify itself.
    """

    def __init__(self, client: Client, *, distribution: str | None = None, closes_client: bool = False) -> None:
        self._client = client
        self._distribution = distribution
        self._closes_client = closes_client

    @property
    @abstractmethod
    def _writer(self) -> Writer: ...

    @abstractmethod
    def _ask(self, request: Request, body: bytes | None) -> Any:
        """Send a request by the client, and return what it returns."""

    @abstractmethod
    def _reply(self, response: Any) -> Reply:
        """Return the reply that the client returned."""

    @abstractmethod
    def _reply_to(self, error: Exception) -> Reply:
        """Return the reply that a client's exception holds; raise ours if it holds none."""

    def _left_open(self) -> Iterable[Any]:
        """Return the connections that a client does not close itself."""
        return ()


class RestEngine(OverClient[Client]):
    """An engine over a synchronous client."""

    def perform(self, operation: Operation[Result]) -> Result:
        """Perform one operation; raise an `EngineError` if it fails."""

        def answer(request: Request) -> Json:
            reply = self._send(request, encoded(operation, request.body, self._writer))
            return checked(operation, with_distribution(request, reply, self._distribution))

        return driven(conversation(operation), answer)

    def _send(self, request: Request, body: bytes | None) -> Reply:
        try:
            return self._reply(self._ask(request, body))
        except Exception as error:
            return self._reply_to(error)

    def close(self) -> None:
        """Close the client, if `connect` created it."""
        if self._closes_client:
            client: Any = self._client
            client.close()
            for connection in self._left_open():
                connection.close()


class AsyncRestEngine(OverClient[Client]):
    """An engine over an asynchronous client; otherwise like `RestEngine`."""

    async def perform(self, operation: Operation[Result]) -> Result:
        """Perform one operation; raise an `EngineError` if it fails."""

        async def answer(request: Request) -> Json:
            reply = await self._send(request, encoded(operation, request.body, self._writer))
            return checked(operation, with_distribution(request, reply, self._distribution))

        return await driven_async(conversation(operation), answer)

    async def _send(self, request: Request, body: bytes | None) -> Reply:
        try:
            return self._reply(await self._ask(request, body))
        except Exception as error:
            return self._reply_to(error)

    async def close(self) -> None:
        """Close the client, if `connect_async` created it."""
        if self._closes_client:
            client: Any = self._client
            await client.close()
            for connection in self._left_open():
                await connection.close()


def content_type(request: Request) -> str:
    """Return the media type of a request's body."""
    return "application/x-ndjson" if isinstance(request.body, list) else "application/json"


class FastJson:
    """A client's serializer, but JSON is read by msgspec; what that refuses is read by the client's own."""

    def __init__(self, serializer: Any) -> None:
        self.mimetype, self.dumps = serializer.mimetype, serializer.dumps
        self._by_client = serializer.loads

    def loads(self, text: bytes | str) -> Any:
        """Return the reply as an object."""
        return loads(text, self._by_client)


def fast_serializers(serializers: Mapping[str, Any], standard: Collection[type]) -> dict[str, Any]:
    """Return a client's serializers by their media types; those of the client's ``standard`` classes read faster."""
    return {name: FastJson(each) if type(each) in standard else each for name, each in serializers.items()}


class Writer:
    """Writes as a client's serializer does; JSON is written by msgspec if that is the client's ``standard`` one."""

    def __init__(self, serializer: Any, standard: type) -> None:
        self._serializer = serializer
        self._is_standard = type(serializer) is standard

    def all(self, lines: list[Any]) -> bytes | None:
        """Return lines of JSON; None if they have to be written one by one."""
        return json_lines(lines) if self._is_standard else None

    def one(self, line: Any) -> bytes:
        """Return one line without its end."""
        return dumps(line, self._by_client) if self._is_standard else self._by_client(line)

    def _by_client(self, line: Any) -> bytes:
        written: bytes | str = self._serializer.dumps(line)
        if isinstance(written, str):
            return written.encode()
        written.decode()  # refused, unless it is UTF-8
        return written


def encoded(operation: Operation[Any], body: Json | list[Json] | None, writer: Writer) -> bytes | None:
    """Encode the body of a request, each line as the client's own serializer does.

    Invalid JSON or UTF-8 is refused here: a client would send half of a surrogate pair as broken UTF-8.
    """
    if body is None:
        return None
    lines = body if isinstance(body, list) else [body]
    if (written := writer.all(lines)) is not None:
        return written
    each = []
    for number, line in enumerate(lines):
        try:
            each.append(writer.one(line))
        except (ValueError, TypeError) as error:
            raise _unsendable(operation, number, error) from None
        except Exception as error:
            # The clients wrap the reason in their own error, whose text contains the whole document.
            raise _unsendable(operation, number, error.__context__ or error) from None
    return b"\n".join([*each, b""])


def _unsendable(operation: Operation[Any], line: int, reason: BaseException) -> InputError:
    """Return the error for a line of a request that cannot be sent; it names the action of that line."""
    problem = f"cannot be sent: {reason}. Give it only what JSON has, and texts without halves of surrogate pairs."
    if not isinstance(operation, Bulk):
        return InputError(f"{doing(operation)}: the request {problem}")
    places = [place for place, action in enumerate(operation.actions) for _ in lines_of(action)]
    place = places[line]
    named = f"{doing(operation)}: action {place} (id {operation.actions[place].id!r:.80})"
    return UnsendableError(problem, place, named)
