"""What an index says where it cannot do what is wanted, on real servers."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from elasticsearch import Elasticsearch
from opensearchpy import OpenSearch

from es_simhash.errors import (
    AccessError,
    EngineError,
    IndexStateError,
    MappingError,
    MissingError,
    TextError,
    UnreachableError,
)
from es_simhash.index import Index
from es_simhash.scheme.scheme import Scheme
from tools.nodes import Node


@pytest.fixture(params=["elasticsearch_node", "opensearch_node"])
def node(request: pytest.FixtureRequest) -> Node:
    node: Node = request.getfixturevalue(request.param)
    return node


@pytest.fixture
def client(node: Node) -> Any:
    made: Any = (Elasticsearch if node.release.engine == "elasticsearch" else OpenSearch)(node.url)
    with made as client:
        yield client


@pytest.fixture
def name(node: Node) -> Iterator[str]:
    name = f"faults-{uuid.uuid4().hex[:10]}"
    yield name
    # One by one: OpenSearch refuses a request that changes more than the block of metadata, while this is there.
    for block in ("metadata", "write"):
        node.request("PUT", f"/{name}*/_settings", {f"index.blocks.{block}": None})
    for index in node.request("GET", f"/{name}*").body:
        assert node.request("DELETE", f"/{index}").status == 200


def create(node: Node, name: str, mappings: Any = None, settings: Any = None) -> None:
    reply = node.request("PUT", f"/{name}", {"mappings": mappings or {}, "settings": settings or {}})
    assert reply.status == 200, reply.body


def test_a_strict_mapping_takes_the_fields_once_they_are_put(node: Node, client: Any, name: str) -> None:
    create(node, name, {"dynamic": "strict", "properties": {"body": {"type": "text"}}})
    index = Index(name, client, fields=["body"])
    with pytest.raises(MappingError, match="init"):
        index.add([{"_id": "1", "body": "some text"}])
    index.init()
    assert index.add([{"_id": "1", "body": "some text"}]).done == 1
    rejected = index.add([{"_id": "2", "body": "some text", "other": 1}]).rejected
    assert "strict" in rejected[0].reason


def test_an_index_that_flattens_objects_is_refused(node: Node, client: Any, name: str) -> None:
    if node.release.engine == "opensearch":
        pytest.skip("OpenSearch 3.8 has no subobjects parameter")
    create(node, name, {"subobjects": False})
    with pytest.raises(MappingError, match=r"subobjects: false.*reindex into one\.$"):
        Index(name, client, fields=["body"]).init()


def test_too_many_fields_are_reported_with_the_setting_that_limits_them(node: Node, client: Any, name: str) -> None:
    properties = {f"f{i}": {"type": "keyword"} for i in range(9)}
    create(node, name, {"properties": properties}, {"index.mapping.total_fields.limit": 10})
    with pytest.raises(MappingError, match=r"index\.mapping\.total_fields\.limit"):
        Index(name, client, fields=["f0"]).init()


def test_an_object_that_is_taken_by_another_field_is_named(node: Node, client: Any, name: str) -> None:
    create(node, name, {"properties": {"dedup": {"type": "keyword"}}})
    with pytest.raises(MappingError, match=r"'dedup' of type keyword.*Choose another prefix \(--prefix\)\.$"):
        Index(name, client, fields=["body"]).init()


def test_a_read_only_index_is_not_written_to(node: Node, client: Any, name: str) -> None:
    create(node, name)
    index = Index(name, client, fields=["body"])
    index.init()
    node.request("PUT", f"/{name}/_settings", {"index.blocks.write": True})
    with pytest.raises(IndexStateError, match=name):
        index.add([{"_id": "1", "body": "some text"}])
    node.request("PUT", f"/{name}/_settings", {"index.blocks.metadata": True})
    with pytest.raises(IndexStateError):
        Index(name, client, fields=["body"]).init()


def test_an_alias_of_several_indices_is_read_and_not_written(node: Node, client: Any, name: str) -> None:
    for number in (1, 2):
        create(node, f"{name}-{number}")
        node.request("PUT", f"/{name}-{number}/_alias/{name}")
    index = Index(name, client, fields=["body"])
    assert set(index.init().added) == {f"{name}-1", f"{name}-2"}
    Index(f"{name}-1", client).add([{"_id": "1", "body": "a text of some length"}], refresh=True)
    assert [match.id for match in index.find("a text of some length")] == ["1"]
    assert [match.id for match in index.find(doc={"_id": "2", "body": "a text of some length"})] == ["1"]
    assert list(index.find(id="1")) == []
    with pytest.raises(IndexStateError, match=name):
        index.add([{"_id": "1", "body": "some text"}])


def test_a_data_stream_names_the_document_that_it_refuses_and_what_it_takes(node: Node, client: Any, name: str) -> None:
    if node.release.engine == "elasticsearch":
        pytest.skip("this build of Elasticsearch has no data streams")
    mappings = Scheme.preset("default").mapping("dedup", ["body"])
    template = {"index_patterns": [name], "data_stream": {}, "template": {"mappings": mappings}}
    node.request("PUT", f"/_index_template/{name}", template)
    node.request("PUT", f"/_data_stream/{name}")
    try:
        index = Index(name, client)
        timed = {"@timestamp": "2026-01-01T00:00:00Z", "body": "a text of some length"}
        created = [{"_op_type": "create", "_id": id_, **timed} for id_ in "ab"]
        [untimed] = index.add([*created, {"_op_type": "create", "_id": "c", "body": "text"}]).rejected
        assert untimed.id == "c"
        assert "@timestamp" in untimed.reason
        assert untimed.reason.endswith("one date in that field: give it one.")
        for action in ({"_id": "d", **timed}, {**of("update"), "doc": {}}, of("delete")):
            with pytest.raises(IndexStateError, match=r"op_type create .*in the backing index that holds them"):
                index.add([action])
            other = {"_op_type": "create", "_id": f"with {action}", **timed}
            [rejected] = index.add([action, other]).rejected
            assert "backing index" in rejected.reason
        node.request("POST", f"/{name}/_rollover")
        backing = {"_index": index.indices[0]}
        assert index.add([{**of("update"), **backing, "doc": {"n": 1}}, {**of("delete"), **backing}]).done == 2
    finally:
        node.request("DELETE", f"/_data_stream/{name}")
        node.request("DELETE", f"/_index_template/{name}")


def of(op_type: str) -> Any:
    return {"_op_type": op_type, "_id": "a"}


def test_an_alias_that_has_rolled_over_says_where_it_looked(node: Node, client: Any, name: str) -> None:
    mappings = Scheme.preset("default").mapping("dedup", ["body"])
    reply = node.request("PUT", f"/{name}-000001", {"mappings": mappings, "aliases": {name: {"is_write_index": True}}})
    assert reply.status == 200, reply.body
    index = Index(name, client)
    assert index.add([{"_id": "a", "body": "a text of some length"}]).done == 1
    node.request("POST", f"/{name}/_rollover", {"mappings": mappings})
    for action in ({**of("update"), "doc": {"n": 1}}, of("delete")):
        [rejected] = index.add([action]).rejected
        assert f"'{name}-000002' was asked. If another index behind '{name}' holds the document" in rejected.reason
        assert index.add([{**action, "_index": f"{name}-000001"}]).done == 1


def test_a_closed_index_is_named(node: Node, client: Any, name: str) -> None:
    create(node, name)
    index = Index(name, client, fields=["body"])
    index.init()
    node.request("POST", f"/{name}/_close")
    with pytest.raises(IndexStateError, match=name):
        index.find("a text of some length")


def test_a_wrong_query_of_the_users_own_is_reported_in_the_words_of_the_server(
    node: Node, client: Any, name: str
) -> None:
    create(node, name)
    index = Index(name, client, fields=["body"])
    index.init()
    with pytest.raises(EngineError, match="no_such_query"):
        index.find("a text of some length", filter={"no_such_query": {}})


def test_a_document_with_a_routing_value_is_found_by_its_id(node: Node, client: Any, name: str) -> None:
    create(node, name, settings={"number_of_shards": 5})
    index = Index(name, client, fields=["body"])
    index.init()
    text = "a text of some length, in several copies"
    index.add([{"_id": f"r{i}", "routing": f"key{i}", "body": text} for i in range(8)], refresh=True)
    for i in range(8):
        assert len(index.find(id=f"r{i}")) == 7


def test_what_is_missing_or_empty_is_said(client: Any, name: str) -> None:
    index = Index(name, client, fields=["body"])
    with pytest.raises(MissingError, match=name):
        index.find("a text of some length")
    index.init()
    with pytest.raises(MissingError, match=r"'no-such-id'.*Check the id\.$"):
        index.find(id="no-such-id")
    with pytest.raises(TextError, match="empty"):
        index.find(" \n")
    with pytest.raises(TextError, match="surrogate"):
        index.find("half \ud83d a pair")


def test_an_unreachable_server_is_named() -> None:
    with (
        Elasticsearch("http://127.0.0.1:9", max_retries=0) as client,
        pytest.raises(UnreachableError, match=r"127\.0\.0\.1:9"),
    ):
        Index("articles", client).find("a text of some length")


def test_a_wrong_password_is_reported_without_repeating_it(guarded_node: Node) -> None:
    with Elasticsearch(guarded_node.url, basic_auth=("elastic", "wr0ng-secret")) as client:
        with pytest.raises(AccessError) as raised:
            Index("articles", client).find("a text of some length")
        assert "wr0ng-secret" not in str(raised.value)


def test_a_missing_privilege_is_named(guarded_node: Node) -> None:
    name = "guarded-faults"
    assert guarded_node.password
    with Elasticsearch(guarded_node.url, basic_auth=("elastic", guarded_node.password)) as admin:
        Index(name, admin, fields=["body"]).init()
        descriptors = {"reader": {"indices": [{"names": [name], "privileges": ["read", "view_index_metadata"]}]}}
        key = admin.security.create_api_key(name="reader", role_descriptors=descriptors)["encoded"]
    with Elasticsearch(guarded_node.url, api_key=key) as client:
        index = Index(name, client, fields=["body"])
        assert list(index.find("a text of some length")) == []
        with pytest.raises(AccessError, match=r"manage|all"):
            Index(name, client, fields=["body"], prefix="dedup2").init()
        with pytest.raises(AccessError, match=r"create_doc|index|write") as raised:
            index.add([{"_id": "1", "body": "some text"}])
        assert key not in str(raised.value)
    guarded_node.request("DELETE", f"/{name}")
