"""An index as a team has it, that somebody writes to, and whether its documents are what they should be."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import elasticsearch.helpers
import opensearchpy.helpers

from es_simhash._core.batches import chunks
from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.scheme.scheme import Scheme
from tests.support.corpus import corpus
from tests.support.rest_engines import new_name
from tools.nodes import Node

FIELDS = ("title", "body")
_TEXTS = corpus(300)
_MAPPINGS: Json = {
    "properties": {
        "title": {"type": "text"},
        "body": {"type": "text"},
        "number": {"type": "long"},
        "inner": {"properties": {"tags": {"type": "keyword"}}},
        "unmapped": {"type": "object", "enabled": False},
    }
}


def document(number: int) -> Json:
    """A document with a text of its own, and more than its text."""
    text = _TEXTS[number % len(_TEXTS)]
    others = {"number": number, "inner": {"tags": [str(number), "x"]}, "unmapped": {"deep": [None, {"a": 1.5}]}}
    return {"title": text["title"], "body": f"{text['body']} {number}", **others}


def routing(number: int) -> str | None:
    """The routing value of a document: every tenth has one."""
    return f"place {number % 7}" if number % 10 == 0 else None


def changed_body(number: int, time: int) -> str:
    """The text that a document is given when it is changed."""
    return f"{_TEXTS[(number + 1) % len(_TEXTS)]['body']} {number}, changed at {time}"


@contextmanager
def client_of(node: Node) -> Iterator[tuple[Any, Any]]:
    """A client of the node's own kind, and its helpers."""
    if node.release.engine == "elasticsearch":
        with elasticsearch.Elasticsearch(node.url, request_timeout=120) as client:
            yield client, elasticsearch.helpers
    else:
        with opensearchpy.OpenSearch(node.url, timeout=120) as other:
            yield other, opensearchpy.helpers


@dataclass
class LiveIndex:
    """An index of ``count`` documents; ``changed`` are the bodies that others have given some of them since."""

    node: Node
    count: int
    name: str = field(default_factory=new_name)
    changed: dict[int, str] = field(default_factory=dict)
    _before: int = 0

    def fill(self, shards: int = 2) -> None:
        """Make the index and its documents."""
        settings = {"number_of_shards": shards, "number_of_replicas": 0}
        reply = self.node.request("PUT", f"/{self.name}", {"settings": settings, "mappings": _MAPPINGS})
        assert reply.status == 200, reply
        self._send({"_id": str(n), "_source": document(n), **_routed(n)} for n in range(self.count))
        self._refresh()
        self._before = self._changes()

    def change(self, numbers: Iterable[int]) -> None:
        """Give some documents other texts, as somebody does who knows nothing of fingerprints."""
        time = len(self.changed)
        bodies = {number: changed_body(number, time) for number in numbers}
        self.changed |= bodies
        self._send(
            {"_op_type": "update", "_id": str(n), "doc": {"body": body}, "retry_on_conflict": 20, **_routed(n)}
            for n, body in bodies.items()
        )

    def some(self, share: float) -> list[int]:
        """The numbers of some documents, always the same."""
        return random.Random(self.count).sample(range(self.count), int(share * self.count))

    def _send(self, actions: Iterable[Json]) -> None:
        with client_of(self.node) as (client, helpers):
            # The queues of some of these servers are short.
            patience = {"max_retries": 500, "initial_backoff": 0.1, "max_backoff": 1, "raise_on_error": False}
            for is_done, reported in helpers.streaming_bulk(client, actions, index=self.name, **patience):
                assert is_done, reported

    @property
    def written(self) -> int:
        """Count the changes by anybody since the index was filled."""
        return self._changes() - self._before

    @property
    def left(self) -> int:
        """How many documents have no fingerprint yet."""
        self._refresh()
        without = {"bool": {"must_not": [{"exists": {"field": "dedup.scheme"}}]}}
        count: int = self.node.request("GET", f"/{self.name}/_count", {"query": without}).body["count"]
        return count

    def _refresh(self) -> None:
        assert self.node.request("POST", f"/{self.name}/_refresh").body["_shards"]["failed"] == 0

    def _changes(self) -> int:
        kept = "indices.*.shards.*.seq_no.max_seq_no,indices.*.shards.*.routing.primary"
        reply = self.node.request("GET", f"/{self.name}/_stats?level=shards&filter_path={kept}")
        [index] = reply.body["indices"].values()
        # No document has a replica here.
        return sum(shard["seq_no"]["max_seq_no"] + 1 for shards in index["shards"].values() for shard in shards)

    def wrong(self) -> list[str]:
        """Find the problems: documents without the fingerprint of their text, or altered, or lost."""
        documents = Documents(Scheme.preset("default"), FIELDS)
        seen: set[int] = set()
        wrong = []
        self._refresh()
        for _, hits in chunks(self._hits(), 1_000):
            numbers = [int(hit["_id"]) for hit in hits]
            seen.update(numbers)
            expected = documents.add_fields_to_all(map(self._expected, numbers))
            for number, hit, source in zip(numbers, hits, expected, strict=True):
                if differing := _differing(hit["_source"], source):
                    wrong.append(f"{number} has other {', '.join(differing)}")
                if hit.get("_routing") != routing(number):
                    wrong.append(f"{number} has another routing value")
        lost = [f"{number} is lost" for number in range(self.count) if number not in seen]
        return wrong + lost

    def _hits(self) -> Iterator[Mapping[str, Any]]:
        with client_of(self.node) as (client, helpers):
            yield from helpers.scan(client, index=self.name, size=1_000)

    def _expected(self, number: int) -> Json:
        source = document(number)
        return {**source, "body": self.changed.get(number, source["body"])}

    def delete(self) -> None:
        """Remove it."""
        self.node.request("DELETE", f"/{self.name}")


def _routed(number: int) -> Json:
    value = routing(number)
    return {} if value is None else {"routing": value}


def _differing(one: Json, other: Json) -> list[str]:
    """The fields in which two documents differ."""
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))
