"""Connecting: an engine for a client, a URL, a directory, or nothing."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeGuard, TypeVar, cast
from urllib.parse import urlsplit

from es_simhash._core.json_codec import parse_json
from es_simhash._core.urls import credentials, each_url, is_url, origin, split_url
from es_simhash.engines.base import AsyncEngine, Engine
from es_simhash.engines.elasticsearch import AsyncElasticsearchEngine, ElasticsearchEngine
from es_simhash.engines.opensearch import AsyncOpenSearchEngine, OpenSearchEngine
from es_simhash.errors import (
    ClientVersionError,
    EngineError,
    InputError,
    MissingExtraError,
    UnreachableError,
    UntrustedError,
)
from es_simhash.plans.operations import GetInfo, Operation, Write

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from ssl import SSLContext

Result = TypeVar("Result")

DEFAULT_DIRECTORY = ".es-simhash"

Distribution: TypeAlias = Literal["elasticsearch", "opensearch"]

# The engines by the library and the name of their clients.
_ENGINES: Mapping[tuple[str, str], Callable[..., Any]] = {
    ("elasticsearch", "Elasticsearch"): ElasticsearchEngine,
    ("elasticsearch", "AsyncElasticsearch"): AsyncElasticsearchEngine,
    ("opensearchpy", "OpenSearch"): OpenSearchEngine,
    ("opensearchpy", "AsyncOpenSearch"): AsyncOpenSearchEngine,
}


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
    engine = _engine_at(target, distribution, client_options)
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
    engine = _engine_at(target, distribution, client_options)
    if _is_place(target):
        return ThreadedEngine(cast(Engine, engine))
    if not inspect.iscoroutinefunction(engine.perform):
        raise InputError(f"This {type(target).__name__} is synchronous. Use connect, or its asynchronous sibling.")
    return cast(AsyncEngine, engine)


def place_of(target: Target) -> str:
    """Write where a target is, without its credentials."""
    if _is_place(target):
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
        thread = self._writing if isinstance(operation, Write) else self._reading
        return await _loop().run_in_executor(thread, self._engine.perform, operation)

    async def close(self) -> None:
        """Finish pending work, and close the engine."""
        await _loop().run_in_executor(self._writing, self._close)
        self._writing.shutdown()

    def _close(self) -> None:
        self._reading.shutdown()
        self._engine.close()


def _loop() -> AbstractEventLoop:
    from asyncio import get_running_loop  # takes synchronous programs a tenth of their start

    return get_running_loop()


def _is_place(target: object) -> TypeGuard[str | os.PathLike[str] | None]:
    return target is None or isinstance(target, (str, os.PathLike))


def _engine_at(
    target: Any, distribution: Distribution | None, client_options: Mapping[str, Any]
) -> Engine | AsyncEngine:
    """Return the target if it is an engine, an engine over this client, or the embedded one in this directory."""
    is_engine = hasattr(target, "perform")
    is_client = not (_is_place(target) or is_engine)
    given = [*(["distribution"] if distribution and not is_client else []), *client_options]
    if given:
        raise InputError(f"{', '.join(given)}: such options go with a URL only. Set them on the client itself.")
    if _is_place(target):
        from es_simhash.engines.embedded import EmbeddedEngine

        return EmbeddedEngine(Path(target or DEFAULT_DIRECTORY))
    engine: Engine | AsyncEngine = target
    if is_engine:
        return engine
    for base in type(target).__mro__:
        library = base.__module__.partition(".")[0]
        if make := _ENGINES.get((library, base.__name__)):
            # Elasticsearch's client works with nothing else.
            engine = make(
                target, distribution=distribution or ("elasticsearch" if library == "elasticsearch" else None)
            )
            return engine
    raise InputError(
        f"Cannot connect to a {type(target).__name__}. "
        "Give an engine, a client of elasticsearch-py or opensearch-py, an http(s) URL, or a directory."
    )


# ---- URLs: which server answers, and the client for it

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
        return cast(Engine, _new_engine(server, distribution, distribution))
    guess = _guess(server)
    engine: Engine = _new_engine(server, guess)
    try:
        found = engine.perform(GetInfo()).distribution
    except EngineError as error:
        engine.close()
        _check_scheme(server, error)
        return cast(Engine, _new_engine(server, _revealed_by(error)))
    if found == guess:
        return engine
    engine.close()
    return cast(Engine, _new_engine(server, found))


async def connect_to_async(server: Server, distribution: Distribution | None) -> AsyncEngine:
    """Return an asynchronous engine for a server (see `connect_to`)."""
    if distribution:
        return cast(AsyncEngine, _new_engine(server, distribution, distribution, is_async=True))
    guess = await _loop().run_in_executor(None, _guess, server)
    engine: AsyncEngine = _new_engine(server, guess, is_async=True)
    try:
        found = (await engine.perform(GetInfo())).distribution
    except BaseException as error:  # a task that is cancelled here leaves no connection open
        await engine.close()
        if not isinstance(error, EngineError):
            raise
        await _loop().run_in_executor(None, _check_scheme, server, error)
        return cast(AsyncEngine, _new_engine(server, _revealed_by(error), is_async=True))
    if found == guess:
        return engine
    await engine.close()
    return cast(AsyncEngine, _new_engine(server, found, is_async=True))


def _check_scheme(server: Server, error: EngineError) -> None:
    """Raise the error that says so if the server did not answer because it answers only by TLS."""
    if isinstance(error, UnreachableError):
        for address in server.addresses:
            if address.startswith("http://") and speaks_tls(address):
                raise UntrustedError(f"{address} answers only by TLS. Use https:// in the address.") from error


def _guess(server: Server) -> Distribution:
    """Return the distribution whose client is to identify the server; with both, Elasticsearch's can do so, too."""
    if find_spec("elasticsearch"):
        if not find_spec("opensearchpy"):
            return "elasticsearch"
        return next((kind for each in server.addresses if (kind := apparent_kind(each))), "elasticsearch")
    if find_spec("opensearchpy"):
        return "opensearch"
    raise MissingExtraError("elasticsearch (or, for OpenSearch, opensearch-py)", "elasticsearch")


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


def _new_engine(server: Server, distribution: str, given: str | None = None, *, is_async: bool = False) -> Any:
    """Return an engine over a new client; ``given`` is the distribution if the server need not be asked for it."""
    if is_async and not find_spec("aiohttp"):
        raise MissingExtraError("aiohttp", distribution)
    match distribution:
        case "elasticsearch":
            package, library, name = "elasticsearch", "elasticsearch", "Elasticsearch"
            options = {"connections_per_node": _CONNECTIONS, **server.options}
        case "opensearch":
            package, library, name = "opensearch-py", "opensearchpy", "OpenSearch"
            options = {"maxsize" if is_async else "pool_maxsize": _CONNECTIONS, **_renamed(server.options)}
        case _:
            raise InputError(f"The distribution {distribution!r} is unknown. Choose elasticsearch or opensearch.")
    name = f"Async{name}" if is_async else name
    try:
        client = getattr(import_module(library), name)
    except ImportError:
        raise MissingExtraError(package, distribution) from None
    try:
        made = client(server.addresses, **options)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} does not take these options: {error}. "
            "Correct them, or name the engine that they are for: distribution='elasticsearch' or 'opensearch'."
        ) from None
    return _ENGINES[library, name](made, distribution=given, closes_client=True)


def _renamed(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with their names in opensearch-py."""
    names = {option: _OPENSEARCH_NAMES.get(option, option) for option in options}
    for option, name in names.items():
        if name is None:
            raise InputError(f"opensearch-py has no option {option}. Pass headers={{'authorization': …}} instead.")
    return {name: options[option] for option, name in names.items() if name}


# ---- which kind of server answers, asked without any client, since loading one takes a fifth of a second

# The seconds after which the server is left to a client, and how much of its answer is read.
_PATIENCE, _MOST = 2.0, 1 << 16


def apparent_kind(address: str) -> Distribution | None:
    """Return the kind that a server seems to be; None if it cannot be reached so, or does not show it.

    It is asked without credentials, and its certificate is not verified: a client does both before anything counts.
    """
    from http.client import HTTPConnection, HTTPException, HTTPSConnection

    parts = urlsplit(address)
    host, port = parts.hostname or "", parts.port
    if parts.scheme == "https":
        connection: HTTPConnection = HTTPSConnection(host, port, timeout=_PATIENCE, context=_unverified())
    else:
        connection = HTTPConnection(host, port, timeout=_PATIENCE)
    with closing(connection):
        try:
            connection.request("GET", f"{parts.path}/", headers={"accept": "application/json"})
            reply = connection.getresponse()
            return _kind_of(dict(reply.getheaders()), reply.read(_MOST))
        except (OSError, HTTPException, ValueError):
            return None


def speaks_tls(address: str) -> bool:
    """Return whether the server at an ``http://`` address begins TLS, where it may have broken off what was asked."""
    import socket

    parts = urlsplit(address)
    try:
        with (
            socket.create_connection((parts.hostname or "", parts.port or 80), timeout=_PATIENCE) as plain,
            _unverified().wrap_socket(plain, server_hostname=parts.hostname),
        ):
            return True
    except OSError:
        return False


def _unverified() -> SSLContext:
    import ssl

    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _kind_of(headers: dict[str, str], body: bytes) -> Distribution | None:
    named = {name.lower(): value for name, value in headers.items()}
    if named.get("x-elastic-product") == "Elasticsearch":
        return "elasticsearch"
    # Without credentials, OpenSearch's security only names itself.
    if "opensearch" in named.get("www-authenticate", "").lower():
        return "opensearch"
    match parse_json(body):
        case {"version": {"distribution": "opensearch"}}:
            return "opensearch"
    return None
