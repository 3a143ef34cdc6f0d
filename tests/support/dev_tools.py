"""Requests as they are typed into Dev Tools, read as Kibana and OpenSearch Dashboards both read them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from es_simhash._core.json_codec import Json

_BETWEEN = re.compile(r"(?:#.*|[ \t]*)\n")
_START = re.compile(r"(GET|POST|PUT|DELETE|HEAD) (\S+)\n")


@dataclass(frozen=True)
class Request:
    """A request as it is sent; several lines of JSON, as of ``_msearch``, are a tuple."""

    method: str
    path: str
    body: Json | tuple[Json, ...] | None = None


def requests(text: str) -> list[Request]:
    """Return the requests of a text; a ValueError shows the line that one of the two would take otherwise.

    Comments and empty lines stand between requests only, and a body begins on the line below its path.
    """
    parts = f"{text}\n".split('"""')
    # What stands between triple quotes is taken as it is.
    plain = "".join(json.dumps(part) if number % 2 else part for number, part in enumerate(parts))
    found: list[Request] = []
    place = 0
    while place < len(plain):
        if between := _BETWEEN.match(plain, place):
            place = between.end()
            continue
        start = _START.match(plain, place)
        if start is None or len(parts) % 2 == 0:
            raise ValueError(f"This is not the beginning of a request: {plain[place : place + 100]!r}")
        place = start.end()
        bodies: list[Json] = []
        while plain.startswith("{", place):
            line, place = json.JSONDecoder().raw_decode(plain, place)
            bodies.append(line)
            place += plain.startswith("\n{", place)
        body = tuple(bodies) if len(bodies) > 1 else next(iter(bodies), None)
        found.append(Request(start[1], f"/{start[2].lstrip('/')}", body))
    return found
