"""What servers are asked for at once stays within a few megabytes, as the connections of the clients show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from es_simhash import Index
from es_simhash.cli.jobs.labelled_documents import sample_of_index
from tests.support.long_documents import FIELDS, MOST_AT_ONCE, SCHEME, document
from tests.support.reading import never
from tests.support.recorded_requests import recorded_requests
from tests.support.rest_engines import new_name
from tools.nodes.node import Node

pytestmark = pytest.mark.each_server

LONG = 250_000
MOST = (MOST_AT_ONCE + 2) * LONG
TEXTS = [document(LONG, seed, False) for seed in range(24)]
SCAN = document(LONG, 100, True)
SCANS = [{**SCAN, "body": f"{SCAN['body']} {number}"} for number in range(30)]
SHORT = document(300, 200, False)
DOCUMENTS = {f"d{number}": each for number, each in enumerate([*TEXTS, *SCANS, SHORT])}


@pytest.fixture(scope="module", params=["elasticsearch_node", "opensearch_node"])
def index(request: pytest.FixtureRequest) -> Iterator[Index]:
    node: Node = request.getfixturevalue(request.param)
    name = new_name()
    with Index(name, node.url, scheme=SCHEME, fields=FIELDS) as index:
        index.init(create={"settings": {"number_of_replicas": 0}})
        try:
            index.add(({"_id": id_, **each} for id_, each in DOCUMENTS.items()), refresh=True)
            yield index
        finally:
            node.request("DELETE", f"/{name}")


def fresh(index: Index) -> Index:
    """The index as a new process knows it: nothing has shown how long its documents are."""
    return Index(index.name, index.engine)


READS: dict[str, Callable[[Index], Any]] = {
    "find a text": lambda index: index.find(SHORT["body"]),
    "find a document with all of it": lambda index: index.find(id="d30", source=True, size=40),
    "find many": lambda index: list(index.find_many(ids=[f"d{i}" for i in range(24, 55)], source=["scan"])),
    "find by words": lambda index: index.find(SHORT["body"], candidates="more_like_this", estimate=False),
    "check": lambda index: list(index.check(SCANS, source=["scan"])),
    "search": lambda index: index.search({"query": {"match_all": {}}, "size": 20}, distinct=True, estimate=True),
    "doctor": lambda index: index.doctor(),
    "sample": lambda index: sample_of_index(index.engine, index.name, FIELDS, None, 100, never),
    "find copies": lambda index: index.copies(["d30"], scan=True),
    "backfill": lambda index: index.backfill(refresh_stale=True),
    "learn": lambda index: index.learn(),
    "write": lambda index: index.add({"_id": id_, **each} for id_, each in DOCUMENTS.items()),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_replies_and_requests_are_bounded(index: Index, read: Callable[[Index], Any]) -> None:
    with recorded_requests() as exchanges:
        read(fresh(index))
    assert exchanges
    assert [each for each in exchanges if each.received > MOST] == []
    assert [each for each in exchanges if each.sent > MOST] == []
