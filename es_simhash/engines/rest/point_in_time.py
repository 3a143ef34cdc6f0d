"""Readers of a whole index: a point in time or a scroll, depending on the server.

Elasticsearch, and OpenSearch from 3.3 on, keep a point in time, which is read in the order of shards and documents
(``_shard_doc``). An older OpenSearch has no such order, and any other could miss documents with equal values: there,
and where the version is unknown, a scroll reads the index. So it does on Elasticsearch where several readers share the
work, since not all versions can slice a point in time by id, and any other slicing differs between two points in time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from es_simhash._core.json_paths import Json
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
from es_simhash.errors import IndexStateError
from es_simhash.plans.operations import CloseReader, HitPage, OpenReader, Operation, Reader, ReadPage, TextSource

_KEPT = "5m"
_SHARD_ORDER_SINCE = (3, 3)


def _open_reader(operation: OpenReader) -> Conversation[Reader]:
    info = yield from engine_info()
    behind = yield Request("GET", path_of(one_index(operation), "_alias"), SOMETHING)
    if len(behind) > 1:
        # OpenSearch orders shards and documents within one index; across several it would skip documents.
        raise IndexStateError(
            f"{doing(operation)} needs one index, but it stands for {', '.join(behind)}. Read each of them in turn."
        )
    keep = {"keep_alive": _KEPT}
    is_elasticsearch = info.distribution == "elasticsearch"
    if operation.shared if is_elasticsearch else info.version < _SHARD_ORDER_SINCE:
        return Reader("scroll", operation.index, None)
    if is_elasticsearch:
        reply = yield Request("POST", path_of(operation.index, "_pit"), keep)
        return Reader("elasticsearch", operation.index, _id_of(reply["id"]))  # readers that are apart use scrolls
    params = {**keep, "allow_partial_pit_creation": "false"}
    reply = yield Request("POST", path_of(operation.index, "_search", "point_in_time"), params)
    return Reader("opensearch", operation.index, _id_of(reply["pit_id"]), operation.shared)


def _id_of(value: object) -> str:
    id_ = typed(value, str)
    if not id_:
        raise TypeError("an empty text instead of an id")
    return id_


def _read_page(operation: ReadPage) -> Conversation[HitPage]:
    if operation.reader.kind == "scroll":
        return (yield from _scroll(operation))
    body = _body(operation) | {
        "pit": {"id": operation.reader.id, "keep_alive": _KEPT},
        "sort": [{"_shard_doc": "asc"}],
        "track_total_hits": False,
    }
    if operation.after is not None:
        body["search_after"] = operation.after
    params = {"allow_partial_search_results": "false"}
    reply = whole(operation, (yield Request("POST", "/_search", params, body, texts=_texts(operation))))
    hits = hits_of(reply)
    reader = replace(operation.reader, id=_id_of(reply["pit_id"]))
    return HitPage(hits, typed(hits[-1]["sort"], list) if hits else None, reader)


def _scroll(operation: ReadPage) -> Conversation[HitPage]:
    """Read a page of a scroll; the first page opens it."""
    reader = operation.reader
    if reader.id is None:
        path, params = path_of(reader.index, "_search"), {**WHOLE_ANSWER, "scroll": _KEPT}
        reply = yield Request("POST", path, params, {**_body(operation), "sort": ["_doc"]}, texts=_texts(operation))
    else:
        # Each request advances the scroll, so it must not be repeated.
        body = {"scroll": _KEPT, "scroll_id": reader.id}
        reply = yield Request("POST", "/_search/scroll", body=body, repeatable=False, texts=_texts(operation))
    hits = hits_of(whole(operation, reply))
    return HitPage(hits, len(hits) or None, Reader("scroll", reader.index, _id_of(reply["_scroll_id"])))


def _texts(operation: ReadPage) -> TextSource | None:
    return operation.source if isinstance(operation.source, TextSource) else None


def _body(operation: ReadPage) -> Json:
    source = operation.source if isinstance(operation.source, bool) else list(operation.source)
    body: Json = {"query": operation.query, "size": operation.size, "_source": source}
    body |= {"seq_no_primary_term": True, "version": True}
    if part := operation.slice:
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
