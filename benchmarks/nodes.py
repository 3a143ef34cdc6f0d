"""Real nodes to measure on, one at a time: a client, plain HTTP, and the size of an index."""

from __future__ import annotations

import http.client
import importlib
import json
import math
import os
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from es_simhash.engines.base import Engine
from es_simhash.engines.connect import connect
from es_simhash.plans.operations import Operation, Search
from tools.nodes import start_node

Json: TypeAlias = dict[str, Any]

SERVERS = {"elasticsearch": "Elasticsearch", "opensearch": "OpenSearch"}
"""Their names, and how people write them."""
HEAP = "2g"
CHUNK = 500
_PACKAGES = {"elasticsearch": ("elasticsearch", "Elasticsearch"), "opensearch": ("opensearchpy", "OpenSearch")}
_TIMEOUT_SECONDS, _PATIENCE_SECONDS = 1800, 60
# One shard that is refreshed when we say so. No query's result is kept, since the same ones are asked in every round.
SETTINGS: Json = {
    "number_of_shards": 1,
    "number_of_replicas": 0,
    "refresh_interval": "-1",
    "queries.cache.enabled": False,
}


class Http:
    """Plain HTTP over one connection that stays open."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self._connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=_TIMEOUT_SECONDS)

    def send(self, method: str, path: str, body: bytes | None = None) -> bytes:
        """Send a request, again if the server has too much to do; return the body of the reply."""
        media_type = "application/x-ndjson" if "_bulk" in path else "application/json"
        for _ in range(_PATIENCE_SECONDS):
            self._connection.request(method, path, body, {"Content-Type": media_type})
            response = self._connection.getresponse()
            reply = response.read()
            if response.status != HTTPStatus.TOO_MANY_REQUESTS:
                break
            time.sleep(1)
        if response.status >= 300:
            raise RuntimeError(f"{method} {path}: {response.status} {reply[:500]!r}")
        return reply

    def __call__(self, method: str, path: str, body: Json | None = None) -> Json:
        """Send a request; return the reply as JSON."""
        reply: Json = json.loads(self.send(method, path, None if body is None else json.dumps(body).encode()))
        return reply


class Recorder:
    """An engine that records searches and passes them to another."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.searches: list[Search] = []

    def perform(self, operation: Operation[Any]) -> Any:
        """Carry out one operation."""
        if isinstance(operation, Search):
            self.searches.append(operation)
        return self._engine.perform(operation)

    def close(self) -> None:
        """Leave the other engine open."""


@dataclass
class Server:
    """A running node, reached through its client and by plain HTTP."""

    name: str
    url: str
    pid: int | None = None
    http: Http = field(init=False)
    client: Any = field(init=False)
    helpers: Any = field(init=False)

    def __post_init__(self) -> None:
        package, client = _PACKAGES[self.name]
        option = "request_timeout" if self.name == "elasticsearch" else "timeout"
        self.http = Http(self.url)
        self.client = getattr(importlib.import_module(package), client)(self.url, **{option: _TIMEOUT_SECONDS})
        self.helpers = importlib.import_module(f"{package}.helpers")

    @property
    def engine(self) -> Engine:
        """Engine of the library over the client."""
        return connect(self.client)

    def cpu(self) -> float:
        """Return the CPU time of the server in seconds; NaN if it is not a process of this machine."""
        if self.pid is None:
            return math.nan
        user, system = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def create(self, index: str, properties: Json, analysis: Json | None = None) -> None:
        """Make an index of one shard."""
        settings = SETTINGS | ({"analysis": analysis} if analysis else {})
        self.http("PUT", f"/{index}", {"settings": {"index": settings}, "mappings": {"properties": properties}})

    def delete(self, index: str) -> None:
        """Remove an index."""
        self.http("DELETE", f"/{index}")

    def load(self, index: str, actions: Iterable[Json]) -> None:
        """Write documents as most people do, by ``helpers.bulk``."""
        self.helpers.bulk(self.client, actions, index=index, chunk_size=CHUNK)

    def fill(self, index: str, actions: Iterable[Json]) -> None:
        """Write documents as quickly as the helpers do, where it is not measured."""
        deque(self.helpers.parallel_bulk(self.client, actions, index=index, chunk_size=CHUNK, thread_count=2), maxlen=0)

    def merge(self, index: str) -> None:
        """Merge the index to one segment."""
        for step in ("_refresh", "_forcemerge?max_num_segments=1", "_flush", "_refresh"):
            self.http("POST", f"/{index}/{step}")

    def size(self, index: str) -> int:
        """Return the size of the index in bytes."""
        stats = self.http("GET", f"/{index}/_stats/store")
        size: int = stats["_all"]["primaries"]["store"]["size_in_bytes"]
        return size

    def field_sizes(self, index: str) -> dict[str, Json]:
        """Return the size of each field (Elasticsearch only)."""
        usage = self.http("POST", f"/{index}/_disk_usage?run_expensive_tasks=true")
        fields: dict[str, Json] = usage[index]["fields"]
        return fields

    def hits(self, index: str, body: Json) -> list[Json]:
        """Search through the client; return the hits."""
        hits: list[Json] = self.client.search(index=index, body=body)["hits"]["hits"]
        return hits

    def many_hits(self, index: str, bodies: Sequence[Json]) -> list[list[Json]]:
        """Send several searches in one request; return the hits of each."""
        lines = [line for body in bodies for line in ({}, body)]
        option = "searches" if self.name == "elasticsearch" else "body"
        replies = self.client.msearch(index=index, **{option: lines})["responses"]
        return [reply["hits"]["hits"] for reply in replies]


@contextmanager
def running(name: str) -> Iterator[Server]:
    """Run a node within the block."""
    with start_node(name, heap=HEAP, is_measured=True) as node:
        yield Server(name, node.url, node.pid)


def documents_of(texts: Sequence[str]) -> Iterator[Json]:
    """Make actions that index the texts as ``title`` and ``body``, with their places as ids."""
    for place, text in enumerate(texts):
        yield {"_id": str(place), "_source": {"title": text[:60], "body": text}}
