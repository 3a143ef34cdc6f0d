"""Connecting: an engine for a client, a URL, a directory, or nothing."""

from __future__ import annotations

import inspect
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, cast

from es_simhash._core.urls import each_url, is_url, origin, split_url
from es_simhash.engines.base import AsyncEngine, Engine
from es_simhash.engines.connect_url import Server, connect_to, connect_to_async
from es_simhash.engines.elasticsearch import AsyncElasticsearchEngine, ElasticsearchEngine
from es_simhash.engines.opensearch import AsyncOpenSearchEngine, OpenSearchEngine
from es_simhash.engines.server_kind import Distribution
from es_simhash.errors import InputError
from es_simhash.plans.operations import WRITES, Operation

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

Result = TypeVar("Result")

DEFAULT_DIRECTORY = ".es-simhash"


class Client(Protocol):
    """A client of elasticsearch-py or opensearch-py, asynchronous or not."""

    def bulk(self, *args: Any, **kwargs: Any) -> Any:
        """Send a bulk request."""


Target: TypeAlias = str | os.PathLike[str] | Client | Engine | AsyncEngine | None
"""Where an index is: the URL of a server, your own client, a directory for the embedded engine, or an engine."""


def connect(target: Target = None, *, distribution: Distribution | None = None, **client_options: Any) -> Engine:
    """Return an engine for ``target``, which is one of these:

    - an engine: itself;
    - an `elasticsearch.Elasticsearch` or `opensearchpy.OpenSearch`: this client, as configured. ``distribution`` names
      the server's kind where the server does not;
    - an http(s) URL: a client created with ``client_options``, named as in the elasticsearch client (``basic_auth``,
      ``api_key``, ``ca_certs``, ``request_timeout`` …). The server is asked for its kind, unless ``distribution`` names
      it. A user and password in the URL become ``basic_auth``. The default port is 9200 for http, 443 for https.
      Several nodes of a cluster are ``"http://a:9200,http://b:9200"``: where one is away, another is asked;
    - a directory, or None for ``./.es-simhash``: the embedded engine.

    >>> with Index("articles", connect("articles.db")) as index:
    ...     index
    Index('articles' by EmbeddedEngine)
    """
    if isinstance(target, str) and is_url(target):
        return connect_to(Server.at(str(target), client_options), distribution)
    _refuse_options(target, distribution, client_options)
    if target is None or isinstance(target, (str, os.PathLike)):
        return _embedded(target)
    engine = _engine_over(target, distribution)
    if inspect.iscoroutinefunction(engine.perform):
        raise InputError(
            f"This {type(target).__name__} is asynchronous. Use connect_async, or its synchronous sibling."
        )
    return cast(Engine, engine)


async def connect_async(
    target: Target = None, *, distribution: Distribution | None = None, **client_options: Any
) -> AsyncEngine:
    """Return an asynchronous engine for ``target``, as `connect` does, but for asynchronous engines and clients.

    The embedded engine reads in one thread and writes in another, one operation at a time in each.

    >>> async def closed():
    ...     await (await connect_async("articles.db")).close()
    >>> asyncio.run(closed())
    """
    if isinstance(target, str) and is_url(target):
        return await connect_to_async(Server.at(str(target), client_options), distribution)
    _refuse_options(target, distribution, client_options)
    if target is None or isinstance(target, (str, os.PathLike)):
        return ThreadedEngine(_embedded(target))
    engine = _engine_over(target, distribution)
    if not inspect.iscoroutinefunction(engine.perform):
        raise InputError(f"This {type(target).__name__} is synchronous. Use connect, or its asynchronous sibling.")
    return cast(AsyncEngine, engine)


def place_of(target: Target) -> str:
    """Write where a target is, without its credentials."""
    if target is None or isinstance(target, (str, os.PathLike)):
        place = os.fspath(target or DEFAULT_DIRECTORY)
        if not is_url(place):
            return f"in {place}"
        nodes = [split_url(each) for each in each_url(place)]
        return f"at {', '.join(origin(each, each.port) for each in nodes if each)}"
    return f"by {type(target).__name__}"


class ThreadedEngine:
    """A synchronous engine made asynchronous: one thread reads, another writes, each one operation after the other."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._reading, self._writing = (ThreadPoolExecutor(1, f"es-simhash-{does}") for does in ("reads", "writes"))

    async def perform(self, operation: Operation[Result]) -> Result:
        """Perform one operation; raise an `EngineError` if it fails."""
        thread = self._writing if isinstance(operation, WRITES) else self._reading
        return await _loop().run_in_executor(thread, self._engine.perform, operation)

    async def close(self) -> None:
        """Finish pending work, and close the engine."""
        await _loop().run_in_executor(self._writing, self._close)
        self._writing.shutdown()

    def _close(self) -> None:
        self._reading.shutdown()
        self._engine.close()


def _loop() -> AbstractEventLoop:
    from asyncio import get_running_loop  # see `es_simhash.engines.base`

    return get_running_loop()


def _refuse_options(target: object, distribution: str | None, client_options: dict[str, Any]) -> None:
    is_client = not (target is None or isinstance(target, (str, os.PathLike)) or hasattr(target, "perform"))
    given = [*(["distribution"] if distribution and not is_client else []), *client_options]
    if given:
        raise InputError(f"{', '.join(given)}: such options go with a URL only. Set them on the client itself.")


def _embedded(directory: str | os.PathLike[str] | None) -> Engine:
    from es_simhash.engines.embedded import EmbeddedEngine

    return EmbeddedEngine(Path(directory or DEFAULT_DIRECTORY))


def _engine_over(target: Any, distribution: Distribution | None) -> Engine | AsyncEngine:
    """Return the target if it is an engine, else an engine over this client."""
    if hasattr(target, "perform"):
        engine: Engine | AsyncEngine = target
        return engine
    for base in type(target).__mro__:
        match base.__module__.partition(".")[0], base.__name__:
            case "elasticsearch", "Elasticsearch":  # this client works with nothing else
                return ElasticsearchEngine(target, distribution=distribution or "elasticsearch")
            case "elasticsearch", "AsyncElasticsearch":
                return AsyncElasticsearchEngine(target, distribution=distribution or "elasticsearch")
            case "opensearchpy", "OpenSearch":
                return OpenSearchEngine(target, distribution=distribution)
            case "opensearchpy", "AsyncOpenSearch":
                return AsyncOpenSearchEngine(target, distribution=distribution)
    raise InputError(
        f"Cannot connect to a {type(target).__name__}. "
        "Give an engine, a client of elasticsearch-py or opensearch-py, an http(s) URL, or a directory."
    )
