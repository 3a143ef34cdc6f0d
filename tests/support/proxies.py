"""Proxies before a node: one that keeps from everybody which engine it is, and one that falls silent."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from tools.nodes import Node

_OWN = {"connection", "content-length", "keep-alive", "transfer-encoding", "host"}

# What a proxy itself answers to a request (named as in ``GET /``): a status and JSON; None to hand it to the node.
Answer: TypeAlias = Callable[[str], "tuple[int, bytes] | None"]

Then: TypeAlias = Literal["answers", "silence", "refusal"]
_REFUSAL = (403, b'{"status": 403, "error": {"type": "security_exception", "reason": "refused"}}')


@contextmanager
def reticent(node: Node, status: int = 404) -> Iterator[str]:
    """The URL of a proxy that answers GET / with this status, as OpenSearch Serverless does."""
    with proxy(node, lambda request: (status, b'{"status": %d}' % status) if request == "GET /" else None) as url:
        yield url


class Moment:
    """The moment at which a proxy has had a number of requests; from then on it answers, is silent, or refuses all.

    ``come`` is set at it, and ``first`` is when the first request came.
    """

    def __init__(self, requests: int, then: Then) -> None:
        self._left = requests
        self._then = then
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self.come = threading.Event()
        self.first: float | None = None

    def __call__(self, request: str) -> tuple[int, bytes] | None:
        """Hear of a request; what comes in the silence, or is refused, is never handed to the node."""
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
        """Let whoever waits for an answer go."""
        self._is_over.set()


@contextmanager
def proxy(node: Node, answer: Answer) -> Iterator[str]:
    """The URL of a proxy that hands to the node what it does not answer itself."""
    address = urlsplit(node.url).netloc

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _reply(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if own := answer(f"{self.command} {self.path}"):
                self._send(own[0], {"Content-Type": "application/json"}, own[1])
                return
            headers = {name: value for name, value in self.headers.items() if name.lower() not in _OWN}
            with closing(HTTPConnection(address)) as connection:
                connection.request(self.command, self.path, body, headers)
                reply = connection.getresponse()
                told = {name: value for name, value in reply.getheaders() if name.lower() not in _OWN}
                self._send(reply.status, told, reply.read())

        def _send(self, code: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(code)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_DELETE = _reply  # noqa: N815 - the names that the base class calls

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """A client that is interrupted breaks its connections off."""

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
