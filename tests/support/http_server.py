"""A small HTTP server on loopback: it answers by itself, or hands requests on to a node as a proxy."""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from tools.nodes import Node

# Headers of a single connection, which a proxy sets itself.
_OWN = {"connection", "content-length", "keep-alive", "transfer-encoding", "host"}


@dataclass(frozen=True)
class Answer:
    """An answer in JSON, in text of another type, or in bytes; ``headers`` replace the usual ones."""

    body: Any
    status: int = 200
    content_type: str = "application/json"
    product: str = "Elasticsearch"
    headers: dict[str, str] | None = None

    @property
    def raw(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()

    @property
    def sent_headers(self) -> dict[str, str]:
        usual = {"Content-Type": self.content_type, "X-Elastic-Product": self.product}
        return {**(usual if self.headers is None else self.headers), "Content-Length": str(len(self.raw))}


@dataclass(frozen=True)
class Request:
    """A request, which a proxy can forward to its node; the names of ``headers`` are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    upstream: HTTPConnection

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    def forward(self) -> Answer:
        headers = {name: value for name, value in self.headers.items() if name not in _OWN}
        self.upstream.request(self.method, self.path, self.body, headers)
        reply = self.upstream.getresponse()
        headers = {name: value for name, value in reply.getheaders() if name.lower() not in _OWN}
        return Answer(reply.read(), reply.status, headers=headers)


# None breaks the connection off.
Respond: TypeAlias = Callable[[Request], Answer | None]


@contextmanager
def listening(
    respond: Respond, *, node: Node | None = None, port: int = 0, tls: ssl.SSLContext | None = None
) -> Iterator[str]:
    """Run a server and yield its URL; ``node`` is where its requests can be forwarded."""
    address = urlsplit(node.url).netloc if node else "127.0.0.1"

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def setup(self) -> None:
            super().setup()
            self._upstream = HTTPConnection(address)

        def finish(self) -> None:
            super().finish()
            self._upstream.close()

        def _reply(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = respond(Request(self.command, self.path, headers, body, self._upstream))
            if answer is None:
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in answer.sent_headers.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.raw)

        do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _reply  # noqa: N815 - the names that the base class calls

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """Ignore a client that breaks its connection off."""

    with Server(("127.0.0.1", port), Handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@dataclass
class FakeServer:
    """The URL of a server, and the requests that it received, named as in ``GET /``."""

    url: str
    requests: list[str] = field(default_factory=list)


@contextmanager
def serving(answer: Answer | Callable[[str], Answer], *, tls: ssl.SSLContext | None = None) -> Iterator[FakeServer]:
    """Run a server that gives every request the same answer, or one chosen by the request's name."""
    requests: list[str] = []

    def respond(request: Request) -> Answer:
        requests.append(request.name)
        return answer(request.name) if callable(answer) else answer

    with listening(respond, tls=tls) as url:
        yield FakeServer(url, requests)


@contextmanager
def proxy(node: Node, answer: Callable[[str], Answer | None]) -> Iterator[str]:
    """Run a proxy that forwards to a node the requests that ``answer`` has no answer to."""
    with listening(lambda request: answer(request.name) or request.forward(), node=node) as url:
        yield url


@contextmanager
def reticent(node: Node, status: int = 404) -> Iterator[str]:
    """Run a proxy that answers ``GET /`` with this status, as OpenSearch Serverless does."""
    with proxy(node, lambda name: Answer({"status": status}, status) if name == "GET /" else None) as url:
        yield url


Then: TypeAlias = Literal["answers", "silence", "refusal"]
_REFUSAL = Answer({"status": 403, "error": {"type": "security_exception", "reason": "refused"}}, 403)


class Moment:
    """The moment at which a proxy has had a number of requests; from then on it answers, is silent, or refuses all.

    ``come`` is set at that moment, and ``first`` is the time of the first request.
    """

    def __init__(self, requests: int, then: Then) -> None:
        self._left = requests
        self._then = then
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self.come = threading.Event()
        self.first: float | None = None

    def __call__(self, name: str) -> Answer | None:
        """Count a request; one that meets silence or a refusal never reaches the node."""
        with self._lock:
            self.first = self.first or time.monotonic()
            self._left -= 1
            has_come = self._left <= 0
        if not has_come:
            return None
        self.come.set()
        if self._then == "silence":
            self._is_over.wait()
        return None if self._then == "answers" else _REFUSAL

    def end(self) -> None:
        """Release everyone who waits for an answer."""
        self._is_over.set()
