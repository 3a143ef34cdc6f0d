"""Connecting to a URL: find out which server answers, and create the client for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from es_simhash._core.urls import credentials, each_url, origin, split_url
from es_simhash.engines.base import AsyncEngine, Engine
from es_simhash.engines.elasticsearch import AsyncElasticsearchEngine, ElasticsearchEngine
from es_simhash.engines.opensearch import AsyncOpenSearchEngine, OpenSearchEngine
from es_simhash.engines.rest.errors import needs_tls
from es_simhash.engines.server_kind import Distribution, apparent_kind, speaks_tls
from es_simhash.errors import ClientVersionError, EngineError, InputError, MissingExtraError, UnreachableError
from es_simhash.plans.operations import GetInfo

# How many connections stay open: a backfill in ten slices has a reader and two writers for each. With fewer, the others
# would be opened again for each request.
_CONNECTIONS = 32
_DEFAULT_PORTS = {"http": 9200, "https": 443}

# The names of the elasticsearch client's options in opensearch-py (None: it would ignore this option).
_OPENSEARCH_NAMES = {"basic_auth": "http_auth", "request_timeout": "timeout", "api_key": None, "bearer_auth": None}


@dataclass(frozen=True)
class Server:
    """An address without credentials, and the client options, which hold them and so are not shown.

    Several nodes of one cluster have their addresses in one text, with commas between them.
    """

    address: str
    options: Mapping[str, Any] = field(repr=False)

    @classmethod
    def at(cls, url: str, options: Mapping[str, Any]) -> Server:
        """Return the server at a URL, or at those of its nodes; a user and password there become ``basic_auth``."""
        urls = each_url(url)
        address = ",".join(map(_address, urls))
        logins = {login for each in urls if (login := credentials(each))}
        if len({each.partition(":")[0] for each in address.split(",")}) > 1 or len(logins) > 1:
            raise InputError(
                f"The URLs of {address} do not belong together. Give all nodes of one cluster with http or all with "
                "https, and the user and password once."
            )
        if not logins:
            return cls(address, options)
        if {"basic_auth", "http_auth", "api_key", "bearer_auth"} & options.keys():
            raise InputError(f"Credentials for {address} are both in the URL and in an option. Give them once.")
        [(user, password)] = logins
        return cls(address, {**options, "basic_auth": (user, password or "")})

    @property
    def addresses(self) -> list[str]:
        """The address of each node."""
        return self.address.split(",")


def _address(url: str) -> str:
    parts = split_url(url)
    if parts is None or parts.query or parts.fragment or "," in f"{parts.hostname}{parts.path}":
        raise InputError(
            "The URL cannot be read. Write it as http://user:password@host:port, with characters such as / # ? @ in "
            "the password percent-encoded, or pass basic_auth=(user, password). Several nodes of one cluster are "
            "http://host:port,http://host:port."
        )
    return origin(parts, parts.port or _DEFAULT_PORTS[parts.scheme]) + parts.path.rstrip("/")


def connect_to(server: Server, distribution: Distribution | None) -> Engine:
    """Return an engine for a server; ask it for its distribution unless that is given."""
    if distribution:
        return _engine(server, distribution, distribution)
    guess = _guess(server)
    engine = _engine(server, guess)
    try:
        found = engine.perform(GetInfo()).distribution
    except EngineError as error:
        engine.close()
        _check_scheme(server, error)
        return _engine(server, _revealed_by(error))
    if found == guess:
        return engine
    engine.close()
    return _engine(server, found)


async def connect_to_async(server: Server, distribution: Distribution | None) -> AsyncEngine:
    """Return an asynchronous engine for a server (see `connect_to`)."""
    if distribution:
        return _async_engine(server, distribution, distribution)
    from asyncio import get_running_loop  # see `es_simhash.engines.base`

    guess = await get_running_loop().run_in_executor(None, _guess, server)
    engine = _async_engine(server, guess)
    try:
        found = (await engine.perform(GetInfo())).distribution
    except BaseException as error:  # a task that is cancelled here leaves no connection open
        await engine.close()
        if not isinstance(error, EngineError):
            raise
        await get_running_loop().run_in_executor(None, _check_scheme, server, error)
        return _async_engine(server, _revealed_by(error))
    if found == guess:
        return engine
    await engine.close()
    return _async_engine(server, found)


def _check_scheme(server: Server, error: EngineError) -> None:
    """Raise the error that says so if the server did not answer because it answers only by TLS."""
    if isinstance(error, UnreachableError):
        for address in server.addresses:
            if address.startswith("http://") and speaks_tls(address):
                raise needs_tls(address) from error


def _guess(server: Server) -> Distribution:
    """Return the distribution whose client is to identify the server; with both, Elasticsearch's can do so, too."""
    if find_spec("elasticsearch"):
        return (find_spec("opensearchpy") and _apparent_kind(server)) or "elasticsearch"
    if find_spec("opensearchpy"):
        return "opensearch"
    raise MissingExtraError("elasticsearch (or, for OpenSearch, opensearch-py)", "elasticsearch")


def _apparent_kind(server: Server) -> Distribution | None:
    """Return the kind that the first node which answers seems to be."""
    return next((kind for each in server.addresses if (kind := apparent_kind(each))), None)


def _revealed_by(error: EngineError) -> str:
    """Return the distribution that a failed request reveals; raise if it reveals none."""
    match getattr(error.__cause__, "body", None):
        case {"version": {"distribution": str(distribution)}}:
            return distribution
    if isinstance(error, (ClientVersionError, UnreachableError)):
        raise error
    raise type(error)(
        f"{error} If the engine must not be asked for its type, name it: distribution='elasticsearch' or 'opensearch'."
    ) from error.__cause__


def _engine(server: Server, distribution: str, given: str | None = None) -> Engine:
    match distribution:
        case "elasticsearch":
            client = _elasticsearch_client(server, "Elasticsearch")
            return ElasticsearchEngine(client, distribution=given, closes_client=True)
        case "opensearch":
            return OpenSearchEngine(_opensearch_client(server, "OpenSearch"), distribution=given, closes_client=True)
    raise _unknown(distribution)


def _async_engine(server: Server, distribution: str, given: str | None = None) -> AsyncEngine:
    if not find_spec("aiohttp"):
        raise MissingExtraError("aiohttp", distribution)
    match distribution:
        case "elasticsearch":
            client = _elasticsearch_client(server, "AsyncElasticsearch")
            return AsyncElasticsearchEngine(client, distribution=given, closes_client=True)
        case "opensearch":
            client = _opensearch_client(server, "AsyncOpenSearch")
            return AsyncOpenSearchEngine(client, distribution=given, closes_client=True)
    raise _unknown(distribution)


def _unknown(distribution: str) -> InputError:
    return InputError(f"The distribution {distribution!r} is unknown. Choose elasticsearch or opensearch.")


def _elasticsearch_client(server: Server, name: str) -> Any:
    try:
        import elasticsearch
    except ImportError:
        raise MissingExtraError("elasticsearch", "elasticsearch") from None
    return _made(
        getattr(elasticsearch, name), server.addresses, {"connections_per_node": _CONNECTIONS, **server.options}
    )


def _opensearch_client(server: Server, name: str) -> Any:
    try:
        import opensearchpy
    except ImportError:
        raise MissingExtraError("opensearch-py", "opensearch") from None
    options: dict[str, Any] = {"pool_maxsize" if name == "OpenSearch" else "maxsize": _CONNECTIONS}
    for option, value in server.options.items():
        own_name = _OPENSEARCH_NAMES.get(option, option)
        if own_name is None:
            raise InputError(f"opensearch-py has no option {option}. Pass headers={{'authorization': …}} instead.")
        options[own_name] = value
    return _made(getattr(opensearchpy, name), server.addresses, options)


def _made(client: Callable[..., Any], addresses: Sequence[str], options: Mapping[str, Any]) -> Any:
    try:
        return client(addresses, **options)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{client.__name__} does not take these options: {error}. "
            "Correct them, or name the engine that they are for: distribution='elasticsearch' or 'opensearch'."
        ) from None
