"""What the doctor says where the server lets not everybody do everything."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.errors import AccessError, IndexStateError
from es_simhash.index import Index
from es_simhash.live.doctor.facts import Finding
from es_simhash.plans.operations import Action, Bulk
from tests.support.rest_engines import engine_over
from tools.nodes import Node

pytestmark = pytest.mark.each_server

INDEX = "guarded-doctor"
ENOUGH = ("read", "view_index_metadata", "index", "maintenance")

every_client = pytest.mark.parametrize("client", ["elasticsearch", "opensearch"])


@pytest.fixture
def node(guarded_node: Node) -> Iterator[Node]:
    """A node with an index of one document, made again for each test."""
    mapping = {"properties": {"body": {"type": "text"}, "secret": {"type": "keyword"}}}
    guarded_node.request("PUT", f"/{INDEX}", {"mappings": mapping, "settings": {"number_of_replicas": 0}})
    guarded_node.request("PUT", f"/{INDEX}/_doc/1?refresh=true", {"body": "a text", "secret": "s"})
    yield guarded_node
    guarded_node.request("DELETE", f"/{INDEX}")


@contextmanager
def index_with(client: str, login: Json) -> Iterator[Index]:
    """The index as a login has it."""
    with engine_over(client, login["url"], headers=login["headers"]) as engine:
        yield Index(INDEX, engine, fields=["body"])


def init(client: str, node: Node) -> None:
    """Add the fields for fingerprints as somebody who may do everything."""
    with index_with(client, basic(node, "elastic", str(node.password))) as index:
        index.init()


def basic(node: Node, name: str, password: str) -> Json:
    """The login of a user with a password."""
    encoded = base64.b64encode(f"{name}:{password}".encode()).decode()
    return {"url": node.url, "headers": {"authorization": f"Basic {encoded}"}}


def key(node: Node, *privileges: str, **role: object) -> Json:
    """An API key with these privileges, but for what its role hides."""
    index = {"names": [INDEX], "privileges": privileges, **role}
    role = {"only": {"cluster": ["monitor"], "index": [index]}}
    made = node.request("POST", "/_security/api_key", {"name": "test", "role_descriptors": role}).body
    return {"url": node.url, "headers": {"authorization": f"ApiKey {made['encoded']}"}}


def user(node: Node, name: str, **role: object) -> Json:
    """A user with everything on the index, but for what the role hides."""
    index = {"names": ["guard*"], "privileges": ["all"], **role}
    node.request("PUT", f"/_security/role/{name}", {"cluster": ["monitor"], "indices": [index]})
    node.request("PUT", f"/_security/user/{name}", {"password": "a-long-word", "roles": [name]})
    return basic(node, name, "a-long-word")


def reported(found: list[Finding], level: str) -> dict[str, str]:
    return {each.code: f"{each.message} {each.remedy}" for each in found if each.level == level}


@every_client
@pytest.mark.parametrize("missing", ["read", "index", "maintenance"])
def test_a_privilege_that_is_missing_is_named_and_stops_a_backfill(client: str, node: Node, missing: str) -> None:
    init(client, node)
    with index_with(client, key(node, *(name for name in ENOUGH if name != missing))) as index:
        stop = reported(index.doctor(), "stop")["privileges"]
        assert stop.endswith(f"Have these privileges granted: {missing}.")
        with pytest.raises(IndexStateError, match=missing):
            index.backfill(refresh_stale=True)


@every_client
def test_a_login_that_may_not_see_the_mapping_is_refused(client: str, node: Node) -> None:
    with (
        index_with(client, key(node, "read", "index")) as index,
        pytest.raises(AccessError, match="view_index_metadata"),
    ):
        index.doctor()


@every_client
def test_the_privileges_that_the_doctor_asks_for_are_enough(client: str, node: Node) -> None:
    with index_with(client, key(node, *ENOUGH, "manage")) as index:
        assert reported(index.doctor(), "stop") == {}
        index.init()
    with index_with(client, key(node, *ENOUGH)) as index:
        found = index.doctor()
        assert reported(found, "stop") == {}
        assert set(reported(found, "warning")) == {"changes-unknown"}
        assert "privileges" in reported(found, "ok")
        assert index.backfill(refresh_stale=True).done == 1


@every_client
@pytest.mark.parametrize(
    "hidden",
    [{"field_security": {"grant": ["*"], "except": ["secret"]}}, {"query": {"term": {"secret": "s"}}}],
    ids=str,
)
def test_who_does_not_see_everything_is_stopped_and_the_server_would_do_so_too(
    client: str, node: Node, hidden: Json
) -> None:
    with index_with(client, user(node, f"sees-{'less' if 'query' in hidden else 'part'}", **hidden)) as index:
        index.init()
        assert set(reported(index.doctor(), "stop")) == {"hidden-parts"}
        update = Action("update", "1", {"doc": {"secret": "t"}})
        [result] = index.engine.perform(Bulk(INDEX, [update]))
        assert "if field or document level security is enabled" in str(result.error)
        with pytest.raises(IndexStateError, match="hidden-parts"):
            index.backfill(refresh_stale=True)


@every_client
def test_the_first_update_reports_what_the_role_of_an_api_key_hides(client: str, node: Node) -> None:
    init(client, node)
    with index_with(client, key(node, "all", field_security={"grant": ["*"], "except": ["secret"]})) as index:
        assert reported(index.doctor(), "stop") == {}
        with pytest.raises(AccessError, match="if field or document level security is enabled"):
            index.backfill()
    assert node.request("GET", f"/{INDEX}/_source/1").body == {"body": "a text", "secret": "s"}
