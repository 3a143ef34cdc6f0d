"""A small server that takes saved objects as Kibana and OpenSearch Dashboards do, and refuses what they would."""

from __future__ import annotations

import json
import re
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.saved_objects import problems

Json = dict[str, Any]

_PATH = re.compile(r"(?P<base>/base)?(/s/(?P<space>[a-z0-9_-]+))?/api/saved_objects/_import\?overwrite=true")


@dataclass
class FakeKibana:
    """Where it is, what it asks for, and what it was given: objects by space or tenant, type and id."""

    url: str
    name: str = "kibana"
    spaces: tuple[str, ...] = ("default",)
    login: str | None = None
    answer: tuple[int, Any] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    stored: dict[tuple[str, str, str], Json] = field(default_factory=dict)
    received: list[Json] = field(default_factory=list)

    def reply(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Any]:
        """What is said to an import, and what comes of it."""
        self.received.append({"path": path, **headers})
        found = _PATH.fullmatch(path)
        space = headers.get("securitytenant") or (found and found["space"]) or "default"
        if refused := self.answer or self._refused(found is not None, space, headers):
            return refused
        objects = _objects(headers["content-type"], body)
        if told := problems(objects):
            return _error(422 if "migrationVersion" in told[0] else 400, told[0])
        return 200, {"success": True, "successCount": len(objects), "successResults": self._store(space, objects)}

    def _refused(self, is_known: bool, space: str, headers: dict[str, str]) -> tuple[int, Json] | None:
        if not is_known:
            return _error(404, "Not Found")
        if f"{'osd' if self.name == 'opensearch' else 'kbn'}-xsrf" not in headers:
            return _error(400, "Request must contain an xsrf header.")
        if self.login and headers.get("authorization") != self.login:
            return _error(401, "Unauthorized" if "authorization" not in headers else "unable to authenticate user")
        if space not in self.spaces:
            return _error(404, f"Saved object [space/{space}] not found")
        return None

    def _store(self, space: str, objects: list[Json]) -> list[Json]:
        """From Kibana 8 on an id that another space has is given anew."""
        results: list[Json] = []
        for each in objects:
            result: Json = {"type": each["type"], "id": each["id"], "meta": {}}
            others = {(kind, id_) for own, kind, id_ in self.stored if own != space}
            if (each["type"], each["id"]) in others:
                result["destinationId"] = f"new-{each['id']}"
            self.stored[space, each["type"], str(result.get("destinationId", each["id"]))] = each
            results.append(result)
        return results


def _objects(content_type: str, body: bytes) -> list[Json]:
    """The lines of the one file in a form."""
    form = message_from_bytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + body, policy=HTTP)
    assert form.get_content_type() == "multipart/form-data"
    (part,) = form.iter_parts()
    assert part.get_param("name", header="content-disposition") == "file"
    assert str(part.get_filename()).endswith(".ndjson")
    content = part.get_payload(decode=True)
    assert isinstance(content, bytes)
    return [json.loads(line) for line in content.decode().splitlines()]


def _error(status: int, message: str) -> tuple[int, Json]:
    return status, {"statusCode": status, "error": "error", "message": message}


@contextmanager
def kibana(*, tls: ssl.SSLContext | None = None, **settings: Any) -> Iterator[FakeKibana]:
    """A server on loopback."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, said = fake.reply(self.path, headers, body)
            raw = said.encode() if isinstance(said, str) else json.dumps(said).encode()
            own_name = {"osd-name": "host"} if fake.name == "opensearch" else {"kbn-name": "host"}
            self.send_response(status)
            for name, value in {**own_name, **fake.headers, "Content-Length": str(len(raw))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """A client that breaks the connection off is part of a test."""

    with Server(("127.0.0.1", 0), Handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        fake = FakeKibana(f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}", **settings)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield fake
        finally:
            server.shutdown()
            thread.join()
