"""What the doctor says where OpenSearch lets not everybody see or do everything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from es_simhash.errors import AccessError, IndexStateError
from es_simhash.index import Index
from es_simhash.live.doctor.facts import Finding
from es_simhash.plans.operations import Action, Bulk
from tests.support.secured import add_user, engine_of, grant
from tools.nodes import Node

INDEX, USER = "secured-doctor", "doctor"
CLUSTER = ("cluster_monitor", "cluster_composite_ops")
HIDING: dict[str, dict[str, Any]] = {
    "documents": {"dls": '{"term": {"secret": "t"}}'},
    "fields": {"fls": ["~secret"]},
    "masks": {"masked_fields": ["secret"]},
}


@pytest.fixture(scope="module")
def node(secured_node: Node) -> Iterator[Node]:
    """Yield a node with an index of two documents, one without a fingerprint."""
    mapping = {"properties": {"body": {"type": "text"}, "secret": {"type": "keyword"}}}
    secured_node.request("PUT", f"/{INDEX}", {"mappings": mapping, "settings": {"number_of_replicas": 0}})
    with engine_of(secured_node) as engine, Index(INDEX, engine, fields=["body"]) as index:
        index.init()
        index.add([{"_id": "1", "body": "a text", "secret": "s"}])
    secured_node.request("PUT", f"/{INDEX}/_doc/2?refresh=true", {"body": "another text", "secret": "t"})
    add_user(secured_node, USER)
    yield secured_node
    secured_node.request("DELETE", f"/{INDEX}")


def examined(node: Node, **role: Any) -> dict[str, Finding]:
    """What the doctor finds, by code, for a user who may do everything with the index but for this."""
    grant(node, USER, {"index_patterns": [INDEX], "allowed_actions": ["*"], **role}, cluster=CLUSTER)
    with engine_of(node, USER) as engine:
        return {found.code: found for found in Index(INDEX, engine, fields=["body"]).doctor()}


def test_who_may_do_everything_is_not_stopped(node: Node) -> None:
    found = examined(node)
    assert not [each for each in found.values() if each.level == "stop"]
    assert found["privileges-unknown"].level == "note"


@pytest.mark.parametrize("hidden", HIDING)
def test_who_does_not_see_everything_is_stopped_and_the_server_would_do_so_too(node: Node, hidden: str) -> None:
    found = examined(node, **HIDING[hidden])
    assert found["hidden-parts"].level == "stop"
    with engine_of(node, USER) as engine:
        index = Index(INDEX, engine, fields=["body"])
        with pytest.raises(AccessError, match="Use a login that sees whole documents"):
            engine.perform(Bulk(INDEX, [Action("update", "1", {"doc": {"secret": "u"}})]))
        with pytest.raises(IndexStateError, match="hidden-parts"):
            index.backfill(refresh_stale=True)
        with pytest.raises(AccessError, match=r"FLS or DLS or Fieldmasking is activated\. Use a login that sees whole"):
            index.backfill(accept=frozenset({"hidden-parts"}))
    assert node.request("GET", f"/{INDEX}/_source/1").body["secret"] == "s"


@pytest.mark.parametrize(
    ("allowed", "named"),
    [
        (["read", "manage"], "indices:data/write/update"),
        (["read", "write", "indices:admin/mappings/get"], "indices:admin/refresh"),
    ],
    ids=["write", "refresh"],
)
def test_a_privilege_that_is_missing_is_named_and_stops_a_backfill(node: Node, allowed: list[str], named: str) -> None:
    found = examined(node, allowed_actions=allowed)
    assert found["privileges"].level == "stop"
    assert named in found["privileges"].message
    assert "is not JSON" not in found["privileges"].message


def test_examining_writes_nothing(node: Node) -> None:
    before = node.request("GET", f"/{INDEX}/_search?version=true").body["hits"]["hits"]
    examined(node)
    node.request("POST", f"/{INDEX}/_refresh")
    assert node.request("GET", f"/{INDEX}/_search?version=true").body["hits"]["hits"] == before
