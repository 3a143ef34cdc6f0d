"""What the engines say where OpenSearch's security plugin lets not everybody do everything."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine
from es_simhash.engines.connect import connect
from es_simhash.errors import AccessError, UnreachableError
from es_simhash.plans.operations import (
    Action,
    Bulk,
    Count,
    CreateIndex,
    GetDocuments,
    GetInfo,
    GetMappings,
    Operation,
    PutMapping,
    Refresh,
    Search,
)
from tests.support.rest_engines import engine_over, everything_said
from tests.support.secured import PASSWORD, add_user, engine_of, grant, options
from tools.nodes import Node

INDEX, USER = "secured-engines", "engines"
ALL: Json = {"match_all": {}}

every_client = pytest.mark.parametrize("client", ["opensearch", "async opensearch"])


@pytest.fixture(scope="module")
def node(secured_node: Node) -> Iterator[Node]:
    """Yield a node with an index, and a user who may do nothing with it."""
    secured_node.request("PUT", f"/{INDEX}", {"mappings": {"properties": {"tag": {"type": "keyword"}}}})
    add_user(secured_node, USER)
    yield secured_node
    secured_node.request("DELETE", f"/{INDEX}")


@every_client
def test_a_wrong_password_is_refused_and_not_shown(client: str, node: Node) -> None:
    login = options(node, client, password="wr0ng-word")
    with (
        engine_over(client, node.url, **login) as engine,
        pytest.raises(AccessError, match=r"Check user and password") as raised,
    ):
        engine.perform(Search(INDEX, {}))
    assert "wr0ng-word" not in everything_said(raised.value)


@every_client
def test_a_node_whose_authority_is_unknown_is_not_talked_to(client: str, node: Node) -> None:
    login = {name: value for name, value in options(node, client).items() if name != "ca_certs"}
    with (
        engine_over(client, node.url, **login) as engine,
        pytest.raises(UnreachableError, match=r"TLS connection to https.* failed: .*ca_certs"),
    ):
        engine.perform(GetInfo())


@pytest.mark.parametrize(
    ("operation", "action"),
    [
        (GetInfo(), "cluster:monitor/main"),
        (Search(INDEX, {}), "indices:data/read/search"),
        (Count(INDEX, ALL), "indices:data/read/search"),
        (GetMappings(INDEX), "indices:admin/mappings/get"),
        (PutMapping(INDEX, {"properties": {"other": {"type": "keyword"}}}), "indices:admin/mapping/put"),
        (CreateIndex("another", {}), "indices:admin/create"),
        (GetDocuments(INDEX, ["1"]), "indices:data/read/mget"),
        (Bulk(INDEX, [Action("index", "1", {"tag": "x"})]), "indices:data/write/bulk"),
        (Refresh(INDEX), "indices:admin/refresh"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Operation) else "",
)
def test_a_missing_privilege_is_named(node: Node, operation: Operation[object], action: str) -> None:
    grant(node, USER, {"index_patterns": [INDEX], "allowed_actions": ["indices:monitor/stats"]})
    with (
        engine_of(node, USER) as engine,
        pytest.raises(
            AccessError, match=rf"no permissions for \[{action}\].*Have the action {action} granted"
        ) as raised,
    ):
        engine.perform(operation)
    assert PASSWORD not in everything_said(raised.value)


def test_a_missing_privilege_for_one_action_refuses_all_of_the_shard_and_is_named(node: Node) -> None:
    allowed = ["indices:data/write/bulk*", "indices:data/write/index"]
    grant(node, USER, {"index_patterns": [INDEX], "allowed_actions": allowed}, cluster=["indices:data/write/bulk"])
    actions = [Action("index", "1", {"tag": "x"}), Action("delete", "1", None)]
    with engine_of(node, USER) as engine:
        results = engine.perform(Bulk(INDEX, actions))
    assert [each.status for each in results] == [403, 403]
    for each in results:
        assert "no permissions for [indices:data/write/delete]" in str(each.error)
        assert str(each.error).endswith("docs/how-to/security.md lists what each command needs.")


def test_a_login_in_the_url_is_used_and_not_shown(node: Node) -> None:
    url, certificates = node.url.replace("://", f"://admin:{node.password}@"), str(node.ca_certs)
    engine: Engine = connect(url, ca_certs=certificates)
    try:
        assert engine.perform(GetInfo()).distribution == "opensearch"
        assert str(node.password) not in repr(engine)
    finally:
        engine.close()
    with pytest.raises(AccessError) as raised:
        connect(url.replace(str(node.password), "wr0ng-word"), ca_certs=certificates)
    assert "wr0ng-word" not in everything_said(raised.value)
