"""Operations as requests of the shared REST interface, and replies as their results.

Each operation is a conversation: a generator that yields requests, receives the bodies of their replies, and returns
the result. It does no I/O and knows no client.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import Any, TypeVar

from es_simhash._core.json_codec import Json
from es_simhash.engines.rest.requests import (
    SOMETHING,
    WHOLE_ANSWER,
    Conversation,
    Reply,
    Request,
    as_many,
    document,
    engine_info,
    error_of,
    hits_of,
    incompleteness,
    is_only_for_now,
    of_id,
    path_of,
    refusal,
    typed,
)
from es_simhash.errors import AccessError, DocumentError, EngineError, IndexStateError, InputError, UnavailableError
from es_simhash.plans.open_index import not_from_here
from es_simhash.plans.operations import (
    Action,
    ActionResult,
    Bulk,
    CheckFiles,
    CloseReader,
    Count,
    CreateIndex,
    DeleteIndex,
    DeleteResource,
    EngineInfo,
    FilesChecked,
    GetAliases,
    GetDocuments,
    GetInfo,
    GetMappings,
    GetResource,
    GetSettings,
    HitPage,
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
    index_of,
    is_remote,
    is_several,
)
from es_simhash.scheme.mapping import number_of_fields

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
    steps: Conversation[Result] = _OPERATIONS[type(operation)][1](operation)
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


# What they are about need not be there.
_MAY_LACK = (GetResource, CloseReader)


def checked(operation: Operation[Any], reply: Reply) -> Json:
    """Return the body of a reply; raise if it reports an error or is not a JSON object."""
    if reply.status < 300 and isinstance(reply.body, dict):
        return reply.body
    if isinstance(operation, _MAY_LACK) and reply.status == HTTPStatus.NOT_FOUND and _is_expected(reply.body):
        return dict(reply.body)
    raise error_in(operation, reply.status, reply.body)


def _is_expected(body: Any) -> bool:
    return isinstance(body, dict) and "error" not in body


def doing(operation: Operation[Any]) -> str:
    """Describe an operation and its index, as the beginning of a sentence."""
    body = getattr(operation, "body", {})
    new_fields = number_of_fields(body.get("mappings") if isinstance(operation, CreateIndex) else body)
    names = {
        "index": repr(index_of(operation)),
        "path": getattr(operation, "path", ""),
    }
    return _OPERATIONS[type(operation)][0].format(**names, fields=new_fields)


def one_index(operation: CreateIndex | PutMapping | DeleteIndex | OpenReader) -> str:
    if is_several(operation.index):
        raise IndexStateError(f"{doing(operation)} needs one index, not several. Name each of them in turn.")
    return operation.index


def error_in(operation: Operation[Any], status: int, body: Any) -> EngineError | InputError:
    return error_of(doing(operation), index_of(operation), status, body)


def whole(operation: Operation[Any], reply: Json) -> Json:
    """Return the reply; raise unless it covers all shards."""
    if lack := incompleteness(reply):
        raise (UnavailableError if is_only_for_now(reply) else EngineError)(
            f"{doing(operation)} gave an incomplete answer: {lack}. "
            "Look at the health of the index (GET _cluster/health), and try again."
        )
    return reply


def _of_each_index(endpoint: str, part: str, operation: GetMappings | GetSettings | GetAliases) -> Conversation[Json]:
    flat = {"flat_settings": "true"} if endpoint == "_settings" else {}
    reply = yield Request("GET", path_of(operation.index, endpoint), {**SOMETHING, **flat})
    return {index: typed(found[part], dict) for index, found in reply.items()}


def _acknowledged(operation: Operation[Any]) -> Conversation[None]:
    reply = yield _ACKNOWLEDGED[type(operation)](operation)
    if not reply["acknowledged"]:
        raise UnavailableError(
            f"{doing(operation)} was begun, but not every node has confirmed it in time. "
            "Look at the health of the cluster (GET _cluster/health), then at the index itself."
        )


# An alias must lead to one index only.
_WRITE_INDEX = {"write_index_only": "true"}
# The requests for operations that a server merely acknowledges.
_ACKNOWLEDGED: Mapping[type[Operation[Any]], Callable[[Any], Request]] = {
    CreateIndex: lambda asked: Request("PUT", path_of(one_index(asked)), body=asked.body, repeatable=False),
    PutMapping: lambda asked: Request("PUT", path_of(one_index(asked), "_mapping"), _WRITE_INDEX, asked.body),
    DeleteIndex: lambda asked: Request("DELETE", path_of(one_index(asked)), repeatable=False),
    PutSettings: lambda asked: Request("PUT", path_of(asked.index, "_settings"), body=asked.settings),
    UpdateAliases: lambda asked: Request("POST", "/_aliases", body={"actions": list(asked.actions)}),
    PutResource: lambda asked: Request("PUT", asked.path, body=asked.body),
    DeleteResource: lambda asked: Request("DELETE", asked.path, repeatable=False),
}


def _look(operation: GetResource) -> Conversation[Json]:
    return (yield Request("POST" if operation.question else "GET", operation.path, body=operation.question))


def _check_files(operation: CheckFiles) -> Conversation[FilesChecked]:
    raise EngineError(
        f"The files of {operation.index!r} are the server's, which compares them with their checksums on its own: "
        "a damaged shard fails. Ask for this with the embedded engine only."
    )


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
        body = _at_point_in_time(operation.reader, operation.body)
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


# ---- readers of a whole index: a point in time or a scroll, depending on the server
#
# Elasticsearch, and OpenSearch from 3.3 on, keep a point in time, which is read in the order of shards and documents
# (``_shard_doc``). An older OpenSearch has no such order, and any other could miss documents with equal values: there,
# and where the version is unknown, a scroll reads the index. So it does on Elasticsearch where several readers share
# the work, since not all versions can slice a point in time by id, and any other slicing differs between two of them.
#
# Elasticsearch slices one point in time by the place of documents, at no cost. OpenSearch would look at every document
# for every page; there a slice is the pages between two places, which begin behind a chosen one.

_KEPT = "5m"
_POINTS_SINCE, _SHARD_ORDER_SINCE = (2, 4), (3, 3)
_PLACE_BITS = 32


def _open_reader(operation: OpenReader) -> Conversation[Reader]:
    info = yield from engine_info()
    if operation.searched:
        return (yield from _point_in_time(operation, info))
    if is_remote(operation.index):
        # How many indices the name stands for cannot be read.
        return Reader("scroll", operation.index, None)
    behind = yield Request("GET", path_of(one_index(operation), "_alias"), SOMETHING)
    if len(behind) > 1:
        # OpenSearch orders shards and documents within one index; across several it would skip documents.
        raise IndexStateError(
            f"{doing(operation)} needs one index, but it stands for {', '.join(behind)}. Read each of them in turn."
        )
    is_elasticsearch = info.distribution == "elasticsearch"
    if operation.shared if is_elasticsearch else info.version < _SHARD_ORDER_SINCE:
        return Reader("scroll", operation.index, None)
    return (yield from _point_in_time(operation, info))


def _point_in_time(operation: OpenReader, info: EngineInfo) -> Conversation[Reader]:
    keep = {"keep_alive": _KEPT}
    if info.distribution == "elasticsearch":
        reply = yield Request("POST", path_of(operation.index, "_pit"), keep)
        return Reader("elasticsearch", operation.index, _id_of(reply["id"]))  # readers that are apart use scrolls
    if info.version < _POINTS_SINCE:
        raise EngineError(
            f"{doing(operation)}: this server keeps no point in time; OpenSearch does from 2.4 on. "
            "Search without further pages."
        )
    params = {**keep, "allow_partial_pit_creation": "false"}
    reply = yield Request("POST", path_of(operation.index, "_search", "point_in_time"), params)
    return Reader("opensearch", operation.index, _id_of(reply["pit_id"]), operation.shared)


def _at_point_in_time(reader: Reader, body: Json) -> Json:
    """Return a search request that sees the index as a reader does."""
    return body | {"pit": {"id": reader.id, "keep_alive": _KEPT}}


def _id_of(value: object) -> str:
    id_ = typed(value, str)
    if not id_:
        raise TypeError("an empty text instead of an id")
    return id_


def _read_page(operation: ReadPage) -> Conversation[HitPage]:
    if operation.reader.kind == "scroll":
        return (yield from _scroll(operation))
    if operation.slice and operation.reader.kind == "opensearch" and operation.reader.can_be_shared:
        return (yield from _between(operation, operation.slice))
    return (yield from _behind(operation, operation.after, operation.slice))


def _behind(operation: ReadPage, place: int | None, part: Slice | None = None) -> Conversation[HitPage]:
    """Read the page behind a place; the ``after`` of the result is the place of its last document."""
    reply = yield from _in_order(operation, _body(operation, part), place, "asc")
    hits = hits_of(reply)
    reader = replace(operation.reader, id=_id_of(reply["pit_id"]))
    return HitPage(hits, _place_of(hits[-1]) if hits else None, reader)


def _between(operation: ReadPage, part: Slice) -> Conversation[HitPage]:
    """Read the next page of a slice; ``after`` is where the last ended, and where the slice ends."""
    place, end = operation.after or (yield from _ends(operation, part))
    if place >= end:
        return HitPage([], None, operation.reader)
    page = yield from _behind(operation, place)
    if page.after is None or page.after <= end:
        return replace(page, after=(page.after, end))
    return replace(page, hits=[hit for hit in page.hits if _place_of(hit) <= end], after=(end, end))


def _ends(operation: ReadPage, part: Slice) -> Conversation[tuple[int, int]]:
    """Return the place before a slice, and its last place, so that slices have about as many documents."""
    body: Json = {"query": {"match_all": {}}, "size": 1, "_source": False}
    hits = hits_of((yield from _in_order(operation, body, None, "desc")))
    shards, most = divmod(_place_of(hits[0]) if hits else -1, 1 << _PLACE_BITS)

    def first(number: int) -> int:
        shard, rest = divmod(number * (shards + 1), part.count)
        return (shard << _PLACE_BITS) + rest * (most + 1) // part.count

    return first(part.number) - 1, first(part.number + 1) - 1


def _in_order(operation: ReadPage, body: Json, place: int | None, order: str) -> Conversation[Json]:
    """Search in the order of shards, and of documents within each, behind a place."""
    body = _at_point_in_time(operation.reader, body) | {"sort": [{"_shard_doc": order}], "track_total_hits": False}
    if place is not None:
        body["search_after"] = [place]
    params = {"allow_partial_search_results": "false"}
    return whole(operation, (yield Request("POST", "/_search", params, body)))


def _place_of(hit: Json) -> int:
    """Return the place of a document: the number of its shard, then, in as many bits, its own."""
    return typed(typed(hit["sort"], list)[0], int)


def _scroll(operation: ReadPage) -> Conversation[HitPage]:
    """Read a page of a scroll; the first page opens it."""
    reader = operation.reader
    if reader.id is None:
        path, params = path_of(reader.index, "_search"), {**WHOLE_ANSWER, "scroll": _KEPT}
        body = {**_body(operation, operation.slice), "sort": ["_doc"]}
        reply = yield Request("POST", path, params, body)
    else:
        # Each request advances the scroll, so it must not be repeated.
        body = {"scroll": _KEPT, "scroll_id": reader.id}
        reply = yield Request("POST", "/_search/scroll", body=body, repeatable=False)
    hits = hits_of(whole(operation, reply))
    reader = Reader("scroll", reader.index, _id_of(reply["_scroll_id"]))
    return HitPage(hits, len(hits) or None, reader)


def _body(operation: ReadPage, part: Slice | None) -> Json:
    source = operation.whole or (operation.source if isinstance(operation.source, bool) else list(operation.source))
    body: Json = {"query": operation.query, "size": operation.size, "_source": source}
    body |= {"seq_no_primary_term": True, "version": True}
    if part:
        cut = {} if operation.reader.can_be_shared else {"field": "_id"}
        body["slice"] = {**cut, "id": part.number, "max": part.count}
    return body


def _close_reader(operation: CloseReader) -> Conversation[None]:
    reader = operation.reader
    if reader.id is None:
        return
    if reader.kind == "elasticsearch":
        yield Request("DELETE", "/_pit", body={"id": reader.id})
    elif reader.kind == "opensearch":
        yield Request("DELETE", "/_search/point_in_time", body={"pit_id": [reader.id]})
    else:
        yield Request("DELETE", "/_search/scroll", body={"scroll_id": [reader.id]})


# What each operation does, as the beginning of a sentence, and how.
_OPERATIONS: Mapping[type[Operation[Any]], tuple[str, Callable[[Any], Conversation[Any]]]] = {
    GetInfo: ("Asking the engine for its version", lambda _: engine_info()),
    GetMappings: ("Reading the mapping of {index}", partial(_of_each_index, "_mapping", "mappings")),
    CreateIndex: ("Creating index {index} with {fields} field(s)", _acknowledged),
    PutMapping: ("Adding {fields} field(s) to the mapping of {index}", _acknowledged),
    DeleteIndex: ("Deleting index {index}", _acknowledged),
    GetDocuments: ("Reading documents of {index}", _get_documents),
    Search: ("Searching {index}", _search),
    MultiSearch: ("Searching {index}", _multi_search),
    Sample: ("Sampling {index}", _sample),
    Bulk: ("Writing to {index}", _bulk),
    Refresh: ("Refreshing {index}", _refresh),
    Count: ("Counting in {index}", _count),
    OpenReader: ("Opening a reader of {index}", _open_reader),
    ReadPage: ("Reading {index}", _read_page),
    CloseReader: ("Closing a reader of {index}", _close_reader),
    GetSettings: ("Reading the settings of {index}", partial(_of_each_index, "_settings", "settings")),
    PutSettings: ("Changing the settings of {index}", _acknowledged),
    GetAliases: ("Reading the aliases of {index}", partial(_of_each_index, "_alias", "aliases")),
    UpdateAliases: ("Changing aliases", _acknowledged),
    GetResource: ("Reading {path}", _look),
    PutResource: ("Storing {path}", _acknowledged),
    DeleteResource: ("Deleting {path}", _acknowledged),
    CheckFiles: ("Checking the files of {index}", _check_files),
}
