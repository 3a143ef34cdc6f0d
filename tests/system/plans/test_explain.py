"""Two documents of an index explained, on every engine: what is said is what searches do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import Engine
from es_simhash.errors import AccessError, DocumentError, IndexStateError, InputError, MissingError
from es_simhash.index import AsyncIndex, Index
from es_simhash.plans.explanation import Explanation, explain_pair
from es_simhash.plans.find_options import FindOptions, SearchTerms
from es_simhash.plans.operations import Action, Bulk, CreateIndex, GetDocuments, GetInfo, Search
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import Layout, MinHash, SimHash
from tests.support.corpus import corpus, edited
from tools.nodes import Node

FIELDS = ("title", "body")
LAYOUTS = [
    Layout("text"),
    Layout("keyword"),
    Layout("fields"),
    Layout("text", signature_bits=8),
    Layout(simhash="blocks"),
]
CHINESE = {"title": "近似重复检测", "body": "两篇文章只改动了几个字，就应当被找出来，无论它们有多长，也无论是谁写的。"}
CHANGED = {"title": "近似重复检测", "body": "两篇文章只改动了三个字，就应当被找出来，无论它们有多长，也无论是谁写的！"}
TEXTS: dict[str, Json] = {
    **{f"{i}": each for i, each in enumerate(corpus(6))},
    **{f"{i}/é {edits}": edited(corpus(6)[i], edits) for i in range(3) for edits in (1, 4, 12, 30)},
    "same": corpus(6)[0],
    "中文/1": CHINESE,
    "中文/2": CHANGED,
    "empty": {"title": " ", "body": ""},
}


def filled(engine: Engine, name: str, documents: dict[str, Json] = TEXTS, **known: Any) -> Index:
    index = Index(name, engine, fields=FIELDS, **known)
    index.init(create={"settings": {"number_of_shards": 2, "number_of_replicas": 0, "refresh_interval": "-1"}})
    assert not index.add([{"_id": id_, "_source": each} for id_, each in documents.items()], refresh=True).refused
    return index


@pytest.fixture(scope="module")
def index(engine: Engine, names: Callable[[], str]) -> Index:
    """An index whose documents all have their fingerprints."""
    return filled(engine, names())


def put(index: Index, id_: str, document: Json, refresh: bool = True) -> None:
    """Write a document past es_simhash, as a team's own scripts do."""
    [result] = index.engine.perform(Bulk(index.name, [Action("index", id_, document)], refresh))
    assert result.error is None


def is_server(index: Index) -> bool:
    return type(index.engine).__name__ != "EmbeddedEngine"


CRITERIA: list[dict[str, Any]] = [
    {},
    {"similarity": 0.9},
    {"distance": 3},
    {"by": "both"},
]


@pytest.mark.parametrize("criteria", CRITERIA, ids=str)
def test_near_duplicates_are_those_that_a_search_finds(index: Index, criteria: dict[str, Any]) -> None:
    for a in ("0", "中文/1"):
        found = {match.id for match in index.find(id=a, size=100, **criteria)}
        others = ("same", "0/é 1", "0/é 4", "0/é 12", "0/é 30", "1", "1/é 1", "中文/2", "中文/1")
        explained = {b for b in others if b != a and index.explain(a, b, **criteria).verdict.are_duplicates}
        assert explained == found & set(others)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_the_engine_names_the_keys_that_the_documents_share(
    engine: Engine, names: Callable[[], str], layout: Layout
) -> None:
    scheme = Scheme(layout=layout, simhash=SimHash(64, 8, 5), minhash=MinHash(bands=20, rows=3))
    index = filled(engine, names(), scheme=scheme)
    shared = []
    for a, b in (("0", "0/é 1"), ("0", "0/é 12"), ("1", "2"), ("same", "0")):
        evidence = index.explain(a, b).evidence
        for keys in (evidence.blocks, evidence.bands):
            assert keys
            assert not keys.is_contradicted
            assert keys.engine == (keys.agree if is_server(index) else None)
            shared.append(len(keys.agree))
    assert shared[-2:] == [8, 20]


def test_a_chinese_pair_differs_by_characters(index: Index) -> None:
    found = index.explain("中文/1", "中文/2")
    assert found.verdict.are_duplicates
    assert [(part.a, part.b) for part in found.parts if part.kind == "changed"] == [("几", "三"), ("。", "！")]
    assert found.features.only_a.heaviest[0].text in CHINESE["body"]


def test_the_same_text_is_reported(index: Index) -> None:
    found = index.explain("0", "same")
    assert found.verdict.notes == ("The texts are the same.",)
    assert found.evidence.similarity.exact == 1
    assert {part.kind for part in found.parts} == {"equal"}


def test_unrelated_texts_are_not_candidates(index: Index) -> None:
    found = index.explain("0", "1")
    assert found.verdict.code == "no-candidate"
    assert found.evidence.bits
    assert found.evidence.bits.distance > 3


def test_a_document_without_text_is_the_reason(index: Index) -> None:
    found = index.explain("0", "empty")
    assert found.verdict.code == "empty"
    assert [each.state for each in found.pair] == ["current", "current"]


def test_a_stale_fingerprint_is_the_reason_until_it_is_refreshed(engine: Engine, names: Callable[[], str]) -> None:
    index = filled(engine, names())
    [found] = index.engine.perform(GetDocuments(index.name, ["0"]))
    put(index, "0", {**found["_source"], **corpus(6)[1]})
    verdict = index.explain("0", "same").verdict
    assert (verdict.code, verdict.are_duplicates) == ("stale", False)  # the texts are compared as they are now
    assert "No near-duplicates by what the index holds: '0' has the fingerprint of an older text." in verdict.sentence
    assert index.explain("0", "1").verdict.are_duplicates is False
    assert index.explain("0", "1").verdict.notes[0].startswith("By the texts as they are now: Near-duplicates: 1.00 ≥")


def test_a_missing_fingerprint_is_the_reason_until_a_backfill(engine: Engine, names: Callable[[], str]) -> None:
    index = filled(engine, names())
    put(index, "0", corpus(6)[0])
    verdict = index.explain("same", "0").verdict
    assert (verdict.code, verdict.are_duplicates) == ("missing", False)
    index.backfill()
    index.refresh()
    assert index.explain("same", "0").verdict.code == "duplicates"


def test_a_missing_refresh_is_the_reason(engine: Engine, names: Callable[[], str]) -> None:
    index = filled(engine, names())
    index.add([{"_id": "new", "_source": corpus(6)[0]}])
    found = index.explain("0", "new")
    assert (found.verdict.code, found.pair[1].is_seen) == ("unseen", False)
    index.refresh()
    assert index.explain("0", "new").verdict.code == "duplicates"


def test_documents_with_their_own_routing_are_read(engine: Engine, names: Callable[[], str]) -> None:
    name = names()
    settings = {"number_of_shards": 4, "number_of_replicas": 0}
    create = {"settings": settings, "mappings": {"_routing": {"required": True}}}
    if not is_server(Index(name, engine)):
        create = {}
    index = Index(name, engine, fields=FIELDS)
    index.init(create=create)
    documents = [{"_id": id_, "_routing": f"r{id_}", "_source": each} for id_, each in TEXTS.items()]
    assert not index.add(documents, refresh=True).refused
    found = index.explain("0", "0/é 1")
    assert found.verdict.are_duplicates
    assert found.evidence.bands
    assert not found.evidence.bands.is_contradicted


def test_documents_of_several_indices_are_read(engine: Engine, names: Callable[[], str]) -> None:
    first, second = names(), names()
    filled(engine, first, {"a": corpus(6)[0]})
    filled(engine, second, {"b": corpus(6)[0]})
    found = Index(f"{first},{second}", engine).explain("a", "b")
    assert [each.index for each in found.pair] == [first, second]
    assert found.verdict.code == "duplicates"


def test_an_id_that_stands_for_several_documents_is_refused(engine: Engine, names: Callable[[], str]) -> None:
    first, second = names(), names()
    for name in (first, second):
        filled(engine, name, {"a": corpus(6)[0], "b": corpus(6)[1]})
    with pytest.raises(IndexStateError, match=r"several.* 'a'|several with one id"):
        Index(f"{first},{second}", engine).explain("a", "b")


def test_an_id_with_several_routing_values_is_refused() -> None:
    documents = Documents(Scheme(), FIELDS)
    terms = SearchTerms("i", documents, FindOptions(estimate=True))
    plan = explain_pair(terms, ("a", "b"))
    assert isinstance(next(plan), GetDocuments)
    plan.send([{"_id": id_, "_index": "i", "found": False} for id_ in "ab"])
    hits = [{"_id": "a", "_index": "i", "_routing": routing, "_source": {}} for routing in "12"]
    assert isinstance(plan.send({"hits": {"hits": hits}}), Search)
    with pytest.raises(IndexStateError, match="Name the one index that is meant, or give"):
        plan.send({"hits": {"hits": hits}})


def test_a_server_that_does_not_identify_itself_is_still_asked() -> None:
    documents = Documents(Scheme(), FIELDS)
    terms = SearchTerms("i", documents, FindOptions(estimate=True))
    plan = explain_pair(terms, ("a", "b"))
    next(plan)
    found = [{"_id": id_, "_index": "i", "found": True, "_source": documents.add_fields(CHINESE)} for id_ in "ab"]
    plan.send(found)
    assert isinstance(plan.send({"hits": {"hits": found}}), Search)
    assert isinstance(plan.send({"hits": {"hits": found}}), GetInfo)
    asked = plan.throw(AccessError("This login may not ask. Give it the right to."))
    assert isinstance(asked, Search)
    assert len(asked.body["query"]["bool"]["should"]) == 6 + 36


def test_what_cannot_be_explained_is_refused(engine: Engine, names: Callable[[], str], index: Index) -> None:
    with pytest.raises(MissingError, match="has no document 'nobody'"):
        index.explain("0", "nobody")
    with pytest.raises(InputError, match="was given twice"):
        index.explain("0", "0")
    other = Index(names(), engine, fields=["meta"])
    other.init()
    for id_ in "ab":
        put(other, id_, {"meta": {"no": "text"}})
    with pytest.raises(DocumentError, match="Document 'a' has a value of type dict"):
        other.explain("a", "b")


def test_a_mapping_that_does_not_search_the_keys_is_reported(engine: Engine, names: Callable[[], str]) -> None:
    """Here a document's keys are one term, as if nobody had looked at what `init` says."""
    if not is_server(Index("x", engine)):
        pytest.skip("the embedded engine knows no named queries")
    name, scheme = names(), Scheme()
    mapping = scheme.mapping(fields=FIELDS)
    for field in ("bands", "blocks"):
        mapping["properties"]["dedup"]["properties"][field] = {"type": "text", "analyzer": "keyword"}
    engine.perform(CreateIndex(name, {"mappings": mapping, "settings": {"number_of_replicas": 0}}))
    index = Index(name, engine)
    index.add([{"_id": id_, "_source": corpus(6)[0]} for id_ in "ab"], refresh=True)
    verdict = index.explain("a", "b").verdict
    assert (verdict.code, verdict.are_duplicates) == ("contradiction", False)
    assert not index.find(id="a")


@pytest.mark.parametrize("server", ["elasticsearch_node", "opensearch_node"])
def test_an_asynchronous_client_explains_the_same(server: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    node: Node = request.getfixturevalue(server)
    name = "explained-async"

    async def explained() -> Explanation:
        index = AsyncIndex(name, node.url, fields=FIELDS)
        try:
            await index.init()
            await index.add([{"_id": id_, "_source": each} for id_, each in TEXTS.items()], refresh=True)
            return await index.explain("0", "0/é 4", similarity=0.5)
        finally:
            await index.close()

    found = asyncio.run(explained())
    with Index(name, node.url) as index:
        same = index.explain("0", "0/é 4", similarity=0.5)
    node.request("DELETE", f"/{name}")
    with Index(name, str(tmp_path), fields=FIELDS) as index:
        index.init()
        index.add([{"_id": id_, "_source": each} for id_, each in TEXTS.items()], refresh=True)
        embedded = index.explain("0", "0/é 4", similarity=0.5)
    assert (found.verdict, found.evidence) == (same.verdict, same.evidence)
    blocks, bands = found.evidence.blocks, found.evidence.bands
    assert blocks
    assert bands
    assert (blocks.engine, bands.engine) == (blocks.agree, bands.agree)
    # The embedded engine does not say which keys it found by.
    unsaid = replace(found.evidence, blocks=replace(blocks, engine=None), bands=replace(bands, engine=None))
    assert (found.verdict, unsaid) == (embedded.verdict, embedded.evidence)
