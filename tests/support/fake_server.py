"""A small HTTP server that says what it is told to, for replies that no real node can be brought to give."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """What the server says to a request: JSON, or a text of another type."""

    body: Any
    status: int = 200
    content_type: str = "application/json"
    product: str = "Elasticsearch"

    @property
    def raw(self) -> bytes:
        return self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()


@dataclass
class FakeServer:
    """Where it listens, and the method and path of each request that it has had."""

    url: str
    requests: list[str] = field(default_factory=list)


@contextmanager
def serving(answer: Answer | Callable[[str], Answer], *, tls: ssl.SSLContext | None = None) -> Iterator[FakeServer]:
    """A server on loopback that answers each request (named as in ``GET /``) in the same way."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _reply(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            request = f"{self.command} {self.path}"
            fake.requests.append(request)
            said = answer(request) if callable(answer) else answer
            self.send_response(said.status)
            self.send_header("Content-Type", said.content_type)
            self.send_header("Content-Length", str(len(said.raw)))
            self.send_header("X-Elastic-Product", said.product)
            self.end_headers()
            self.wfile.write(said.raw)

        do_GET = do_POST = do_PUT = do_DELETE = _reply  # noqa: N815 - the names that the base class calls

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """A client that breaks the connection off is part of a test."""

    with Server(("127.0.0.1", 0), Handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        fake = FakeServer(f"{'http' if tls is None else 'https'}://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield fake
        finally:
            server.shutdown()
            thread.join()
