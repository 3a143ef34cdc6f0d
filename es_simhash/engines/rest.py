"""Operations as requests of the REST interface that Elasticsearch and OpenSearch share, and replies as their results.

Each operation is a conversation: a generator that yields requests, is sent the bodies of their replies, and returns
the result. It does no I/O and knows no client.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any, TypeAlias, TypeVar
from urllib.parse import quote

from es_simhash.engines.rest_errors import error_of, incompleteness, refusal
from es_simhash.errors import AccessError, DocumentError, EngineError, IndexStateError, InputError
from es_simhash.operations import (
    Action,
    ActionResult,
    Bulk,
    Count,
    CreateIndex,
    DeleteIndex,
    EngineInfo,
    GetDocuments,
    GetInfo,
    GetMappings,
    Json,
    MultiSearch,
    Operation,
    PutMapping,
    Refresh,
    Search,
)

Result = TypeVar("Result")


@dataclass(frozen=True)
class Request:
    """One HTTP request; a list as the body stands for lines (NDJSON).

    What is not ``repeatable`` must be sent once only: a client's own retry could write a document twice, or report as
    a conflict what it has done itself.
    """

    method: str
    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    body: Json | list[Json] | None = None
    repeatable: bool = True


@dataclass(frozen=True)
class Reply:
    """The status of a reply, and its decoded body."""

    status: int
    body: Any


Conversation: TypeAlias = Generator[Request, Json, Result]

# A pattern that fits nothing, or a shard that fails, must not look like an empty answer.
_SOMETHING = {"allow_no_indices": "false"}
_WHOLE_ANSWER = {**_SOMETHING, "allow_partial_search_results": "false"}

# Below index.max_result_window, whose default is 10,000.
_IDS_IN_A_SEARCH = 1_000

# Why `_mget` cannot find a document of an alias, a data stream, or an index that wants a routing value.
_NOT_BY_ID_ALONE = {"illegal_argument_exception", "index_not_found_exception", "routing_missing_exception"}


def conversation(operation: Operation[Result]) -> Conversation[Result]:
    """The requests of an operation, and what their replies come to."""
    steps: Conversation[Result] = _CONVERSATIONS[type(operation)](operation)
    try:
        request = next(steps)
        while True:
            body = yield request
            try:
                request = steps.send(body)
            except (KeyError, TypeError) as error:
                raise EngineError(
                    f"{doing(operation)} failed: the reply has another form than the engine's ({error}). "
                    "Look at the proxy before the engine, or correct the address."
                ) from error
    except StopIteration as end:
        result: Result = end.value
        return result


def checked(operation: Operation[Any], reply: Reply) -> Json:
    """The body of a reply; one that tells of an error, or is no JSON object, is raised."""
    if reply.status < 300 and isinstance(reply.body, dict):
        return reply.body
    raise _error(operation, reply.status, reply.body)


def lines_of(action: Action) -> list[Json]:
    """An action as the lines of a bulk request."""
    metadata = {**(action.metadata or {}), **_given(_id=action.id, _index=action.index)}
    return [{action.op_type: metadata}, *([] if action.body is None else [action.body])]


def doing(operation: Operation[Any]) -> str:
    """What an operation does, and to which index, as the beginning of a sentence."""
    body = getattr(operation, "body", {})
    new_fields = _number_of_fields(body.get("mappings") if isinstance(operation, CreateIndex) else body)
    return _DOING[type(operation)].format(index=repr(_index_of(operation)), fields=new_fields)


def _get_info(operation: GetInfo) -> Conversation[EngineInfo]:
    match (yield Request("GET", "/")):
        case {"version": {"number": str(number)} as version}:
            numbers = re.findall(r"\d+", number.partition("-")[0])
            return EngineInfo(version.get("distribution", "elasticsearch"), tuple(map(int, numbers)))
    raise EngineError(
        "The server does not say which engine it is. Name it: distribution='elasticsearch' or 'opensearch'."
    )


def _get_mappings(operation: GetMappings) -> Conversation[dict[str, Json]]:
    reply = yield Request("GET", _path(operation.index, "_mapping"), _SOMETHING)
    return {index: found["mappings"] for index, found in reply.items()}


def _create_index(operation: CreateIndex) -> Conversation[None]:
    path = _path(_one_index(operation))
    _acknowledged(operation, (yield Request("PUT", path, body=operation.body, repeatable=False)))


def _put_mapping(operation: PutMapping) -> Conversation[None]:
    # Through an alias, only one index may be meant.
    path, params = _path(_one_index(operation), "_mapping"), {"write_index_only": "true"}
    _acknowledged(operation, (yield Request("PUT", path, params, operation.body)))


def _delete_index(operation: DeleteIndex) -> Conversation[None]:
    _acknowledged(operation, (yield Request("DELETE", _path(_one_index(operation)), repeatable=False)))


def _get_documents(operation: GetDocuments) -> Conversation[list[Json]]:
    """By `_mget`, which sees what was just written.

    It does not look behind an alias of several indices, or a pattern; there a search for the ids has to serve, which
    sees only what was refreshed.
    """
    if not operation.ids:
        return []
    if not _is_several(operation.index):
        documents = [{"_id": id_, **_source_filter(operation)} for id_ in operation.ids]
        reply = yield Request("POST", _path(operation.index, "_mget"), body={"docs": documents})
        refused = [found["error"] for found in reply["docs"] if "error" in found]
        if not refused:
            return [_with_source(operation, found) for found in reply["docs"]]
        if refused[0]["type"] not in _NOT_BY_ID_ALONE:
            raise _error(operation, 400, {"error": refused[0]})
    return (yield from _search_for_ids(operation))


def _search_for_ids(operation: GetDocuments) -> Conversation[list[Json]]:
    found: dict[str, Json] = {}
    for start in range(0, len(operation.ids), _IDS_IN_A_SEARCH):
        ids = list(operation.ids[start : start + _IDS_IN_A_SEARCH])
        query = {"query": {"ids": {"values": ids}}, "size": len(ids), "seq_no_primary_term": True}
        body = {**query, **_source_filter(operation), "track_total_hits": True}
        reply = yield Request("POST", _path(operation.index, "_search"), _WHOLE_ANSWER, body)
        hits = _whole(operation, reply)["hits"]
        found.update((hit["_id"], hit) for hit in hits["hits"])
        if hits["total"]["value"] > len(found.keys() & set(ids)):
            raise IndexStateError(
                f"{doing(operation)} found several with one id, in different indices. Name the one index that is meant."
            )
    missing = {"_index": operation.index, "found": False}
    return [
        _with_source(operation, {**found[id_], "found": True}) if id_ in found else {**missing, "_id": id_}
        for id_ in operation.ids
    ]


def _search(operation: Search) -> Conversation[Json]:
    reply = yield Request("POST", _path(operation.index, "_search"), _WHOLE_ANSWER, operation.body)
    return _whole(operation, reply)


def _multi_search(operation: MultiSearch) -> Conversation[list[Json]]:
    if not operation.bodies:
        return []
    lines = [line for body in operation.bodies for line in (dict(_WHOLE_ANSWER), body)]
    reply = yield Request("POST", _path(operation.index, "_msearch"), body=lines)
    for answer in reply["responses"]:
        if "error" in answer:
            raise _error(operation, answer["status"], answer)
    return [_whole(operation, answer) for answer in reply["responses"]]


def _bulk(operation: Bulk) -> Conversation[list[ActionResult]]:
    if not operation.actions:
        return []
    for place, action in enumerate(operation.actions):
        _check_whole(place, action)
    reply = yield Request(
        "POST",
        _path(operation.index, "_bulk"),
        {"refresh": "true"} if operation.refresh else {},
        [line for action in operation.actions for line in lines_of(action)],
        repeatable=all(map(_is_repeatable, operation.actions)),
    )
    items = [item for named in reply["items"] for item in named.values()]
    return [_action_result(operation, item) for item in items]


def _action_result(operation: Bulk, item: Json) -> ActionResult:
    result = ActionResult(item["_id"], item["status"], refusal(item))
    if "error" not in item or item["status"] == HTTPStatus.CONFLICT:
        return result
    error = _error(operation, item["status"], item)
    return replace(result, index_error=error) if isinstance(error, (AccessError, IndexStateError)) else result


def _refresh(operation: Refresh) -> Conversation[None]:
    _whole(operation, (yield Request("POST", _path(operation.index, "_refresh"), _SOMETHING)))


def _count(operation: Count) -> Conversation[int]:
    reply = yield Request("POST", _path(operation.index, "_count"), _SOMETHING, {"query": operation.query})
    count: int = _whole(operation, reply)["count"]
    return count


_CONVERSATIONS: Mapping[type[Operation[Any]], Callable[[Any], Conversation[Any]]] = {
    GetInfo: _get_info,
    GetMappings: _get_mappings,
    CreateIndex: _create_index,
    PutMapping: _put_mapping,
    DeleteIndex: _delete_index,
    GetDocuments: _get_documents,
    Search: _search,
    MultiSearch: _multi_search,
    Bulk: _bulk,
    Refresh: _refresh,
    Count: _count,
}

_DOING: Mapping[type[Operation[Any]], str] = {
    GetInfo: "Asking the engine for its version",
    GetMappings: "Reading the mapping of {index}",
    CreateIndex: "Creating index {index} with {fields} field(s)",
    PutMapping: "Adding {fields} field(s) to the mapping of {index}",
    DeleteIndex: "Deleting index {index}",
    GetDocuments: "Reading documents of {index}",
    Search: "Searching {index}",
    MultiSearch: "Searching {index}",
    Bulk: "Writing to {index}",
    Refresh: "Refreshing {index}",
    Count: "Counting in {index}",
}


def _path(index: str, *endpoint: str) -> str:
    """The path of an index's endpoint; an empty or dotted name would be read as all indices."""
    if index in ("", ".", ".."):
        raise InputError(f"{index!r} is no index. Name an index, alias or pattern.")
    try:
        return "/".join(["", quote(index, safe="*,"), *endpoint])
    except UnicodeEncodeError:
        raise InputError(f"The index name {index!r} is no valid text. Choose another.") from None


def _is_several(index: str) -> bool:
    return index == "_all" or any(mark in index for mark in "*,")


def _one_index(operation: CreateIndex | PutMapping | DeleteIndex) -> str:
    if _is_several(operation.index):
        raise IndexStateError(f"{doing(operation)} needs one index, not several. Name each of them in turn.")
    return operation.index


def _index_of(operation: Operation[Any]) -> str:
    return getattr(operation, "index", "")


def _number_of_fields(mapping: Any) -> int:
    """The fields of a mapping, as total_fields.limit counts them: objects and multi-fields too."""
    parts = [mapping.get("properties"), mapping.get("fields")] if isinstance(mapping, dict) else []
    return sum(1 + _number_of_fields(inner) for part in parts if isinstance(part, dict) for inner in part.values())


def _source_filter(operation: GetDocuments) -> Json:
    # An empty list would mean the whole document.
    return {} if operation.source is None else {"_source": list(operation.source) or False}


def _with_source(operation: GetDocuments, found: Json) -> Json:
    nothing_asked = operation.source is not None and not operation.source
    return {**found, "_source": {}} if nothing_asked and found["found"] else found


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
    """Whether doing it twice comes to the same as doing it once."""
    overwrites = action.op_type in ("index", "update") and action.id is not None
    return overwrites and "script" not in (action.body or {}) and "if_seq_no" not in (action.metadata or {})


def _given(**values: str | None) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}


def _error(operation: Operation[Any], status: int, body: Any) -> EngineError | InputError:
    return error_of(doing(operation), _index_of(operation), status, body)


def _whole(operation: Operation[Any], reply: Json) -> Json:
    """The reply, if it speaks for all shards."""
    if lack := incompleteness(reply):
        raise EngineError(
            f"{doing(operation)} gave an incomplete answer: {lack}. "
            "Look at the health of the index (GET _cluster/health), and try again."
        )
    return reply


def _acknowledged(operation: Operation[Any], reply: Json) -> None:
    if not reply["acknowledged"]:
        raise EngineError(
            f"{doing(operation)} was begun, but not every node has confirmed it in time. "
            "Look at the health of the cluster (GET _cluster/health), then at the index itself."
        )
