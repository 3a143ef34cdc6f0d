"""A server may carry out a bulk that it has answered once more, after later ones: plain requests, without our code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.pytest_nodes import required_cluster
from tools.nodes.cluster import Cluster

_INDEX = "repeated"

pytestmark = pytest.mark.nightly


@pytest.fixture(params=["elasticsearch", "opensearch"], scope="module")
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    with required_cluster(request.param) as cluster:
        yield cluster


def test_a_repeated_bulk_undoes_later_writes_but_for_those_with_external_versions(cluster: Cluster) -> None:
    """What `docs/indexing.md` says; once a server has mended it, the histories need no longer allow for it."""
    assert _after_two_bulks(cluster) == (1, 2)


def _after_two_bulks(cluster: Cluster) -> tuple[int, int]:
    """Which of two acknowledged bulks is seen in a document, and in one with external versions, when the master and
    the node with the primary have not heard each other.
    """
    master = int(cluster.request("GET", "/_cat/master?h=node&format=json").body[0]["node"][-1])
    primary, replica = (number for number in range(len(cluster.nodes)) if number != master)
    _create(cluster, primary, replica)
    cluster.silence(primary, master)
    for value in (1, 2):
        assert _written(cluster.urls[master], value) == [200 + (value == 1)] * 2
    cluster.make_whole()
    cluster.await_green(_INDEX)
    seen = [cluster.request("GET", f"/{_INDEX}/_doc/{id_}").body["_source"]["value"] for id_ in ("none", "versions")]
    assert cluster.request("DELETE", f"/{_INDEX}").status == 200
    return seen[0], seen[1]


def _create(cluster: Cluster, primary: int, replica: int) -> None:
    """Create an index with a primary on one node, then a replica on another."""
    name = cluster.release.engine
    only, both = ("index.routing.allocation.require._name", "index.routing.allocation.include._name")
    settings: dict[str, Any] = {"number_of_shards": 1, "number_of_replicas": 0, only: f"{name}-{primary}"}
    assert cluster.request("PUT", f"/{_INDEX}", {"settings": settings}).status == 200
    settings = {"number_of_replicas": 1, only: None, both: f"{name}-{primary},{name}-{replica}"}
    assert cluster.request("PUT", f"/{_INDEX}/_settings", settings).status == 200
    cluster.await_green(_INDEX)
    assert cluster.primary(_INDEX) == primary


def _written(url: str, value: int) -> list[int]:
    """Write both documents by a node; return the status of each."""
    lines = (
        {"index": {"_id": "none"}},
        {"value": value},
        {"index": {"_id": "versions", "version": value, "version_type": "external"}},
        {"value": value},
    )
    connection = HTTPConnection(urlsplit(url).netloc)
    body = "".join(json.dumps(line) + "\n" for line in lines)
    connection.request("POST", f"/{_INDEX}/_bulk", body, {"Content-Type": "application/x-ndjson"})
    reply = json.load(connection.getresponse())
    connection.close()
    return [item["index"]["status"] for item in reply["items"]]
