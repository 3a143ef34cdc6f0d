"""A proxy before a node that keeps from everybody which engine it is, as OpenSearch Serverless does."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from tests.nodes import Node

_OWN = {"connection", "content-length", "keep-alive", "transfer-encoding", "host"}


@contextmanager
def reticent(node: Node, status: int = 404) -> Iterator[str]:
    """The URL of a proxy that answers GET / with this status, and hands everything else to the node."""
    address = urlsplit(node.url).netloc

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _reply(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if (self.command, self.path) == ("GET", "/"):
                self._send(status, {"Content-Type": "application/json"}, b'{"status": %d}' % status)
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

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
