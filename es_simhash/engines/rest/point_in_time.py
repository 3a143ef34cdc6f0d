"""Readers of a whole index: a point in time or a scroll, depending on the server.

Elasticsearch, and OpenSearch from 3.3 on, keep a point in time, which is read in the order of shards and documents
(``_shard_doc``). An older OpenSearch has no such order, and any other could miss documents with equal values: there,
and where the version is unknown, a scroll reads the index. So it does on Elasticsearch where several readers share the
work, since not all versions can slice a point in time by id, and any other slicing differs between two points in time.

Elasticsearch slices one point in time by the place of documents, at no cost. OpenSearch would look at every document
for every page; there a slice is the pages between two places, which begin behind a chosen one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from es_simhash._core.json_codec import Json
from es_simhash.engines.rest.reply_checks import hits_of, typed
from es_simhash.engines.rest.requests import (
    SOMETHING,
    WHOLE_ANSWER,
    Conversation,
    Request,
    doing,
    engine_info,
    one_index,
    path_of,
    whole,
)
from es_simhash.errors import EngineError, IndexStateError
from es_simhash.plans.operations import (
    CloseReader,
    EngineInfo,
    HitPage,
    OpenReader,
    Operation,
    Reader,
    ReadPage,
    Slice,
    is_remote,
)

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


def at_point_in_time(reader: Reader, body: Json) -> Json:
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
    body = at_point_in_time(operation.reader, body) | {"sort": [{"_shard_doc": order}], "track_total_hits": False}
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


CONVERSATIONS: Mapping[type[Operation[Any]], Callable[[Any], Conversation[Any]]] = {
    OpenReader: _open_reader,
    ReadPage: _read_page,
    CloseReader: _close_reader,
}
