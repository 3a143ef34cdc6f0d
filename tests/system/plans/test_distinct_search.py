"""A search shows its hits without their near-duplicates, on every engine; an oracle compares each pair."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import Engine
from es_simhash.engines.embedded.engine import EmbeddedEngine
from es_simhash.errors import EngineError, FormatError, InputError, ReaderLostError
from es_simhash.index import AsyncIndex, Index
from es_simhash.plans.distinct import Cursor, DistinctPage, SearchOptions, short_hash
from es_simhash.plans.operations import Action, Bulk, CloseReader, OpenReader, Operation, Reader, UpdateAliases
from es_simhash.scheme.scheme import Scheme
from tests.support.corpus import corpus
from tests.support.distinct import ALL, FIELDS, TEXTS, by_fingerprints, by_text, filled, folded_by_hand, ranked, shown
from tests.support.whole_indices import ENGINES


@pytest.fixture(scope="module")
def index(engine: Engine, names: Callable[[], str]) -> Index:
    return filled(engine, names())


QUERIES: list[Json] = [
    ALL,
    {"query": {"match": {"body": "the"}}},
    {"query": {"bool": {"should": [{"match": {"title": "of"}}, {"term": {"lang": "xx"}}]}}},
]


@pytest.mark.parametrize("body", QUERIES, ids=str)
def test_each_hit_is_folded_under_the_first_that_it_duplicates(index: Index, body: Json) -> None:
    hits = ranked(index, body)
    page = index.search({**body, "size": 1000}, distinct=True)
    assert shown(page) == folded_by_hand(hits, by_text(index))
    assert page.at_end
    assert page.read == len(hits)
    assert [each.hit for each in page] == [hit for hit in hits if hit["_id"] in shown(page)]
    bare = index.search({**body, "size": 1000, "_source": False}, distinct=True)
    assert shown(bare) == folded_by_hand(hits, by_fingerprints(index))
    assert all("_source" not in each.hit for each in bare)


@pytest.mark.parametrize("window", [1, 3, 10, 100])
@pytest.mark.parametrize("size", [1, 4, 50])
def test_the_pages_together_are_the_distinct_hits_of_the_whole(index: Index, window: int, size: int) -> None:
    whole = index.search({**ALL, "size": 1000}, distinct=True)
    pages = [index.search({**ALL, "size": size}, distinct=True, paged=True, window=window)]
    while pages[-1].cursor:
        pages.append(index.search({**ALL, "size": size}, distinct=True, window=window, cursor=pages[-1].cursor))
    assert [each.hit["_id"] for page in pages for each in page] == list(shown(whole))
    assert all(len(page) == size for page in pages[:-1])
    assert [page.at_end for page in pages] == [False] * (len(pages) - 1) + [True]
    assert sum(page.read for page in pages) == whole.read
    # Hits of a later page are folded there.
    folded = [match.id for page in pages for each in page for match in each.similar]
    assert len(folded) == len(set(folded))


def test_pages_stay_as_they_were_while_the_index_changes(engine: Engine, names: Callable[[], str]) -> None:
    index = filled(engine, names())
    whole = list(shown(index.search({**ALL, "size": 1000}, distinct=True)))
    page = index.search({**ALL, "size": 5}, distinct=True, paged=True, window=7)
    found = [each.hit["_id"] for each in page]
    rng = random.Random(1)
    while page.cursor:
        changed = rng.sample(sorted(TEXTS), 5)
        index.engine.perform(Bulk(index.name, [Action("index", id_, corpus(3)[0]) for id_ in changed[:3]], True))
        index.delete(changed[3:], refresh=True)
        page = index.search({**ALL, "size": 5}, distinct=True, window=7, cursor=page.cursor)
        found += [each.hit["_id"] for each in page]
    assert found == whole


def test_from_passes_over_distinct_hits(index: Index) -> None:
    whole = list(shown(index.search({**ALL, "size": 1000}, distinct=True)))
    assert list(shown(index.search({**ALL, "size": 3, "from": 4}, distinct=True))) == whole[4:7]


def test_hits_are_folded_by_the_groups_that_were_written(engine: Engine, names: Callable[[], str]) -> None:
    index = filled(engine, names())
    with index.group() as grouped:
        index.write_groups(grouped)
    index.refresh()
    hits = ranked(index, ALL)
    group = {hit["_id"]: hit["_source"]["dedup"].get("group") for hit in hits}
    page = index.search({**ALL, "size": 1000, "_source": False}, by_groups=True)
    expected = folded_by_hand(hits, lambda a, b: group[a["_id"]] is not None and group[a["_id"]] == group[b["_id"]])
    assert shown(page) == expected
    assert page.apart == {"no group": sum(each is None for each in group.values())}
    pages = [index.search({**ALL, "size": 3}, by_groups=True, paged=True, window=5)]
    while pages[-1].cursor:
        pages.append(index.search({**ALL, "size": 3}, by_groups=True, window=5, cursor=pages[-1].cursor))
    assert [each.hit["_id"] for page in pages for each in page] == list(expected)


def test_without_distinct_all_hits_are_shown(index: Index) -> None:
    page = index.search({**ALL, "size": 7})
    assert [each.hit for each in page] == ranked(index, ALL)[:7]
    assert not any(each.similar for each in page)


def test_what_cannot_be_compared_is_shown_and_counted(engine: Engine, names: Callable[[], str]) -> None:
    index = filled(engine, names(), {id_: TEXTS[id_] for id_ in ("0", "1")})
    others = [
        {"_id": "short 1", "title": "", "body": "Hi"},
        {"_id": "short 2", "title": "", "body": "Hi"},
        {"_id": "empty 1", "title": "", "body": " "},
        {"_id": "empty 2", "title": "", "body": ""},
    ]
    index.add(others)
    foreign = Documents(Scheme.preset("strict"), FIELDS).add_fields(TEXTS["0"])["dedup"]
    old = {"scheme": foreign["scheme"], "status": "ok", "content": foreign["content"]}
    actions = [Action("index", "none", dict(TEXTS["0"])), Action("index", "other", {**TEXTS["0"], "dedup": old})]
    assert not any(each.error for each in index.engine.perform(Bulk(index.name, actions, True)))
    page = index.search({**ALL, "size": 100}, distinct=True)
    assert set(shown(page)) == {"0", "1", "short 1", "short 2", "empty 1", "empty 2", "none", "other"}
    assert page.apart == {"short": 2, "empty": 2, "no fingerprint": 1, "another scheme": 1}


def test_several_indices_are_searched_at_once(engine: Engine, names: Callable[[], str]) -> None:
    first, second = names(), names()
    for name in (first, second):
        filled(engine, name, {id_: TEXTS[id_] for id_ in ("0", "1", "2")})
    page = Index(f"{first},{second}", engine).search({**ALL, "size": 2}, distinct=True, paged=True)
    assert len(page) == 2
    rest = Index(f"{first},{second}", engine).search({**ALL, "size": 2}, distinct=True, cursor=page.cursor)
    assert {each.hit["_id"] for each in [*page, *rest]} == {"0", "1", "2"}
    assert sum(len(each.similar) for each in [*page, *rest]) == 3


@pytest.mark.parametrize(
    "source", [["title"], "title", {"includes": ["title", "body"]}, {"excludes": ["dedup"]}, {"excludes": ["*.bands"]}]
)
def test_hits_have_what_the_request_asks_for(index: Index, source: Any) -> None:
    asked = {**ALL, "_source": source}
    page = index.search({**asked, "size": 1000}, distinct=True)
    plain = {hit["_id"]: hit for hit in ranked(index, asked)}
    assert len(page) < len(plain)
    assert all(each.hit == plain[each.hit["_id"]] for each in page)


def test_a_cursor_is_of_one_search(index: Index) -> None:
    page = index.search({**ALL, "size": 2}, distinct=True, paged=True)
    assert page.cursor
    for body, is_distinct in (({**ALL, "size": 3}, True), ({**ALL, "size": 2}, False), (QUERIES[1], True)):
        with pytest.raises(FormatError, match="Pass the cursor of the previous page"):
            index.search(body, cursor=page.cursor, distinct=is_distinct)
    for text in ("", "nonsense", "e30=", page.cursor[:-1], page.cursor + "A", page.cursor.replace("2.", "3.", 1)):
        with pytest.raises(FormatError, match="Pass the cursor of the previous page"):
            index.search({**ALL, "size": 2}, distinct=True, cursor=text)


def test_a_moment_that_the_engine_no_longer_keeps_is_named(index: Index) -> None:
    asked = {**ALL, "size": 2}
    page = index.search(asked, distinct=True, paged=True)
    last = index.search({**ALL, "size": 1000}, distinct=True, paged=True)
    assert (page.cursor is None, last.cursor) == (False, None)
    cursor = Cursor.from_text(page.cursor or "", search_of(index, asked), index.name)
    index.engine.perform(CloseReader(cursor.reader))
    with pytest.raises(ReaderLostError, match="Begin again there"):
        index.search(asked, distinct=True, cursor=page.cursor)


def search_of(index: Index, body: Json) -> list[Any]:
    """What a cursor is a mark of."""
    return [index.name, index.scheme.id, "dedup", body, *SearchOptions(distinct=True).decides]


def forged(index: Index, body: Json, reader: Reader, before: list[Json]) -> str:
    """A cursor put together by hand: it goes on after some hits of a reader."""
    names = [(hit["_index"], hit["_id"], None) for hit in before]
    return Cursor(reader, len(names), short_hash(names), 0).to_text(search_of(index, body))


@pytest.mark.each_server
def test_a_cursor_put_together_by_hand_shows_no_documents_of_another_index(
    engine: Engine, names: Callable[[], str], index: Index
) -> None:
    others = {f"secret {id_}": each for id_, each in list(TEXTS.items())[:9]}
    secret = filled(engine, names(), others)
    asked: Json = {**ALL, "size": 3}
    reader = engine.perform(OpenReader(secret.name, searched=True))
    for before in (ranked(secret, ALL)[:1], ranked(index, ALL)[:1]):
        with pytest.raises(InputError, match="changed since the page before"):
            index.search(asked, distinct=True, cursor=forged(index, asked, reader, before))
    both = engine.perform(OpenReader(f"{index.name},{secret.name}", searched=True))
    page = index.search({**ALL, "size": 1000}, distinct=True)
    wide: Json = {**ALL, "size": 1000}
    again = index.search(wide, distinct=True, cursor=forged(index, wide, both, ranked(index, ALL)[:1]))
    assert shown(again) == dict(list(shown(page).items())[1:])
    assert not {"aggregations", "suggest", "profile"} & again.reply.keys()
    for each in (reader, both):
        engine.perform(CloseReader(each))


@pytest.mark.each_server
@pytest.mark.parametrize("engine", ENGINES[1:], indirect=True)
def test_a_cursor_put_together_by_hand_shows_nothing_that_the_filter_of_an_alias_hides(
    engine: Engine, names: Callable[[], str], index: Index
) -> None:
    alias = names()
    english: Json = {"term": {"lang.keyword": "en"}}
    engine.perform(UpdateAliases([{"add": {"index": index.name, "alias": alias, "filter": english}}]))
    asked: Json = {**ALL, "size": 1000}
    filtered = Index(alias, engine)
    whole = filtered.search(asked, distinct=True)
    assert 2 < whole.read < len(TEXTS)
    # The index itself has no filter.
    reader = engine.perform(OpenReader(index.name, searched=True))
    page = filtered.search(asked, distinct=True, cursor=forged(filtered, asked, reader, ranked(filtered, ALL)[:1]))
    assert page.read == whole.read - 1
    assert {each.hit["_source"]["lang"] for each in page} == {"en"}
    engine.perform(CloseReader(reader))
    engine.perform(UpdateAliases([{"remove": {"index": index.name, "alias": alias}}]))


@pytest.mark.each_server
@pytest.mark.parametrize("id_", ["x", "%%%", "AAAA", "o_-7QQIOZGlzdGluYw==", "[" * 100_000, "A" * 100_000])
def test_a_reader_that_an_engine_cannot_read_is_refused(index: Index, id_: str) -> None:
    kind = index.engine.perform(OpenReader(index.name, searched=True)).kind
    with pytest.raises((InputError, ReaderLostError)):
        index.search(ALL, distinct=True, cursor=forged(index, ALL, Reader(kind, "", id_), ranked(index, ALL)[:1]))


REFUSED: list[Any] = [
    *([], {"size": -1}, {"from": "1"}, {"collapse": {"field": "n"}}, {"stored_fields": "_none_"}),
    *(
        {"pit": {}},
        {"search_after": [1]},
        {"slice": {}},
        {"retriever": {"standard": {"collapse": {}}}},
    ),
]


@pytest.mark.parametrize("body", REFUSED, ids=str)
def test_requests_that_cannot_be_read_page_by_page_are_refused(index: Index, body: Any) -> None:
    with pytest.raises(InputError):
        index.search(body, distinct=True)


def test_an_awaited_search_is_the_same(engine: Engine, index: Index) -> None:
    if not isinstance(engine, EmbeddedEngine):
        pytest.skip("the same plan; the clients are tested elsewhere")
    target = engine._directory

    async def searched() -> DistinctPage:
        async with AsyncIndex(index.name, target) as again:
            return await again.search({**ALL, "size": 5}, distinct=True)

    assert asyncio.run(searched()).hits == index.search({**ALL, "size": 5}, distinct=True).hits


def test_documents_of_equal_ids_in_many_indices_are_all_known_on_later_pages(
    engine: Engine, names: Callable[[], str]
) -> None:
    texts = [{"title": "", "body": each["body"]} for each in corpus(11)]
    made = [filled(engine, names(), {"x": each, "y": {**each, "body": ""}}) for each in [*texts, texts[3]]]
    every = Index(",".join(index.name for index in made), engine)
    asked: Json = {"query": {"exists": {"field": "dedup.bands"}}, "size": 1}
    page = every.search(asked, distinct=True, paged=True, window=1)
    found = [each.hit["_index"] for each in page]
    while page.cursor:
        page = every.search(asked, distinct=True, cursor=page.cursor, window=1)
        found += [each.hit["_index"] for each in page]
    assert len(found) == len(set(found)) == len(texts)
    assert len({made[3].name, made[-1].name} & set(found)) == 1


class Opened:
    """An engine that keeps the readers that are open."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.readers: list[Reader] = []

    def perform(self, operation: Operation[Any]) -> Any:
        result = self.engine.perform(operation)
        if isinstance(operation, OpenReader):
            self.readers.append(result)
        if isinstance(operation, CloseReader):
            self.readers.pop()
        return result

    def close(self) -> None:
        """Leave the engine open."""


def test_no_reader_stays_open_that_no_cursor_leads_to(index: Index) -> None:
    opened = Opened(index.engine)
    searched = Index(index.name, opened)
    assert searched.search({**ALL, "size": 2}, distinct=True, paged=True).cursor
    assert len(opened.readers) == 1
    assert searched.search({**ALL, "size": 1000}, distinct=True, paged=True).at_end
    with pytest.raises(EngineError):
        searched.search({"query": {"nonsense": {}}}, distinct=True, paged=True)
    assert len(opened.readers) == 1
    with pytest.raises(InputError, match="A page of 0 hits"):
        searched.search({**ALL, "size": 0}, distinct=True, paged=True)
    assert len(opened.readers) == 1
