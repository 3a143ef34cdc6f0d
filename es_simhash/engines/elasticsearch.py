"""Elasticsearch through the user's elasticsearch-py client."""

from __future__ import annotations

import re
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from es_simhash.engines.rest.engine import (
    AsyncRestEngine,
    OverClient,
    RestEngine,
    Writer,
    content_type,
    fast_serializers,
)
from es_simhash.engines.rest.requests import Reply, Request, no_connection, timed_out, unreadable
from es_simhash.errors import ClientVersionError, install_command

if TYPE_CHECKING:
    from elastic_transport import ApiError
    from elasticsearch import AsyncElasticsearch, Elasticsearch

Client = TypeVar("Client", "Elasticsearch", "AsyncElasticsearch")


class _OverElasticsearch(OverClient[Client]):
    """What both kinds of client share: options, serializer and exceptions."""

    system = "elasticsearch"

    def __init__(self, client: Client, *, distribution: str | None = None, closes_client: bool = False) -> None:
        if not hasattr(client, "options"):
            raise ClientVersionError(
                "This client of elasticsearch-py is too old. Install a newer one: pip install 'elasticsearch>=8.12'"
            )
        given: Any = client
        super().__init__(given, distribution=distribution, closes_client=closes_client)

    def _ask(self, request: Request, body: bytes | None) -> Any:
        client = self._fast if request.repeatable else self._fast.options(max_retries=0)
        # To these headers, the client adds "compatible-with".
        headers = {"accept": "application/json"} | ({} if body is None else {"content-type": content_type(request)})
        return client.perform_request(
            request.method, request.path, params=request.params or None, headers=headers, body=body
        )

    def _reply(self, response: Any) -> Reply:
        return Reply(response.meta.status, response.body)

    @cached_property
    def _fast(self) -> Client:
        """A copy of the client, over a copy of its transport that shares all (nodes, logins …) but the serializers."""
        from elasticsearch.serializer import CompatibilityModeJsonSerializer, JsonSerializer

        standard = (JsonSerializer, CompatibilityModeJsonSerializer)
        fast, transport = copy(self._client), copy(self._client.transport)
        transport.serializers = copy(transport.serializers)
        transport.serializers.serializers = fast_serializers(transport.serializers.serializers, standard)
        fast._transport = transport
        return fast

    @cached_property
    def _writer(self) -> Writer:
        from elasticsearch import JsonSerializer

        return Writer(self._client.transport.serializers.get_serializer("application/json"), JsonSerializer)

    def _reply_to(self, error: Exception) -> Reply:
        from elastic_transport import ApiError, ConnectionTimeout, SerializationError, TransportError

        if isinstance(error, ApiError):
            if mismatch := _mismatch(error, self._address()):
                raise mismatch from error
            return Reply(error.meta.status, error.body)
        if isinstance(error, ConnectionTimeout):
            raise timed_out(self._address(), "request_timeout") from error
        if isinstance(error, SerializationError):
            raise unreadable(self._address(), str(error)) from error
        if isinstance(error, TransportError):
            raise no_connection(self._address(), error) from error
        raise error

    def _address(self) -> str:
        """Return the addresses of the client's nodes; these URLs hold no credentials."""
        return ", ".join(node.base_url for node in self._client.transport.node_pool.all())


class ElasticsearchEngine(_OverElasticsearch["Elasticsearch"], RestEngine["Elasticsearch"]):
    """Elasticsearch through an `elasticsearch.Elasticsearch`, with its own options (logins, TLS, timeouts …).

    Only its retries are switched off where a repeated request could take effect twice.
    """


class AsyncElasticsearchEngine(_OverElasticsearch["AsyncElasticsearch"], AsyncRestEngine["AsyncElasticsearch"]):
    """Elasticsearch through an `elasticsearch.AsyncElasticsearch`; otherwise like `ElasticsearchEngine`."""


def _mismatch(error: ApiError, address: str) -> ClientVersionError | None:
    """Return the error for a client and server that do not fit, if that is the cause."""
    from elasticsearch import UnsupportedProductError, __version__

    if not isinstance(error.body, dict):  # a proxy's page
        return None
    text, client = str(error.body), ".".join(map(str, __version__))
    if older := re.search(r"Accept version must be either version (\d+)", text):
        server = int(older[1])
        return ClientVersionError(
            f"{address} runs Elasticsearch {server}, which refuses the client elasticsearch {client}. "
            f"Install a matching one: pip install 'elasticsearch<{server + 1}'"
        )
    refuses_media_type = error.meta.status == 406 and "compatible-with" in text
    if isinstance(error, UnsupportedProductError) or refuses_media_type:
        return ClientVersionError(
            f"{address} does not identify itself as Elasticsearch, and the client elasticsearch accepts nothing else. "
            f"For OpenSearch, use a client of opensearch-py ({install_command('opensearch')}); "
            "if a proxy removes the header X-Elastic-Product, let it pass."
        )
    return None
