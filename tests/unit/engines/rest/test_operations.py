"""Operations as requests, and replies as results: without any server.

Pages of readers: what is asked for, and where a slice begins and ends.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash._core.json_codec import Json
from es_simhash.engines.rest.operations import checked, conversation, lines_of
from es_simhash.engines.rest.requests import REMEDIES, Reply, Request, reason_of
from es_simhash.errors import (
    AccessError,
    EngineError,
    IndexStateError,
    InputError,
    MappingError,
    ReaderLostError,
    TooLargeError,
    UnansweredError,
    UnavailableError,
    UnreachableError,
)
from es_simhash.plans.operations import (
    Action,
    Bulk,
    CheckFiles,
    CloseReader,
    Count,
    CreateIndex,
    DeleteIndex,
    DeleteResource,
    EngineInfo,
    GetAliases,
    GetDocuments,
    GetInfo,
    GetMappings,
    GetResource,
    GetSettings,
    MultiSearch,
    OpenReader,
    Operation,
    PutMapping,
    PutResource,
    PutSettings,
    Reader,
    ReadPage,
    Refresh,
    Sample,
    Search,
    Slice,
    UpdateAliases,
    is_remote,
)
from tests.support.operations import OPERATIONS

Result = TypeVar("Result")

WHOLE = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
FAILED = {"total": 2, "failed": 1, "failures": [{"reason": {"type": "query_exception", "reason": "too hot"}}]}
NO_HITS = {"total": {"value": 0}, "hits": []}
READER = Reader("elasticsearch", "index", "id")
EVERY: dict[type[Operation[Any]], Operation[Any]] = {
    GetInfo: GetInfo(),
    GetMappings: GetMappings("index"),
    CreateIndex: CreateIndex("index", {}),
    PutMapping: PutMapping("index", {}),
    DeleteIndex: DeleteIndex("index"),
    GetDocuments: GetDocuments("index", ["1"]),
    Search: Search("index", {}),
    MultiSearch: MultiSearch("index", [{}]),
    Sample: Sample("index", 10, {}),
    Bulk: Bulk("index", [Action("index", "1", {})]),
    Refresh: Refresh("index"),
    Count: Count("index", {}),
    OpenReader: OpenReader("index"),
    ReadPage: ReadPage(READER, {}, 10, True),
    CloseReader: CloseReader(READER),
    GetSettings: GetSettings("index"),
    PutSettings: PutSettings("index", {}),
    GetAliases: GetAliases("index"),
    UpdateAliases: UpdateAliases([]),
    GetResource: GetResource("/_cat/health"),
    PutResource: PutResource("/_ingest/pipeline/name", {}),
    DeleteResource: DeleteResource("/_ingest/pipeline/name"),
}
# Requests without the name of an index, or first to the server.
ELSEWHERE = {GetInfo, OpenReader, ReadPage, CloseReader, UpdateAliases, GetResource, PutResource, DeleteResource}
# Whatever comes is the result.
ANYTHING = {CloseReader, GetResource}


def converse(operation: Operation[Result], *replies: Json) -> tuple[list[Request], Result]:
    """The requests of an operation and its result, with these replies."""
    steps, requests, body = conversation(operation), [], None
    coming = iter(replies)
    while True:
        try:
            requests.append(steps.send(body))  # type: ignore[arg-type]
        except StopIteration as end:
            assert not list(coming)
            return requests, end.value
        body = next(coming)


@pytest.mark.parametrize("kind", EVERY)
def test_every_operation_is_known(kind: type[Operation[Any]]) -> None:
    request = next(conversation(EVERY[kind]))
    assert request.path.startswith("/" if kind in ELSEWHERE else "/index")


@pytest.mark.parametrize("kind", [kind for kind in EVERY if kind not in ANYTHING])
def test_a_reply_of_another_service_is_not_a_result(kind: type[Operation[Any]]) -> None:
    with pytest.raises(EngineError, match=r"another form than the engine's|does not identify itself"):
        converse(EVERY[kind], {"hello": "world"})


@pytest.mark.parametrize(
    ("status", "kind", "reason", "error"),
    [
        (429, "es_rejected_execution_exception", "rejected execution of primary operation", None),
        (429, "rejected_execution_exception", "rejected execution of primary operation", None),
        (429, "circuit_breaking_exception", "[parent] Data too large", None),
        (503, "unavailable_shards_exception", "[index][0] primary shard is not active", None),
        (429, "cluster_block_exception", "disk usage exceeded flood-stage watermark", IndexStateError),
    ],
)
def test_a_temporary_refusal_concerns_a_document_and_a_block_the_index(
    status: int, kind: str, reason: str, error: type[EngineError] | None
) -> None:
    item = {"_index": "index", "_id": "1", "status": status, "error": {"type": kind, "reason": reason}}
    _, [result] = converse(EVERY[Bulk], {"items": [{"index": item}]})
    assert (result.id, result.status) == ("1", status)
    assert reason in result.error
    assert type(result.index_error) is (error or type(None))


@pytest.mark.parametrize(
    ("kind", "reason", "advice"),
    [
        (
            "illegal_argument_exception",
            "only write ops with an op_type of create are allowed in data streams",
            "new documents by op_type create (load --create-only); change or delete others in the backing index",
        ),
        (
            "document_parsing_exception",
            "[1:2] data stream timestamp field [@timestamp] is missing",
            "Each document of a data stream has one date in that field: give it one.",
        ),
        (
            "mapper_parsing_exception",
            "documents must contain a single-valued timestamp field '@timestamp' of date type",
            "Each document of a data stream has one date in that field: give it one.",
        ),
    ],
)
def test_what_a_data_stream_refuses_comes_with_what_it_takes(kind: str, reason: str, advice: str) -> None:
    item = {"_index": "logs", "_id": "1", "status": 400, "error": {"type": kind, "reason": reason}}
    _, [result] = converse(Bulk("logs", [Action("index", "1", {})]), {"items": [{"index": item}]})
    assert advice in str(result.error)


@pytest.mark.parametrize("name", [None, "news-2"])
def test_what_an_alias_has_not_got_may_be_in_another_of_its_indices(name: str | None) -> None:
    item = {"_index": "news-2", "_id": "1", "status": 404}
    _, [result] = converse(Bulk("news", [Action("delete", "1", None, name)]), {"items": [{"delete": item}]})
    advice = "'news-2' was asked. If another index behind 'news' holds the document, name that index (_index)."
    assert (advice in str(result.error)) is (name is None)


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_proxy_that_was_not_answered_knows_not_what_was_done(status: int) -> None:
    with pytest.raises(UnavailableError, match="try again") as raised:
        checked(EVERY[Bulk], Reply(status, "<html>"))
    assert isinstance(raised.value, UnansweredError) is (status != 503)


def test_a_name_that_rolls_over_is_never_written_to_by_a_client_s_own_retry() -> None:
    for rolls in (False, True):
        bulk = Bulk("news", [Action("index", "1", {})], rolls=rolls)
        assert next(conversation(bulk)).repeatable is not rolls


def test_servers_perform_every_operation_except_file_checks() -> None:
    assert EVERY.keys() == OPERATIONS - {CheckFiles}
    with pytest.raises(EngineError, match=r"'index' are the server's.*with the embedded engine only"):
        converse(CheckFiles("index"))


def test_a_reader_that_is_gone_is_closed() -> None:
    gone = {"succeeded": False, "num_freed": 0}
    assert checked(EVERY[CloseReader], Reply(404, gone)) == gone


def test_a_missing_resource_is_empty_and_no_error() -> None:
    assert checked(GetResource("/_ingest/pipeline/none"), Reply(404, {})) == {}
    assert checked(GetResource("/_scripts/none"), Reply(404, {"found": False})) == {"found": False}
    with pytest.raises(EngineError, match="no handler"):
        checked(GetResource("/_unknown"), Reply(404, {"error": "no handler found"}))
    with pytest.raises(EngineError):
        checked(GetMappings("index"), Reply(404, {}))


# ---- names


def is_of_this_cluster(name: str) -> bool:
    return name not in (".", "..") and not is_remote(name)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(is_of_this_cluster))
def test_a_name_is_one_segment_of_the_path(name: str) -> None:
    [request], _ = converse(Refresh(name), {"_shards": WHOLE})
    empty, segment, endpoint = request.path.split("/")
    assert (empty, unquote(segment), endpoint) == ("", name, "_refresh")
    assert segment.isascii()
    assert not set(segment) & set("?#&+ ")


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_a_name_that_a_path_would_lose_is_refused(name: str) -> None:
    operations: list[Operation[Any]] = [Search(name, {}), DeleteIndex(name), Bulk(name, [Action("delete", "1", None)])]
    for operation in operations:
        with pytest.raises(InputError, match="is not the name of an index"):
            next(conversation(operation))


# ---- whole answers


@pytest.mark.parametrize(
    ("lack", "reason"),
    [
        ({"timed_out": True, "_shards": WHOLE}, "it timed out"),
        ({"_shards": FAILED}, r"1 of 2 shards failed \(query_exception: too hot\)"),
        ({"_shards": {"total": 3, "failed": 2}}, r"2 of 3 shards failed \(no reason given\)"),
        ({"_shards": WHOLE, "_clusters": {"total": 4, "skipped": 1}}, "1 of 4 clusters did not answer"),
    ],
    ids=["time", "shards", "shards without a reason", "clusters"],
)
def test_an_incomplete_answer_is_an_error(lack: Json, reason: str) -> None:
    reply = {"timed_out": False, "hits": NO_HITS, "count": 0, **lack}
    asked: list[Operation[Any]] = [EVERY[Search], EVERY[Count], EVERY[Refresh]]
    for operation in asked:
        with pytest.raises(EngineError, match=rf"'index' gave an incomplete answer: {reason}"):
            converse(operation, reply)
    with pytest.raises(EngineError, match=reason):
        converse(MultiSearch("index", [{}, {}]), {"responses": [{"hits": NO_HITS, "_shards": WHOLE}, reply]})
    with pytest.raises(EngineError, match=reason):
        converse(GetDocuments("a,b", ["1"]), reply)


AWAY = [
    {"type": "node_not_connected_exception", "reason": "[node-2][127.0.0.1:9300] Node not connected"},
    {"type": "no_shard_available_action_exception", "reason": None},
    {"type": "failed", "caused_by": {"type": "node_disconnected_exception", "reason": "[node-2] disconnected"}},
    {"type": "illegal_state_exception", "reason": "[index][0] operation primary term [1] is too old (current [2])"},
]


@pytest.mark.parametrize("reason", AWAY, ids=["not connected", "no shard", "disconnected", "old term"])
def test_shards_that_are_away_with_a_node_may_be_asked_again(reason: Json) -> None:
    failed = {"total": 2, "failed": 1, "failures": [{"shard": 0, "reason": reason}]}
    for operation in (EVERY[Count], EVERY[Refresh]):
        with pytest.raises(UnavailableError, match="incomplete answer: 1 of 2 shards failed"):
            converse(operation, {"count": 0, "_shards": failed})


def test_an_update_that_met_with_a_failover_is_answered_as_a_write() -> None:
    operation = Bulk("index", [Action("update", "1", {"doc": {}}), Action("update", "2", {"doc": {}})])
    items = [{"index": {"_index": "index", "_id": "1", "status": 200}}, {"update": {"_id": "2", "status": 200}}]
    _, results = converse(operation, {"items": items})
    assert [(each.id, each.error) for each in results] == [("1", None), ("2", None)]


def test_a_reader_is_lost_with_a_node_of_its_shards() -> None:
    cause = {"type": "illegal_state_exception", "reason": "no node found for id: C-2g1DW-RDuesKpy--V4AA"}
    error = {"type": "search_phase_execution_exception", "reason": "Partial shards failure", "caused_by": cause}
    with pytest.raises(ReaderLostError, match="from its beginning"):
        checked(EVERY[ReadPage], Reply(500, {"error": error, "status": 500}))


@pytest.mark.parametrize("reason", [AWAY[0], *AWAY[2:]], ids=["not connected", "disconnected", "old term"])
def test_a_node_that_is_away_may_have_done_what_it_was_asked(reason: Json) -> None:
    with pytest.raises(UnreachableError, match="A node of the cluster is away"):
        checked(EVERY[Bulk], Reply(500, {"error": reason, "status": 500}))


def test_searches_ask_for_whole_answers() -> None:
    [request], _ = converse(Search("index", {}), {"_shards": WHOLE, "hits": {"hits": []}})
    assert request.params == {"allow_no_indices": "false", "allow_partial_search_results": "false"}
    [request], _ = converse(
        MultiSearch("index", [{"size": 1}]), {"responses": [{"_shards": WHOLE, "hits": {"hits": []}}]}
    )
    assert request.body == [request.body[0], {"size": 1}]  # type: ignore[index]
    assert request.body[0] == {"allow_no_indices": "false", "allow_partial_search_results": "false"}


@pytest.mark.parametrize("kind", [CreateIndex, PutMapping, DeleteIndex])
def test_an_unconfirmed_change_is_reported(kind: type[Operation[Any]]) -> None:
    with pytest.raises(UnavailableError, match="not every node has confirmed"):
        converse(EVERY[kind], {"acknowledged": False})
    _, result = converse(EVERY[kind], {"acknowledged": True})
    assert result is None


# ---- documents by id


def test_ids_are_searched_in_parts() -> None:
    ids = [str(number) for number in range(2_500)]
    parts = [ids[:1_000], ids[1_000:2_000], ids[2_000:]]
    replies = [{"_shards": WHOLE, "hits": hits([(id_, "a") for id_ in part])} for part in parts]
    requests, found = converse(GetDocuments("a,b", ids), *replies)
    assert [request.body["query"]["ids"]["values"] for request in requests] == parts  # type: ignore[call-overload, index]
    assert [document["_id"] for document in found] == ids


def test_an_id_asked_for_twice_is_found_twice() -> None:
    _, found = converse(GetDocuments("a,b", ["1", "1"]), {"_shards": WHOLE, "hits": hits([("1", "a")])})
    assert [document["found"] for document in found] == [True, True]


def test_an_id_found_in_two_indices_is_refused() -> None:
    reply = {"_shards": WHOLE, "hits": hits([("1", "a"), ("1", "b")])}
    with pytest.raises(IndexStateError, match="several with one id"):
        converse(GetDocuments("a,b", ["1", "2"]), reply)


def hits(found: list[tuple[str, str]]) -> Json:
    documents = [{"_id": id_, "_index": index, "_source": {}} for id_, index in found]
    return {"total": {"value": len(documents)}, "hits": documents}


@pytest.mark.parametrize("kind", ["illegal_argument", "routing_missing", "index_not_found"])
def test_documents_that_an_id_alone_does_not_find_are_searched_for(kind: str) -> None:
    refused = {"docs": [{"_id": "1", "error": {"type": f"{kind}_exception", "reason": "…"}}]}
    requests, found = converse(GetDocuments("alias", ["1"]), refused, {"_shards": WHOLE, "hits": hits([("1", "a")])})
    assert [request.path for request in requests] == ["/alias/_mget", "/alias/_search"]
    assert found[0]["found"]


def test_another_failure_by_id_is_an_error() -> None:
    refused = {"docs": [{"_id": "1", "error": {"type": "circuit_breaking_exception", "reason": "…"}}]}
    with pytest.raises(EngineError, match="Reading documents of 'index' failed: circuit_breaking"):
        converse(GetDocuments("index", ["1"]), refused)


def test_documents_of_a_server_that_is_still_recovering_may_be_asked_for_again() -> None:
    refused = {"docs": [{"_id": "1", "error": {"type": "no_shard_available_action_exception", "reason": "…"}}]}
    with pytest.raises(UnavailableError, match="Reading documents of 'index' failed: no_shard_available"):
        converse(GetDocuments("index", ["1"]), refused)


# ---- bulk


def test_an_action_is_one_or_two_lines() -> None:
    action = Action("update", "1", {"doc": {}}, index="other", metadata={"routing": "r"})
    assert lines_of(action) == [{"update": {"routing": "r", "_id": "1", "_index": "other"}}, {"doc": {}}]
    assert lines_of(Action("delete", "1", None)) == [{"delete": {"_id": "1"}}]
    assert lines_of(Action("index", None, {})) == [{"index": {}}, {}]


@pytest.mark.parametrize(
    ("action", "repeatable"),
    [
        (Action("index", "1", {}), True),
        (Action("update", "1", {"doc": {}}), True),
        (Action("index", None, {}), False),
        (Action("create", "1", {}), False),
        (Action("delete", "1", None), False),
        (Action("update", "1", {"script": "…"}), False),
        (Action("index", "1", {}, metadata={"if_seq_no": 1}), False),
    ],
    ids=str,
)
def test_only_what_overwrites_may_be_repeated(action: Action, repeatable: bool) -> None:
    assert next(conversation(Bulk("index", [action]))).repeatable is repeatable
    assert next(conversation(Bulk("index", [Action("index", "0", {}), action]))).repeatable is repeatable


# ---- versions and fields


@pytest.mark.parametrize(
    ("version", "info"),
    [
        ({"number": "9.4.3"}, EngineInfo("elasticsearch", (9, 4, 3))),
        ({"number": "3.8.0", "distribution": "opensearch"}, EngineInfo("opensearch", (3, 8, 0))),
        ({"number": "9.5.0-SNAPSHOT.7"}, EngineInfo("elasticsearch", (9, 5, 0))),
    ],
    ids=str,
)
def test_a_version_is_numbers(version: Json, info: EngineInfo) -> None:
    assert converse(GetInfo(), {"version": version})[1] == info


@pytest.mark.parametrize("mapping", [None, [], {"properties": []}, {"properties": {"a": None}}], ids=str)
def test_an_invalid_mapping_does_not_hide_the_reason(mapping: Any) -> None:
    with pytest.raises(MappingError, match="No handler"):
        checked(PutMapping("index", mapping), Reply(400, {"error": {"type": "x", "reason": "No handler for type"}}))


def test_fields_are_counted_as_the_limit_counts_them() -> None:
    words = {"type": "keyword", "fields": {"words": {"type": "text"}}}
    mapping = {"properties": {"a": words, "b": {"properties": {"c": {"type": "long"}}}}, "_meta": {"properties": {}}}
    limit = {"error": {"type": "illegal_argument_exception", "reason": "Limit of total fields [3] has been exceeded"}}
    for operation in (PutMapping("index", mapping), CreateIndex("index", {"mappings": mapping})):
        with pytest.raises(MappingError, match=r"4 field\(s\)"):
            checked(operation, Reply(400, limit))


# ---- reasons


def test_a_reason_is_reported_with_its_causes_once_each() -> None:
    cause = {"type": "inner", "reason": "why"}
    error = {"type": "outer", "reason": "what", "root_cause": [cause], "caused_by": {**cause, "caused_by": cause}}
    assert reason_of(error) == "outer: what; inner: why"


def test_the_reason_of_a_search_is_that_of_its_shards() -> None:
    root = {"type": "query_shard_exception", "reason": "failed to create query"}
    error = {"type": "search_phase_execution_exception", "reason": "all shards failed", "root_cause": [root]}
    assert reason_of(error) == "query_shard_exception: failed to create query"


def test_a_long_reason_is_cut() -> None:
    assert len(reason_of({"type": "long", "reason": "x" * 100_000})) < 1_100


@pytest.mark.parametrize("what", ["Result window", "Batch size"])
def test_too_many_documents_at_once_are_too_large_a_request(what: str) -> None:
    reason = f"{what} is too large, from + size must be less than or equal to: [100]"
    with pytest.raises(TooLargeError, match="Ask for fewer documents at once"):
        checked(Search("index", {}), Reply(400, {"error": {"type": "illegal_argument_exception", "reason": reason}}))


@pytest.mark.parametrize(
    ("reason", "named"),
    [
        (
            "action [indices:data/read/search] is unauthorized for API key id [x] of user [elastic] on indices [news], "
            "this action is granted by the index privileges [read,all]",
            "the index privilege read",
        ),
        (
            "action [cluster:monitor/main] is unauthorized, "
            "this action is granted by the cluster privileges [monitor,manage,all]",
            "the cluster privilege monitor",
        ),
        ("no permissions for [indices:data/read/search] and User [name=bob]", "the action indices:data/read/search"),
        ("refused", "the privilege"),
    ],
)
def test_a_refusal_names_the_least_privilege_and_the_page(reason: str, named: str) -> None:
    body = {"error": {"type": "security_exception", "reason": reason}}
    with pytest.raises(AccessError) as raised:
        checked(Search("news", {}), Reply(403, body))
    assert f"Have {named} granted, or use a login that has it: docs/how-to/security.md" in str(raised.value)


@pytest.mark.parametrize("remedy", REMEDIES, ids=lambda remedy: remedy.pattern)
def test_every_remedy_is_a_sentence(remedy: Any) -> None:
    assert remedy.advice.format(index="index", privilege="the privilege").endswith(".")
    assert remedy.advice[0].isupper()


@given(status=st.integers(300, 599), body=st.recursive(st.none() | st.text() | st.integers(), st.lists) | st.binary())
def test_any_failure_is_an_error_that_ends_in_advice(status: int, body: object) -> None:
    with pytest.raises((EngineError, InputError), match=r"(?s)^Searching 'index' failed: .*\.$"):
        checked(Search("index", {}), Reply(status, body))


def page_of(*places: int) -> Json:
    found = [{"_index": "index", "_id": str(place), "sort": [place]} for place in places]
    shards = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
    return {"pit_id": "next", "_shards": shards, "hits": {"hits": found}}


def test_whole_documents_are_asked_for_without_leaving_parts_out() -> None:
    [request], page = converse(
        ReadPage(Reader("elasticsearch", "index", "id"), {}, 10, ["a"], after=3, whole=True), page_of(4, 5)
    )
    assert isinstance(request.body, dict)
    assert (request.body["_source"], request.body["search_after"]) == (True, [3])
    assert (page.after, page.reader.id) == (5, "next")


def test_a_slice_of_opensearch_is_what_lies_between_two_places() -> None:
    second = 1 << 32
    reader = Reader("opensearch", "index", "id")
    asked = ReadPage(reader, {"q": 1}, 10, ["a"], Slice(1, 4))
    (last, first), page = converse(asked, page_of(second + 99), page_of(50, 60))
    assert isinstance(last.body, dict)
    assert isinstance(first.body, dict)
    assert (last.body["sort"], last.body["size"]) == ([{"_shard_doc": "desc"}], 1)
    assert "slice" not in first.body
    assert (first.body["search_after"], first.body["query"]) == ([49], {"q": 1})
    assert [hit["_id"] for hit in page.hits] == ["50", "60"]
    [behind], over = converse(replace(asked, after=page.after), page_of(61, second - 1, second, second + 1))
    assert isinstance(behind.body, dict)
    assert behind.body["search_after"] == [60]
    assert [hit["_id"] for hit in over.hits] == ["61", str(second - 1)]
    requests, nothing = converse(replace(asked, after=over.after))
    assert (requests, nothing.hits) == ([], [])


def test_slices_of_an_empty_index_are_empty() -> None:
    asked = ReadPage(Reader("opensearch", "index", "id"), {}, 10, True, Slice(1, 2))
    requests, page = converse(asked, page_of())
    assert (len(requests), page.hits) == (1, [])
