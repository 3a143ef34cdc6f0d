"""The engines over real servers: what each operation gives, and what each refusal says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine
from es_simhash.errors import (
    DocumentError,
    EngineError,
    IndexStateError,
    InputError,
    MappingError,
    MissingError,
)
from es_simhash.plans.operations import (
    Action,
    Bulk,
    Count,
    CreateIndex,
    DeleteIndex,
    GetDocuments,
    GetInfo,
    GetMappings,
    MultiSearch,
    Operation,
    PutMapping,
    Refresh,
    Search,
)
from tests.support.rest_engines import Pair, engine_over, new_name, parametrize_pairs
from tools.nodes import Node

pytestmark = pytest.mark.each_server

KEYWORDS = {"properties": {"tag": {"type": "keyword"}}}
ALL: Json = {"match_all": {}}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    parametrize_pairs(metafunc)


@pytest.fixture(scope="module")
def node(pair: Pair, request: pytest.FixtureRequest) -> Node:
    return pair.node(request)


@pytest.fixture(scope="module")
def engine(pair: Pair, node: Node) -> Iterator[Engine]:
    with engine_over(pair.client, node.url) as engine:
        yield engine


@pytest.fixture
def index(engine: Engine, node: Node) -> Iterator[str]:
    """A new index with the keyword field `tag`; whatever begins with its name is removed in the end."""
    name = new_name()
    engine.perform(CreateIndex(name, {"mappings": KEYWORDS}))
    yield name
    node.request("PUT", f"/{name}*/_settings", {"index.blocks.read_only": None})
    node.request("DELETE", f"/{name},{name}-2?ignore_unavailable=true")


@pytest.fixture
def alias(engine: Engine, node: Node, index: str) -> str:
    """An alias of two indices, without a write index."""
    engine.perform(CreateIndex(f"{index}-2", {"mappings": KEYWORDS}))
    add = [{"add": {"index": name, "alias": f"{index}-alias"}} for name in (index, f"{index}-2")]
    node.request("POST", "/_aliases", {"actions": add})
    return f"{index}-alias"


def put(index: str, *ids: str, refresh: bool = True) -> Bulk:
    return Bulk(index, [Action("index", id_, {"tag": f"tag of {id_}"}) for id_ in ids], refresh)


def test_the_engine_says_which_it_is(engine: Engine, node: Node) -> None:
    info = engine.perform(GetInfo())
    assert info.distribution == node.release.engine
    assert info.version == tuple(map(int, node.release.version.split(".")))


def test_each_operation_gives_its_result(engine: Engine, index: str) -> None:
    assert engine.perform(GetMappings(index)) == {index: KEYWORDS}
    assert [result.status for result in engine.perform(put(index, "1", "2"))] == [201, 201]
    assert engine.perform(Count(index, {"term": {"tag": "tag of 1"}})) == 1
    assert engine.perform(Search(index, {"query": ALL}))["hits"]["total"]["value"] == 2
    one, none = engine.perform(MultiSearch(index, [{"query": {"ids": {"values": [id_]}}} for id_ in ("1", "3")]))
    assert (one["hits"]["total"]["value"], none["hits"]["total"]["value"]) == (1, 0)
    engine.perform(PutMapping(index, {"properties": {"other": {"type": "long"}}}))
    assert engine.perform(GetMappings(index))[index]["properties"].keys() == {"tag", "other"}
    engine.perform(DeleteIndex(index))
    with pytest.raises(MissingError):
        engine.perform(GetMappings(index))


def test_documents_are_found_by_id_without_a_refresh(engine: Engine, index: str) -> None:
    engine.perform(put(index, "a", "ü", refresh=False))
    found = engine.perform(GetDocuments(index, ["ü", "none", "a"], ["tag"]))
    assert [document["_id"] for document in found] == ["ü", "none", "a"]
    assert [document["found"] for document in found] == [True, False, True]
    assert [document.get("_source") for document in found] == [{"tag": "tag of ü"}, None, {"tag": "tag of a"}]


@pytest.mark.parametrize("several", ["{index}-alias", "{index},{index}-2", "{index}*"])
def test_documents_are_found_by_id_behind_several_indices(engine: Engine, alias: str, index: str, several: str) -> None:
    engine.perform(put(index, "a"))
    engine.perform(put(f"{index}-2", "b"))
    found = engine.perform(GetDocuments(several.format(index=index), ["b", "none", "a"], ["tag"]))
    assert [document.get("_source") for document in found] == [{"tag": "tag of b"}, None, {"tag": "tag of a"}]
    assert [document["_index"] for document in found if document["found"]] == [f"{index}-2", index]


def test_an_id_in_two_indices_is_not_guessed_at(engine: Engine, alias: str, index: str) -> None:
    engine.perform(put(index, "a", "b"))
    engine.perform(put(f"{index}-2", "b", "c"))
    with pytest.raises(IndexStateError, match="in different indices"):
        engine.perform(GetDocuments(alias, ["a", "b", "c"]))


@pytest.mark.parametrize("several", ["{index}", "{index}*"])
def test_an_empty_source_filter_gives_empty_sources(engine: Engine, index: str, several: str) -> None:
    engine.perform(put(index, "a"))
    [document] = engine.perform(GetDocuments(several.format(index=index), ["a"], []))
    assert document["_source"] == {}


def test_empty_requests_have_empty_results(engine: Engine, index: str) -> None:
    assert engine.perform(GetDocuments(index, [])) == []
    assert engine.perform(MultiSearch(index, [])) == []
    assert engine.perform(Bulk(index, [])) == []


def test_each_action_has_its_own_result(engine: Engine, index: str) -> None:
    actions = [
        Action("index", "1", {"tag": "x"}),
        Action("create", "1", {"tag": "y"}),
        Action("delete", "none", None),
        Action("update", "none", {"doc": {"tag": "z"}}),
        Action("update", "1", {"doc": {"tag": "z"}}, metadata={"if_seq_no": 77, "if_primary_term": 1}),
        Action("index", None, {"tag": "generated"}),
        Action("index", "2", {"tag": {"an": "object"}}),
        Action("delete", "1", None),
    ]
    results = engine.perform(Bulk(index, actions))
    assert [result.status for result in results] == [201, 409, 404, 404, 409, 201, 400, 200]
    assert [result.error is None for result in results] == [True, False, False, False, False, True, False, True]
    assert results[5].id
    reasons = [str(result.error) for result in results]
    assert "already exists" in reasons[1]
    assert "no document" in reasons[2]
    assert "document_missing_exception" in reasons[3]
    assert reasons[4].endswith("Read the document again and repeat the change.")
    assert "[tag]" in reasons[6]


def test_an_action_may_name_another_index(engine: Engine, alias: str, index: str) -> None:
    engine.perform(Bulk(index, [Action("index", "1", {"tag": "x"}, index=f"{index}-2")], refresh=True))
    assert engine.perform(Count(f"{index}-2", ALL)) == 1
    assert engine.perform(Count(index, ALL)) == 0


def test_dates_and_numbers_of_python_are_sent_as_the_client_sends_them(engine: Engine, index: str) -> None:
    from datetime import date

    import numpy as np

    body = {"day": date(2024, 2, 29), "number": np.int64(7)}
    assert engine.perform(Bulk(index, [Action("index", "1", body)]))[0].error is None
    assert engine.perform(GetDocuments(index, ["1"]))[0]["_source"] == {"day": "2024-02-29", "number": 7}


def test_names_of_all_kinds_reach_the_server(engine: Engine, node: Node, index: str) -> None:
    unicode, dated = f"{index}-ünï+漢", f"<{index}-{{now/d}}>"
    for name in (unicode, dated):
        engine.perform(CreateIndex(name, {}))
        engine.perform(put(name, "1"))
        assert engine.perform(Count(name, ALL)) == 1
    assert unicode in engine.perform(GetMappings(f"{index}*"))
    for name in (unicode, dated):
        engine.perform(DeleteIndex(name))


@pytest.mark.parametrize(
    "operation",
    [
        GetMappings("none"),
        GetMappings("none*"),
        Search("none", {}),
        Search("none*", {}),
        MultiSearch("none", [{}]),
        MultiSearch("none*", [{}]),
        Count("none", ALL),
        Count("none*", ALL),
        Refresh("none"),
        Refresh("none*"),
        PutMapping("none", KEYWORDS),
        DeleteIndex("none"),
        GetDocuments("none", ["1"]),
        GetDocuments("none*", ["1"]),
    ],
    ids=lambda operation: f"{type(operation).__name__} {operation.index}",
)
def test_a_missing_index_is_named(engine: Engine, operation: GetMappings) -> None:
    with pytest.raises(MissingError, match=r"'none\*?' failed: .*no such index.* Check the name"):
        engine.perform(operation)


def test_a_list_with_a_missing_index_is_refused(engine: Engine, index: str) -> None:
    with pytest.raises(MissingError):
        engine.perform(Search(f"{index},none", {}))


@pytest.mark.parametrize("several", ["{index}*", "{index},{index}-2", "_all", "*"])
def test_changes_of_an_index_take_one_index_only(engine: Engine, index: str, several: str) -> None:
    name = several.format(index=index)
    for operation in (DeleteIndex(name), PutMapping(name, KEYWORDS), CreateIndex(name, {})):
        with pytest.raises(IndexStateError, match="needs one index"):
            engine.perform(operation)
    assert index in engine.perform(GetMappings(index))


def test_an_existing_index_is_not_created_again(engine: Engine, index: str) -> None:
    with pytest.raises(IndexStateError, match="already exists"):
        engine.perform(CreateIndex(index, {}))


def test_a_name_that_no_index_may_have(engine: Engine) -> None:
    with pytest.raises(InputError, match="Invalid index name"):
        engine.perform(CreateIndex("Upper Case", {}))


@pytest.mark.parametrize(
    "properties",
    [
        {"tag": {"type": "long"}},
        {"tag": {"properties": {"deeper": {"type": "long"}}}},
        {"tag": {"type": "keyword", "index": False}},
        {"other": {"type": "no_such_type"}},
    ],
)
def test_a_mapping_that_does_not_fit(engine: Engine, index: str, properties: Json) -> None:
    field = next(iter(properties))
    with pytest.raises(MappingError, match=rf"{index}.*\[{field}\]"):
        engine.perform(PutMapping(index, {"properties": properties}))


def test_a_changed_type_is_reported_with_both_types(engine: Engine, index: str) -> None:
    with pytest.raises(MappingError, match=r"\[tag\] cannot be changed from type \[keyword\] to \[long\]"):
        engine.perform(PutMapping(index, {"properties": {"tag": {"type": "long"}}}))


def test_a_mapping_with_too_many_fields(engine: Engine, index: str) -> None:
    engine.perform(CreateIndex(f"{index}-2", {"settings": {"index.mapping.total_fields.limit": 3}}))
    tag = {"type": "keyword", "fields": {"words": {"type": "text"}}}
    too_many = {"tag": tag, "inner": {"properties": {"tag": {"type": "keyword"}}}}
    with pytest.raises(MappingError, match=r"Adding 4 field\(s\).*\[3\].*index\.mapping\.total_fields\.limit"):
        engine.perform(PutMapping(f"{index}-2", {"properties": too_many}))
    many = {f"field{number}": 1 for number in range(5)}
    [result] = engine.perform(Bulk(f"{index}-2", [Action("index", "1", many)]))
    assert "index.mapping.total_fields.limit" in str(result.error)


def test_a_strict_mapping_asks_for_the_mapping_first(engine: Engine, index: str) -> None:
    engine.perform(CreateIndex(f"{index}-2", {"mappings": {"dynamic": "strict", **KEYWORDS}}))
    [result] = engine.perform(Bulk(f"{index}-2", [Action("index", "1", {"surprise": 1})]))
    assert result.status == 400
    assert "strict_dynamic_mapping_exception" in str(result.error)
    assert str(result.error).endswith("put the mapping before the documents.")


def test_objects_where_there_are_not_subobjects(engine: Engine, node: Node, index: str) -> None:
    without = {"subobjects": False, **KEYWORDS}
    new_fields = {"properties": {"dedup": {"type": "object", "enabled": False}}}
    if node.release.engine == "opensearch":
        with pytest.raises(MappingError, match="subobjects"):
            engine.perform(CreateIndex(f"{index}-2", {"mappings": without}))
    else:
        engine.perform(CreateIndex(f"{index}-2", {"mappings": without}))
        with pytest.raises(MappingError, match="subobjects"):
            engine.perform(PutMapping(f"{index}-2", new_fields))


@pytest.mark.parametrize("block", ["read_only", "write"])
def test_a_block_is_reported_and_left(engine: Engine, node: Node, index: str, block: str) -> None:
    node.request("PUT", f"/{index}/_settings", {f"index.blocks.{block}": True})
    [result] = engine.perform(put(index, "1", refresh=False))
    assert result.status == 403
    assert f"[{index}]" in str(result.error)
    assert "Ask its owner to remove the block" in str(result.error)
    assert engine.perform(Count(index, ALL)) == 0
    settings = node.request("GET", f"/{index}/_settings?flat_settings=true").body
    assert settings[index]["settings"][f"index.blocks.{block}"] == "true"


def test_a_blocked_index_refuses_a_mapping(engine: Engine, node: Node, index: str) -> None:
    node.request("PUT", f"/{index}/_settings", {"index.blocks.read_only": True})
    with pytest.raises(IndexStateError, match="blocked by"):
        engine.perform(PutMapping(index, KEYWORDS))


def test_a_full_disk_is_named_as_such(engine: Engine, node: Node, index: str) -> None:
    node.request("PUT", f"/{index}/_settings", {"index.blocks.read_only_allow_delete": True})
    [result] = engine.perform(put(index, "1", refresh=False))
    assert "flood-stage" in str(result.error)
    assert "Make room on the engine's disk" in str(result.error)


def test_a_closed_index(engine: Engine, node: Node, index: str) -> None:
    node.request("POST", f"/{index}/_close")
    reading: list[Operation[Any]] = [Search(index, {}), Count(index, ALL), GetDocuments(index, ["1"])]
    for operation in (*reading, Refresh(index)):
        with pytest.raises(IndexStateError, match=rf"POST {index}/_open"):
            engine.perform(operation)
    assert f"POST {index}/_open" in str(engine.perform(put(index, "1", refresh=False))[0].error)


def test_an_alias_of_several_indices_takes_no_documents(engine: Engine, alias: str) -> None:
    [result] = engine.perform(put(alias, "1", refresh=False))
    assert "no write index is defined" in str(result.error)
    assert "Name one of the indices behind it" in str(result.error)


def test_an_alias_of_several_indices_takes_no_fields(engine: Engine, alias: str) -> None:
    with pytest.raises(IndexStateError, match="Name one of the indices behind it"):
        engine.perform(PutMapping(alias, KEYWORDS))


def test_an_alias_is_not_deleted_with_what_is_behind_it(engine: Engine, alias: str, index: str) -> None:
    with pytest.raises(IndexStateError, match="Name the index itself"):
        engine.perform(DeleteIndex(alias))
    assert len(engine.perform(GetMappings(alias))) == 2


def test_a_write_index_makes_an_alias_writable(engine: Engine, node: Node, alias: str, index: str) -> None:
    write_here = {"add": {"index": f"{index}-2", "alias": alias, "is_write_index": True}}
    node.request("POST", "/_aliases", {"actions": [write_here]})
    assert engine.perform(put(alias, "1"))[0].error is None
    engine.perform(PutMapping(alias, {"properties": {"other": {"type": "long"}}}))
    assert "other" not in engine.perform(GetMappings(index))[index]["properties"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"query": {"no_such_query": {}}}, "no_such_query"),
        ({"no_such_key": {}}, "no_such_key"),
        ({"size": 20_000}, "max_result_window"),
        ({"query": {"bool": {"should": [{"term": {"tag": str(n)}} for n in range(9_000)]}}}, "maxClauseCount"),
        ({"query": {"terms": {"tag": [str(n) for n in range(66_000)]}}}, "max_terms_count"),
    ],
    ids=["query", "key", "size", "clauses", "terms"],
)
def test_a_search_that_the_engine_refuses(engine: Engine, index: str, body: Json, reason: str) -> None:
    with pytest.raises(EngineError, match=rf"Searching '{index}' failed: .*{reason}"):
        engine.perform(Search(index, body))
    with pytest.raises(EngineError, match=reason):
        engine.perform(MultiSearch(index, [{}, body]))


def test_a_cluster_that_does_not_answer_makes_no_answer(engine: Engine, node: Node, index: str) -> None:
    remote = "cluster.remote.gone"
    node.request(
        "PUT",
        "/_cluster/settings",
        {"persistent": {f"{remote}.skip_unavailable": True, f"{remote}.seeds": ["127.0.0.1:1"]}},
    )
    try:
        with pytest.raises(EngineError, match="1 of 2 clusters did not answer"):
            engine.perform(Search(f"{index},gone:anything", {}))
    finally:
        node.request(
            "PUT", "/_cluster/settings", {"persistent": {f"{remote}.skip_unavailable": None, f"{remote}.seeds": None}}
        )


def test_invalid_unicode_is_not_sent(engine: Engine, index: str) -> None:
    half = "\ud83d"
    actions = [Action("delete", "0", None), Action("index", "1", {"tag": "x"}), Action("index", "2", {"tag": half})]
    with pytest.raises(DocumentError, match=r"action 2 \(id '2'\)"):
        engine.perform(Bulk(index, actions))
    with pytest.raises(DocumentError, match="action 0"):
        engine.perform(Bulk(index, [Action("delete", half, None)]))
    search = Search(index, {"query": {"term": {"tag": half}}})
    operations: list[Operation[Any]] = [search, GetDocuments(index, [half]), Count(half, ALL)]
    for operation in operations:
        with pytest.raises(InputError):
            engine.perform(operation)
    assert engine.perform(Count(index, ALL)) == 0


def test_invalid_json_is_not_sent(engine: Engine, index: str) -> None:
    with pytest.raises(DocumentError, match=r"action 1 \(id '1'\).*set"):
        engine.perform(Bulk(index, [Action("index", "0", {}), Action("index", "1", {"tag": {1, 2}})]))


def test_numbers_that_json_lacks_are_refused(engine: Engine, index: str) -> None:
    [result] = engine.perform(Bulk(index, [Action("index", "1", {"number": float("nan")})]))
    assert result.status == 400


@pytest.mark.parametrize(
    "action",
    [
        Action("index", "1", None),
        Action("update", None, {"doc": {}}),
        Action("delete", None, None),
        Action("delete", "1", {}),
    ],
)
def test_an_incomplete_action_is_not_sent(engine: Engine, index: str, action: Action) -> None:
    with pytest.raises(DocumentError, match="Action 1"):
        engine.perform(Bulk(index, [Action("index", "0", {}), action]))
    assert engine.perform(GetDocuments(index, ["0"]))[0]["found"] is False
