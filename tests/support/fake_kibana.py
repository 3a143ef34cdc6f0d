"""A small server that imports saved objects as Kibana and OpenSearch Dashboards do, and refuses what they refuse."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.policy import HTTP
from typing import Any

from tests.support.http_server import Answer, Request, listening
from tests.support.saved_objects import problems

Json = dict[str, Any]


@dataclass
class FakeKibana:
    """Its URL, and what it received: objects by type and id."""

    url: str
    name: str
    stored: dict[tuple[str, str], Json] = field(default_factory=dict)

    def respond(self, request: Request) -> Answer:
        """Answer an import, and do it."""
        if request.path != "/api/saved_objects/_import?overwrite=true":
            return Answer({"message": "Not Found"}, 404)
        if f"{'osd' if self.name == 'opensearch' else 'kbn'}-xsrf" not in request.headers:
            return Answer({"message": "Request must contain an xsrf header."}, 400)
        objects = _objects(request.headers["content-type"], request.body)
        if found := problems(objects):
            return Answer({"message": found[0]}, 400)
        self.stored |= {(each["type"], each["id"]): each for each in objects}
        return Answer({"success": True, "successCount": len(objects)})


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


@contextmanager
def kibana(name: str) -> Iterator[FakeKibana]:
    """Run a server on loopback."""
    fake = FakeKibana("", name)
    with listening(fake.respond) as fake.url:
        yield fake
