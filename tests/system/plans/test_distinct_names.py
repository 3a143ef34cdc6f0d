"""Distinct hits of several indices: behind an alias, a pattern, a list of names, a data stream; ids may be equal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine
from es_simhash.index import Index
from es_simhash.plans.operations import Action, Bulk, UpdateAliases
from tests.support.distinct import APART, FIELDS, TEXTS, by_text, filled, folded_by_hand, ranked, with_apart
from tests.support.rest_engines import engine_over, new_name
from tests.support.whole_indices import ENGINES
from tools.nodes import Node

IDS = sorted(TEXTS)
HALF = len(IDS) // 2
# Equal ids stand for different documents.
FIRST = {id_: TEXTS[id_] for id_ in IDS[:HALF]}
SECOND = {id_: TEXTS[other] for id_, other in zip(IDS[:HALF], IDS[HALF:], strict=False)}
BODIES: list[Json] = [
    {"query": {"match": {"body": "the of"}}},
    {"query": {"bool": {"should": [{"match": {"title": "of"}}, {"term": {"lang": "xx"}}, {"match_all": {}}]}}},
]
servers = pytest.mark.parametrize("engine", ENGINES[1:], indirect=True)


def name_of(hit: Any) -> str:
    return f"{hit['_index']} {hit['_id']}"


@pytest.fixture(scope="module")
def several(engine: Engine, names: Callable[[], str]) -> tuple[str, str]:
    first, second = names(), names()
    for name, documents in ((first, FIRST), (second, SECOND)):
        with_apart(filled(engine, name, documents))
    return first, second


def check(index: Index, body: Json) -> None:
    """Compare a search with one of the engine, folded by hand, as a whole and page by page."""
    hits = ranked(index, body)
    expected = folded_by_hand(hits, by_text(index, lambda hit: hit["_source"]), name_of)
    assert 2 < len(expected) < len(hits)
    whole = index.search({**body, "size": 1000}, distinct=True)
    assert {name_of(each.hit): [f"{one.index} {one.id}" for one in each.similar] for each in whole} == expected
    assert whole.apart == Counter(hit["_id"] for hit in hits if hit["_id"] in APART)
    found = [index.search({**body, "size": 3}, distinct=True, paged=True, window=7)]
    while found[-1].cursor:
        found.append(index.search({**body, "size": 3}, distinct=True, window=7, cursor=found[-1].cursor))
    assert [name_of(each.hit) for page in found for each in page] == list(expected)
    assert sum((Counter(page.apart) for page in found), Counter()) == whole.apart


@pytest.mark.parametrize("body", BODIES, ids=str)
@pytest.mark.parametrize("name", ["{0},{1}", "{0}*,{1}*"])
def test_a_list_or_pattern_of_indices(engine: Engine, several: tuple[str, str], name: str, body: Json) -> None:
    check(Index(name.format(*several), engine), body)


@servers
@pytest.mark.parametrize("body", BODIES, ids=str)
@pytest.mark.parametrize("query", [None, {"term": {"lang": "xx"}}], ids=["whole", "filtered"])
def test_an_alias(
    engine: Engine, names: Callable[[], str], several: tuple[str, str], query: Json | None, body: Json
) -> None:
    alias = names()
    more = {"filter": query} if query else {}
    engine.perform(UpdateAliases([{"add": {"index": each, "alias": alias, **more}} for each in several]))
    check(Index(alias, engine), body)
    engine.perform(UpdateAliases([{"remove": {"index": each, "alias": alias}} for each in several]))


def test_a_data_stream(opensearch_node: Node) -> None:
    """On OpenSearch, as the Elasticsearch of the tests comes without data streams."""
    name = f"stream-{new_name()}"
    mappings: Json = {"properties": {"title": {"type": "text"}, "body": {"type": "text"}}}
    template = {"index_patterns": [name], "data_stream": {}, "template": {"mappings": mappings}}
    ask = opensearch_node.request
    assert ask("PUT", f"/_index_template/{name}", template).status == 200
    assert ask("PUT", f"/_data_stream/{name}").status == 200
    with engine_over("opensearch", opensearch_node.url) as engine:
        index = Index(name, engine, fields=FIELDS)
        for documents in (FIRST, SECOND, APART):
            assert ask("POST", f"/{name}/_rollover").status == 200
            index.init()
            actions = [Action("create", id_, {**each, "@timestamp": "2026-01-01"}) for id_, each in documents.items()]
            assert not any(each.error for each in engine.perform(Bulk(name, actions, refresh=True)))
        index.backfill()
        index.refresh()
        for body in BODIES:
            page = index.search({**body, "size": 2}, distinct=True, paged=True, window=7)
            found = [page]
            while page.cursor:
                page = index.search({**body, "size": 2}, distinct=True, window=7, cursor=page.cursor)
                found.append(page)
            whole = index.search({**body, "size": 1000}, distinct=True)
            hits = ranked(index, body)
            assert [each.hit for page in found for each in page] == [each.hit for each in whole]
            assert len({hit["_index"] for hit in hits}) == 3
            assert sum(1 + len(each.similar) for each in whole) == len(hits) == whole.read
    assert ask("DELETE", f"/_data_stream/{name}").status == 200
    assert ask("DELETE", f"/_index_template/{name}").status == 200
