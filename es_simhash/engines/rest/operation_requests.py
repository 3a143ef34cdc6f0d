"""Operations as requests of the shared REST interface, and replies as their results.

Each operation is a conversation: a generator that yields requests, receives the bodies of their replies, and returns
the result. It does no I/O and knows no client.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Any, TypeVar

from es_simhash._core.json_codec import Json
from es_simhash.engines.rest import point_in_time, settings_and_aliases
from es_simhash.engines.rest.errors import refusal
from es_simhash.engines.rest.reply_checks import as_many, document, hits_of, of_id, typed
from es_simhash.engines.rest.requests import (
    SOMETHING,
    WHOLE_ANSWER,
    Conversation,
    Request,
    acknowledged,
    doing,
    engine_info,
    error_in,
    index_of,
    one_index,
    path_of,
    whole,
)
from es_simhash.errors import AccessError, DocumentError, EngineError, IndexStateError
from es_simhash.plans.open_index import not_from_here
from es_simhash.plans.operations import (
    Action,
    ActionResult,
    Bulk,
    CloseReader,
    Count,
    CreateIndex,
    DeleteIndex,
    EngineInfo,
    GetDocuments,
    GetInfo,
    GetMappings,
    MultiSearch,
    OpenReader,
    Operation,
    PutMapping,
    ReadPage,
    Refresh,
    Sample,
    Search,
    is_remote,
    is_several,
)

Result = TypeVar("Result")


# The parts of a bulk reply that are requested: a third of the whole.
_OUTCOMES = "items.*._index,items.*._id,items.*.status,items.*.error"

# What servers do across clusters: they search.
_ACROSS_CLUSTERS = (Search, MultiSearch, Sample, Count, GetDocuments, OpenReader, ReadPage, CloseReader)

# Below index.max_result_window, whose default is 10,000.
_IDS_IN_A_SEARCH = 1_000

# Why `_mget` fails on an alias, a data stream, or an index that requires routing values.
_NOT_BY_ID_ALONE = {"illegal_argument_exception", "index_not_found_exception", "routing_missing_exception"}


def conversation(operation: Operation[Result]) -> Conversation[Result]:
    """Yield the requests of an operation, and return its result."""
    named = index_of(operation)
    if is_remote(named) and not isinstance(operation, _ACROSS_CLUSTERS):
        raise not_from_here(named, f"{doing(operation)} failed")
    steps: Conversation[Result] = _CONVERSATIONS[type(operation)](operation)
    try:
        request = next(steps)
        while True:
            body = yield request
            try:
                request = steps.send(body)
            except (KeyError, IndexError, TypeError, AttributeError) as error:
                raise EngineError(
                    f"{doing(operation)} failed: the reply has another form than the engine's ({error}). "
                    "Check the proxy in front of the engine, or correct the address."
                ) from error
    except StopIteration as end:
        result: Result = end.value
        return result


def lines_of(action: Action) -> list[Json]:
    """Return the lines of an action in a bulk request."""
    metadata = {**(action.metadata or {}), **_given(_id=action.id, _index=action.index)}
    return [{action.op_type: metadata}, *([] if action.body is None else [action.body])]


def _get_info(operation: GetInfo) -> Conversation[EngineInfo]:
    return (yield from engine_info())


def _get_mappings(operation: GetMappings) -> Conversation[dict[str, Json]]:
    reply = yield Request("GET", path_of(operation.index, "_mapping"), SOMETHING)
    return {index: typed(found["mappings"], dict) for index, found in reply.items()}


def _create_index(operation: CreateIndex) -> Conversation[None]:
    path = path_of(one_index(operation))
    acknowledged(operation, (yield Request("PUT", path, body=operation.body, repeatable=False)))


def _put_mapping(operation: PutMapping) -> Conversation[None]:
    # An alias must lead to one index only.
    path, params = path_of(one_index(operation), "_mapping"), {"write_index_only": "true"}
    acknowledged(operation, (yield Request("PUT", path, params, operation.body)))


def _delete_index(operation: DeleteIndex) -> Conversation[None]:
    acknowledged(operation, (yield Request("DELETE", path_of(one_index(operation)), repeatable=False)))


def _get_documents(operation: GetDocuments) -> Conversation[list[Json]]:
    """Read documents by `_mget`, which sees documents just written.

    It does not support aliases of several indices, or patterns; there, a search for the ids is used, which sees
    documents only after a refresh.
    """
    if not operation.ids:
        return []
    if not is_several(operation.index) and not is_remote(operation.index):
        routings = operation.routings or [None] * len(operation.ids)
        documents = [
            {"_id": id_, **_source_filter(operation), **({} if routing is None else {"routing": routing})}
            for id_, routing in zip(operation.ids, routings, strict=True)
        ]
        reply = yield Request("POST", path_of(operation.index, "_mget"), body={"docs": documents})
        answers = as_many(reply["docs"], operation.ids)
        refused = [found["error"] for found in answers if "error" in found]
        if not refused:
            return [
                _with_source(operation, of_id(found, id_)) for found, id_ in zip(answers, operation.ids, strict=True)
            ]
        if refused[0]["type"] not in _NOT_BY_ID_ALONE:
            raise error_in(operation, 400, {"error": refused[0]})
    return (yield from _search_for_ids(operation))


def _search_for_ids(operation: GetDocuments) -> Conversation[list[Json]]:
    found: dict[str, Json] = {}
    for start in range(0, len(operation.ids), _IDS_IN_A_SEARCH):
        ids = list(operation.ids[start : start + _IDS_IN_A_SEARCH])
        query = {"query": {"ids": {"values": ids}}, "size": len(ids), "seq_no_primary_term": True}
        body = {**query, **_source_filter(operation), "track_total_hits": True}
        reply = yield Request("POST", path_of(operation.index, "_search"), WHOLE_ANSWER, body)
        hits = hits_of(whole(operation, reply))
        found.update((hit["_id"], hit) for hit in hits)
        if reply["hits"]["total"]["value"] > len(found.keys() & set(ids)):
            raise IndexStateError(
                f"{doing(operation)} found several with one id, in different indices. Name the one index that is meant."
            )
    missing = {"_index": operation.index, "found": False}
    return [
        _with_source(operation, {**found[id_], "found": True}) if id_ in found else {**missing, "_id": id_}
        for id_ in operation.ids
    ]


def _search(operation: Search) -> Conversation[Json]:
    if operation.reader is None:
        path = path_of(operation.index, "_search")
        params = {**WHOLE_ANSWER, **_given(preference=operation.preference)}
        reply = yield Request("POST", path, params, operation.body)
    else:
        body = point_in_time.at_point_in_time(operation.reader, operation.body)
        whole_answer = {"allow_partial_search_results": "false"}
        reply = yield Request("POST", "/_search", whole_answer, body)
    return _searched(operation, reply)


def _searched(operation: Search | MultiSearch, reply: Json) -> Json:
    hits_of(whole(operation, reply))
    return reply


def _sample(operation: Sample) -> Conversation[list[Json]]:
    scored = {"query": operation.query, "random_score": {"seed": 1, "field": "_seq_no"}, "boost_mode": "replace"}
    body = {"query": {"function_score": scored}, "size": operation.size, "_source": False, "track_total_hits": False}
    body["seq_no_primary_term"] = True
    reply = yield Request("POST", path_of(operation.index, "_search"), WHOLE_ANSWER, body)
    return hits_of(whole(operation, reply))


def _multi_search(operation: MultiSearch) -> Conversation[list[Json]]:
    if not operation.bodies:
        return []
    lines = [line for body in operation.bodies for line in (dict(WHOLE_ANSWER), body)]
    reply = yield Request("POST", path_of(operation.index, "_msearch"), body=lines)
    answers = as_many(reply["responses"], operation.bodies)
    for answer in answers:
        if "error" in answer:
            raise error_in(operation, answer["status"], answer)
    return [_searched(operation, answer) for answer in answers]


def _bulk(operation: Bulk) -> Conversation[list[ActionResult]]:
    if not operation.actions:
        return []
    for place, action in enumerate(operation.actions):
        _check_whole(place, action)
        if action.index and is_remote(action.index):
            raise not_from_here(action.index, f"{doing(operation)} failed")
    reply = yield Request(
        "POST",
        path_of(operation.index, "_bulk"),
        {"filter_path": _OUTCOMES} | ({"refresh": "true"} if operation.refresh else {}),
        [line for action in operation.actions for line in lines_of(action)],
        repeatable=not operation.rolls and all(map(_is_repeatable, operation.actions)),
    )
    answers = zip(operation.actions, as_many(reply["items"], operation.actions), strict=True)
    return [_action_result(operation, action, of_id(_item(action, named), action.id)) for action, named in answers]


def _item(action: Action, named: Json) -> Json:
    """Return what became of an action: OpenSearch may answer an update that met with a failover as what it became."""
    name = "index" if action.op_type == "update" and "index" in named else action.op_type
    return typed(named[name], dict)


def _action_result(operation: Bulk, action: Action, item: Json) -> ActionResult:
    result = ActionResult(item["_id"], typed(item["status"], int), refusal(item))
    name = action.index or operation.index
    if result.error and result.status == HTTPStatus.NOT_FOUND and item["_index"] != name:
        # Of an alias, only the write index is asked.
        other = f"If another index behind {name!r} holds the document, name that index (_index)."
        result = replace(result, error=f"{result.error} {item['_index']!r} was asked. {other}")
    if "error" not in item or item["status"] == HTTPStatus.CONFLICT:
        return result
    error = error_in(operation, item["status"], item)
    return replace(result, index_error=error) if isinstance(error, (AccessError, IndexStateError)) else result


def _refresh(operation: Refresh) -> Conversation[None]:
    whole(operation, (yield Request("POST", path_of(operation.index, "_refresh"), SOMETHING)))


def _count(operation: Count) -> Conversation[int]:
    if is_remote(operation.index):
        # A count says nothing of clusters that were left out.
        body = {"size": 0, "query": operation.query, "track_total_hits": True}
        reply = yield Request("POST", path_of(operation.index, "_search"), WHOLE_ANSWER, body)
        return typed(whole(operation, reply)["hits"]["total"]["value"], int)
    reply = yield Request("POST", path_of(operation.index, "_count"), SOMETHING, {"query": operation.query})
    return typed(whole(operation, reply)["count"], int)


_CONVERSATIONS: Mapping[type[Operation[Any]], Callable[[Any], Conversation[Any]]] = {
    GetInfo: _get_info,
    GetMappings: _get_mappings,
    CreateIndex: _create_index,
    PutMapping: _put_mapping,
    DeleteIndex: _delete_index,
    GetDocuments: _get_documents,
    Search: _search,
    MultiSearch: _multi_search,
    Sample: _sample,
    Bulk: _bulk,
    Refresh: _refresh,
    Count: _count,
    **point_in_time.CONVERSATIONS,
    **settings_and_aliases.CONVERSATIONS,
}


def _source_filter(operation: GetDocuments) -> Json:
    # An empty list would mean the whole document.
    return {} if operation.source is None else {"_source": list(operation.source) or False}


def _with_source(operation: GetDocuments, found: Json) -> Json:
    if not typed(found["found"], bool):
        return found
    nothing_asked = operation.source is not None and not operation.source
    return {**document(found), "_source": {}} if nothing_asked else document(found)


def _check_whole(place: int, action: Action) -> None:
    """Raise for an action without its document or id, for which the engine would refuse the whole request."""
    if (action.body is None) != (action.op_type == "delete"):
        problem = "has a body, which a delete never has" if action.body else "has no body"
    elif action.id is None and action.op_type in ("update", "delete"):
        problem = "has no id"
    else:
        return
    raise DocumentError(f"Action {place} ({action.op_type}, id {action.id!r}) {problem}. Correct or drop it.")


def _is_repeatable(action: Action) -> bool:
    """Return whether repeating an action has no further effect."""
    overwrites = action.op_type in ("index", "update") and action.id is not None
    return overwrites and "script" not in (action.body or {}) and "if_seq_no" not in (action.metadata or {})


def _given(**values: str | None) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}
