"""OpenSearch through the user's opensearch-py client, which works with Elasticsearch, too."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from es_simhash._core.json_codec import parse_json
from es_simhash.engines.rest.engine import (
    AsyncRestEngine,
    OverClient,
    RestEngine,
    Writer,
    content_type,
    fast_serializers,
)
from es_simhash.engines.rest.requests import Reply, Request, no_connection, timed_out, unreadable

if TYPE_CHECKING:
    from opensearchpy import AsyncOpenSearch, OpenSearch

Client = TypeVar("Client", "OpenSearch", "AsyncOpenSearch")


class _OverOpenSearch(OverClient[Client]):
    """What both kinds of client share: options, serializer and exceptions."""

    system = "opensearch"

    def _ask(self, request: Request, body: bytes | None) -> Any:
        # The transport changes the parameters that it receives.
        params, headers = dict(request.params), {"content-type": content_type(request)}
        transport = self._transport_for(request)
        return transport.perform_request(request.method, request.path, params=params, headers=headers, body=body)

    def _reply(self, response: Any) -> Reply:
        return Reply(200, response)

    def _left_open(self) -> Iterable[Any]:
        # A client closes only the connections of those nodes that were there when it last asked.
        client: Any = self._client
        return tuple(getattr(client.transport.connection_pool, "orig_connections", ()))

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


class OpenSearchEngine(_OverOpenSearch["OpenSearch"], RestEngine["OpenSearch"]):
    """OpenSearch through an `opensearchpy.OpenSearch`, with its own options (logins, TLS, timeouts …).

    Only its retries are switched off where a repeated request could take effect twice.
    """


class AsyncOpenSearchEngine(_OverOpenSearch["AsyncOpenSearch"], AsyncRestEngine["AsyncOpenSearch"]):
    """OpenSearch through an `opensearchpy.AsyncOpenSearch`; otherwise like `OpenSearchEngine`."""

    async def _ask(self, request: Request, body: bytes | None) -> Any:
        # The first use of the client opens its connections; a copy of its transport does not.
        await self._client.__aenter__()
        return await super()._ask(request, body)


def _decoded(text: Any) -> Any:
    """Decode the text of an error reply, which the asynchronous client leaves undecoded."""
    try:
        return parse_json(text)
    except (TypeError, ValueError):
        return text


def _url(host: dict[str, Any]) -> str:
    scheme = "https" if host.get("use_ssl") else host.get("scheme", "http")
    return f"{scheme}://{host.get('host', 'localhost')}:{host.get('port', 9200)}"
