"""A small server that imports saved objects as Kibana and OpenSearch Dashboards do, and refuses what they refuse.

As a Kibana without security, it imports into spaces that nobody has made, too.
"""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.policy import HTTP
from typing import Any

from tests.support.http_server import Answer, Request, listening
from tests.support.saved_objects import problems

Json = dict[str, Any]

_SPACE = re.compile(r"(/base)?/api/spaces/space/(?P<space>[a-z0-9_-]+)")
_PATH = re.compile(r"(?P<base>/base)?(/s/(?P<space>[a-z0-9_-]+))?/api/saved_objects/_import\?overwrite=true")


@dataclass
class FakeKibana:
    """Its URL, what it asks for, and what it received: objects by space or tenant, type and id."""

    url: str
    name: str = "kibana"
    spaces: tuple[str, ...] = ("default",)
    login: str | None = None
    answer: tuple[int, Any] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    stored: dict[tuple[str, str, str], Json] = field(default_factory=dict)
    received: list[Json] = field(default_factory=list)

    def reply(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Any]:
        """Answer an import, and do it."""
        self.received.append({"path": path, **headers})
        address = _PATH.fullmatch(path)
        space = headers.get("securitytenant") or (address and address["space"]) or "default"
        asked = _SPACE.fullmatch(path)
        if refused := self.answer or self._refused(bool(address or asked), headers):
            return refused
        if asked:
            there = asked["space"] in self.spaces
            return (200, {"id": asked["space"]}) if there else _error(404, "Not Found")
        objects = _objects(headers["content-type"], body)
        if found := problems(objects):
            return _error(422 if "migrationVersion" in found[0] else 400, found[0])
        return 200, {"success": True, "successCount": len(objects), "successResults": self._store(space, objects)}

    def _refused(self, is_known: bool, headers: dict[str, str]) -> tuple[int, Json] | None:
        if not is_known:
            return _error(404, "Not Found")
        if f"{'osd' if self.name == 'opensearch' else 'kbn'}-xsrf" not in headers:
            return _error(400, "Request must contain an xsrf header.")
        if self.login and headers.get("authorization") != self.login:
            return _error(401, "Unauthorized" if "authorization" not in headers else "unable to authenticate user")
        return None

    def _store(self, space: str, objects: list[Json]) -> list[Json]:
        """Store objects; as from Kibana 8 on, one gets a new id if another space has its id."""
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
    """Read the lines of the only file in a form."""
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
    """Run a server on loopback."""
    fake = FakeKibana("", **settings)

    def respond(request: Request) -> Answer:
        status, body = fake.reply(request.path, request.headers, request.body)
        own_name = "osd-name" if fake.name == "opensearch" else "kbn-name"
        return Answer(body, status, headers={own_name: "host", **fake.headers})

    with listening(respond, tls=tls) as fake.url:
        yield fake
