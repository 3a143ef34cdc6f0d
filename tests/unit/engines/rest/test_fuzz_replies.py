"""What a server, or a proxy before it, answers wrongly is an engine error, and never half of an answer."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from elasticsearch import JsonSerializer
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.engines.rest.engine import RestEngine, Writer
from es_simhash.engines.rest.requests import Reply, Request
from es_simhash.errors import EsSimhashError
from es_simhash.plans.operations import (
    Action,
    Bulk,
    Count,
    CreateIndex,
    EngineInfo,
    GetAliases,
    GetDocuments,
    GetInfo,
    GetMappings,
    GetSettings,
    MultiSearch,
    OpenReader,
    Operation,
    PutMapping,
    Reader,
    ReadPage,
    Refresh,
    Sample,
    Search,
)
from tests.support.fuzzing import check_message, damaged, json_values, one_in


class Answering(RestEngine[None]):
    """An engine whose server gives these replies, one after the other."""

    _distribution = None

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)

    def _ask(self, request: Request, body: bytes | None) -> Reply:
        return self._replies.pop(0) if self._replies else Reply(200, {})

    def _reply(self, response: Reply) -> Reply:
        return response

    def _reply_to(self, error: Exception) -> Reply:
        raise error

    @property
    def _writer(self) -> Writer:
        return Writer(JsonSerializer(), JsonSerializer)

    def close(self) -> None:
        pass


class Exchange(NamedTuple):
    """An operation, the replies that it has, and whether a result of it can be used."""

    operation: Operation[Any]
    replies: list[Any]
    is_usable: Callable[[Any], bool]


SHARDS = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
HITS = [{"_index": "docs", "_id": id_, "_score": 1.0, "_source": {"a": 1}, "sort": [1]} for id_ in ("1", "2")]
FOUND = {"timed_out": False, "_shards": SHARDS, "hits": {"total": {"value": 2, "relation": "eq"}, "hits": HITS}}
ITEMS = [
    {"index": {"_index": "docs", "_id": "1", "status": 201}},
    {"delete": {"_index": "docs", "_id": "2", "status": 404}},
    {
        "create": {
            "_index": "docs",
            "_id": "3",
            "status": 409,
            "error": {"type": "version_conflict", "reason": "is there"},
        }
    },
]
VERSION = {"version": {"number": "9.1.0", "distribution": "opensearch"}}


def are_hits(hits: Any) -> bool:
    return isinstance(hits, list) and all(
        isinstance(hit["_index"], str) and isinstance(hit["_id"], str) and isinstance(hit.get("_source", {}), dict)
        for hit in hits
    )


def are_by_index(found: Any) -> bool:
    return isinstance(found, dict) and all(isinstance(each, dict) for each in found.values())


def is_info(info: EngineInfo) -> bool:
    return isinstance(info.distribution, str) and all(isinstance(number, int) for number in info.version)


def are_results(results: Any) -> bool:
    return [each.id for each in results] == ["1", "2", "3"] and all(each.error or each.status < 300 for each in results)


ACTIONS = [Action("index", "1", {}), Action("delete", "2", None), Action("create", "3", {})]
EXCHANGES = [
    Exchange(GetInfo(), [VERSION], is_info),
    Exchange(GetMappings("docs"), [{"docs": {"mappings": {"properties": {}}}}], are_by_index),
    Exchange(GetSettings("docs"), [{"docs": {"settings": {"index.blocks.write": "true"}}}], are_by_index),
    Exchange(GetAliases("docs"), [{"docs": {"aliases": {"all": {}}}}], are_by_index),
    Exchange(CreateIndex("docs", {}), [{"acknowledged": True}], lambda none: none is None),
    Exchange(PutMapping("docs", {}), [{"acknowledged": True}], lambda none: none is None),
    Exchange(Refresh("docs"), [{"_shards": SHARDS}], lambda none: none is None),
    Exchange(Count("docs", {"match_all": {}}), [{"count": 2, "_shards": SHARDS}], lambda count: type(count) is int),
    Exchange(Search("docs", {}), [FOUND], lambda reply: are_hits(reply["hits"]["hits"])),
    Exchange(
        MultiSearch("docs", [{}, {}]),
        [{"responses": [FOUND, FOUND]}],
        lambda replies: len(replies) == 2 and all(are_hits(reply["hits"]["hits"]) for reply in replies),
    ),
    Exchange(Sample("docs", 2, {"match_all": {}}), [FOUND], are_hits),
    Exchange(
        GetDocuments("docs", ["1", "2"]),
        [{"docs": [{**HITS[0], "found": True}, {"_index": "docs", "_id": "2", "found": False}]}],
        lambda found: (
            [each["_id"] for each in found] == ["1", "2"] and are_hits([each for each in found if each["found"]])
        ),
    ),
    Exchange(
        GetDocuments("docs*", ["1", "2"]),
        [FOUND],
        lambda found: (
            [each["_id"] for each in found] == ["1", "2"] and are_hits([each for each in found if each["found"]])
        ),
    ),
    Exchange(Bulk("docs", ACTIONS), [{"errors": True, "items": ITEMS}], are_results),
    Exchange(
        OpenReader("docs"),
        [VERSION, {"docs": {}}, {"id": "x", "pit_id": "x"}],
        lambda reader: reader.kind == "scroll" or bool(reader.id),
    ),
    Exchange(
        ReadPage(Reader("elasticsearch", "docs", "x"), {"match_all": {}}, 2, True),
        [{**FOUND, "pit_id": "x"}],
        lambda page: are_hits(page.hits) and (not page.hits or page.after is not None),
    ),
    Exchange(
        ReadPage(Reader("scroll", "docs", "x"), {"match_all": {}}, 2, True),
        [{**FOUND, "_scroll_id": "x"}],
        lambda page: are_hits(page.hits) and isinstance(page.reader.id, str),
    ),
]
EXCHANGES += []
NAMES = [f"{type(each.operation).__name__}-{number}" for number, each in enumerate(EXCHANGES)]
each_exchange = pytest.mark.parametrize("exchange", EXCHANGES, ids=NAMES)


def test_a_reader_without_an_id_is_refused() -> None:
    replies = [VERSION, {"docs": {}}, {"id": "", "pit_id": ""}]
    with pytest.raises(EsSimhashError, match="an empty text instead of an id"):
        Answering(*(Reply(200, reply) for reply in replies)).perform(OpenReader("docs"))


@each_exchange
def test_correct_replies_give_a_usable_result(exchange: Exchange) -> None:
    result = Answering(*(Reply(200, reply) for reply in exchange.replies)).perform(exchange.operation)
    assert exchange.is_usable(result)


@one_in(4)
@each_exchange
@given(data=st.data())
def test_a_damaged_reply_is_refused_unless_its_result_is_usable(exchange: Exchange, data: st.DataObject) -> None:
    replies = copy.deepcopy(exchange.replies)
    place = data.draw(st.integers(0, len(replies) - 1))
    replies[place] = data.draw(damaged(replies[place], json_values(("_id", "error", "hits"))))
    try:
        result = Answering(*(Reply(200, reply) for reply in replies)).perform(exchange.operation)
    except EsSimhashError as error:
        check_message(error)
    else:
        assert exchange.is_usable(result), result


ERROR = {
    "error": {
        "type": "search_phase_execution_exception",
        "reason": "all shards failed",
        "root_cause": [{"type": "illegal_argument_exception", "reason": "no"}],
        "caused_by": {"type": "illegal_argument_exception", "reason": "no"},
    },
    "status": 400,
}


@one_in(4)
@given(
    body=damaged(ERROR, json_values(("type", "reason", "root_cause", "caused_by")))
    | json_values(("error",))
    | st.binary(),
    status=st.sampled_from([200, 301, 400, 401, 403, 404, 413, 429, 500, 503]),
)
@each_exchange
def test_any_reply_of_any_status_is_refused_or_usable(exchange: Exchange, body: Any, status: int) -> None:
    try:
        result = Answering(Reply(status, body)).perform(exchange.operation)
    except EsSimhashError as error:
        check_message(error)
    else:
        assert exchange.is_usable(result), result
