"""What the engines say where the server lets not everybody do everything."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine
from es_simhash.engines.connect import connect
from es_simhash.errors import AccessError
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
    Search,
)
from tests.support.rest_engines import CLIENTS, engine_over, everything_said
from tools.nodes import Node

pytestmark = pytest.mark.each_server

INDEX = "guarded-engines"
ALL: Json = {"match_all": {}}

every_client = pytest.mark.parametrize("client", CLIENTS)


@pytest.fixture(scope="module")
def node(guarded_node: Node) -> Iterator[Node]:
    guarded_node.request("PUT", f"/{INDEX}", {"mappings": {"properties": {"tag": {"type": "keyword"}}}})
    yield guarded_node
    guarded_node.request("DELETE", f"/{INDEX}")


@cache
def authorized(node: Node, *privileges: str) -> dict[str, dict[str, str]]:
    """The options for a client whose API key has these privileges on the index."""
    role = {"only": {"index": [{"names": [INDEX], "privileges": privileges}]}}
    key = node.request("POST", "/_security/api_key", {"name": "test", "role_descriptors": role}).body
    return {"headers": {"authorization": f"ApiKey {key['encoded']}"}}


@every_client
def test_a_missing_login_is_refused(client: str, node: Node) -> None:
    with engine_over(client, node.url) as engine, pytest.raises(AccessError, match="Check user and password"):
        engine.perform(GetInfo())


@every_client
def test_a_wrong_password_is_refused(client: str, node: Node) -> None:
    login = {"basic_auth" if "elasticsearch" in client else "http_auth": ("elastic", "wr0ng-word")}
    with (
        engine_over(client, node.url, **login) as engine,
        pytest.raises(AccessError, match=r"unable to authenticate user \[elastic\]") as raised,
    ):
        engine.perform(Search(INDEX, {}))
    assert "wr0ng-word" not in everything_said(raised.value)


@pytest.mark.parametrize(
    ("operation", "privilege"),
    [
        (Search(INDEX, {}), "read"),
        (Count(INDEX, ALL), "read"),
        (GetMappings(INDEX), "view_index_metadata"),
        (PutMapping(INDEX, {"properties": {"other": {"type": "keyword"}}}), "manage"),
        (CreateIndex("another", {}), "create_index"),
        (GetDocuments(INDEX, ["1"]), "read"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Operation) else value,
)
@every_client
def test_a_missing_privilege_is_named(client: str, node: Node, operation: Operation[object], privilege: str) -> None:
    options = authorized(node, "monitor")
    with (
        engine_over(client, node.url, **options) as engine,
        pytest.raises(
            AccessError, match=r"action \[.*\] is unauthorized .*Have the index privilege \w+ granted"
        ) as raised,
    ):
        engine.perform(operation)
    assert operation.index in str(raised.value)  # type: ignore[attr-defined]
    assert privilege in str(raised.value)
    assert options["headers"]["authorization"].split()[1] not in everything_said(raised.value)


@every_client
def test_a_missing_privilege_to_write_is_named(client: str, node: Node) -> None:
    with engine_over(client, node.url, **authorized(node, "read", "create_doc")) as engine:
        created, updated = engine.perform(
            Bulk(INDEX, [Action("create", None, {"tag": "x"}), Action("update", "1", {"doc": {"tag": "y"}})])
        )
    assert created.error is None
    assert updated.status == 403
    assert f"on indices [{INDEX}]" in str(updated.error)
    assert "granted by the index privileges [index,write,all]" in str(updated.error)
    assert str(updated.error).endswith("docs/how-to/security.md lists what each command needs.")


@every_client
def test_enough_privileges_are_enough(client: str, node: Node) -> None:
    with engine_over(client, node.url, **authorized(node, "read", "write")) as engine:
        assert engine.perform(Bulk(INDEX, [Action("index", "1", {"tag": "x"})]))[0].error is None
        assert engine.perform(GetDocuments(INDEX, ["1"]))[0]["_source"] == {"tag": "x"}


def connected(node: Node, **options: object) -> Engine:
    return connect(node.url, **options)  # type: ignore[arg-type]


def test_a_login_in_the_url_is_used_and_not_shown(node: Node) -> None:
    url = node.url.replace("://", f"://elastic:{node.password}@")
    engine = connect(url)
    try:
        assert engine.perform(GetInfo()).distribution == "elasticsearch"
        assert str(node.password) not in repr(engine)
    finally:
        engine.close()
    with pytest.raises(AccessError, match="distribution=") as raised:
        connect(url.replace(str(node.password), "wr0ng-word"))
    assert "wr0ng-word" not in everything_said(raised.value)


def test_a_login_can_be_an_option(node: Node) -> None:
    for distribution in ("elasticsearch", "opensearch"):
        engine = connected(node, distribution=distribution, basic_auth=("elastic", node.password))
        assert engine.perform(GetInfo()).distribution == "elasticsearch"
        engine.close()


def test_the_caller_names_an_engine_that_must_not_be_asked(node: Node) -> None:
    key = authorized(node, "read")
    with pytest.raises(AccessError, match=r"name it: distribution='elasticsearch' or 'opensearch'\.$"):
        connected(node, **key)
    engine = connected(node, distribution="elasticsearch", **key)
    assert engine.perform(Search(INDEX, {"query": ALL, "size": 0}))["hits"]["hits"] == []
    engine.close()
