"""OpenSearch through the user's opensearch-py client, which works with Elasticsearch, too."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from es_simhash._core.json_codec import parse_json
from es_simhash.engines.rest.engine import AsyncRestEngine, RestEngine, Writer, content_type, fast_serializers
from es_simhash.engines.rest.errors import no_connection, timed_out, unreadable
from es_simhash.engines.rest.requests import Reply, Request

if TYPE_CHECKING:
    from opensearchpy import AsyncOpenSearch, OpenSearch

Client = TypeVar("Client", "OpenSearch", "AsyncOpenSearch")


class _OverOpenSearch(Generic[Client]):
    """What both kinds of client share: options, serializer and exceptions."""

    system = "opensearch"

    def __init__(self, client: Client, *, distribution: str | None = None, closes_client: bool = False) -> None:
        self._client: Client = client
        self._distribution = distribution
        self._closes_client = closes_client

    def _transport_for(self, request: Request) -> Any:
        """Return a copy of the client's transport that shares its connections, but reads faster.

        A copy that sniffs nodes would replace the connections of the original. So of a transport that sniffs there is a
        copy only for requests to send once.
        """
        transport = self._client.transport
        sniffs = transport.sniffer_timeout or transport.sniff_on_connection_fail
        if sniffs and request.repeatable:
            return transport
        copied = copy(transport)
        copied.sniffer_timeout, copied.sniff_on_connection_fail = None, False
        copied.deserializer = self._deserializer
        if not request.repeatable:
            copied.max_retries = 0
        return copied

    @cached_property
    def _deserializer(self) -> Any:
        from opensearchpy.serializer import JSONSerializer

        fast = copy(self._client.transport.deserializer)
        fast.serializers = fast_serializers(fast.serializers, (JSONSerializer,))
        return fast

    @cached_property
    def _writer(self) -> Writer:
        from opensearchpy.serializer import JSONSerializer

        return Writer(self._client.transport.serializer, JSONSerializer)

    def _reply_to(self, error: Exception) -> Reply:
        """Return the reply that a client's exception holds; raise ours if it holds none."""
        from opensearchpy.exceptions import ConnectionTimeout, SerializationError, TransportError

        if isinstance(error, ConnectionTimeout):
            raise timed_out(self._address(), "timeout") from error
        if isinstance(error, SerializationError):
            raise unreadable(self._address(), str(error.args[0])) from error
        if not isinstance(error, TransportError):
            raise error
        if not isinstance(error.status_code, int):
            raise no_connection(self._address(), error) from error
        return Reply(error.status_code, error.info or _decoded(error.error))

    def _address(self) -> str:
        """Return the addresses of the client's hosts, without the credentials that these may hold."""
        return ", ".join(_url(host) for host in self._client.transport.hosts)


class OpenSearchEngine(_OverOpenSearch["OpenSearch"], RestEngine):
    """OpenSearch through an `opensearchpy.OpenSearch`, with its own options (logins, TLS, timeouts …).

    Only its retries are switched off where a repeated request could take effect twice.
    """

    def close(self) -> None:
        """Close the client, if `connect` created it."""
        if self._closes_client:
            self._client.close()
            for connection in _nodes(self._client):
                connection.close()

    def _send(self, request: Request, body: bytes | None) -> Reply:
        try:
            decoded = self._transport_for(request).perform_request(**_arguments(request, body))
        except Exception as error:
            return self._reply_to(error)
        return Reply(200, decoded)


class AsyncOpenSearchEngine(_OverOpenSearch["AsyncOpenSearch"], AsyncRestEngine):
    """OpenSearch through an `opensearchpy.AsyncOpenSearch`; otherwise like `OpenSearchEngine`."""

    async def close(self) -> None:
        """Close the client, if `connect_async` created it."""
        if self._closes_client:
            await self._client.close()
            for connection in _nodes(self._client):
                await connection.close()

    async def _send(self, request: Request, body: bytes | None) -> Reply:
        try:
            # The first use of the client opens its connections; a copy of its transport does not.
            await self._client.__aenter__()
            decoded = await self._transport_for(request).perform_request(**_arguments(request, body))
        except Exception as error:
            return self._reply_to(error)
        return Reply(200, decoded)


def _nodes(client: Any) -> tuple[Any, ...]:
    """Return the connections of all nodes; a client closes only those of nodes that were there when last asked."""
    return tuple(getattr(client.transport.connection_pool, "orig_connections", ()))


def _arguments(request: Request, body: bytes | None) -> dict[str, Any]:
    """Return the arguments of the transport's `perform_request`, which changes the parameters it receives."""
    return {
        "method": request.method,
        "url": request.path,
        "params": dict(request.params),
        "headers": {"content-type": content_type(request)},
        "body": body,
    }


def _decoded(text: Any) -> Any:
    """Decode the text of an error reply, which the asynchronous client leaves undecoded."""
    try:
        return parse_json(text)
    except (TypeError, ValueError):
        return text


def _url(host: dict[str, Any]) -> str:
    scheme = "https" if host.get("use_ssl") else host.get("scheme", "http")
    return f"{scheme}://{host.get('host', 'localhost')}:{host.get('port', 9200)}"
