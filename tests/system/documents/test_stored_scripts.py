"""Scripts and search templates that servers keep: what they say, how they come there, and what they find."""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.documents.stored_scripts import may_be_within, stored_scripts
from es_simhash.engines.base import Engine
from es_simhash.errors import EngineError, IndexStateError, InputError, ScriptError
from es_simhash.index import AsyncIndex, Index
from es_simhash.plans.init import InstalledScripts
from es_simhash.plans.operations import Action, Bulk, DeleteResource, PutResource, Search
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import Layout, SimHash
from tests.support.corpus import corpus, edited
from tests.support.meddling import Meddler
from tests.support.whole_indices import servers
from tools.nodes import Node

KINDS = ("distance", "within", "score", "nearest", "find", "distinct")
SCHEMES = {
    "text": Scheme(),
    "keyword": Scheme(layout=Layout("keyword")),
    "fields": Scheme(layout=Layout("fields")),
    "no MinHash": Scheme(minhash=None),
    "128 bits": Scheme(simhash=SimHash(128, 8, 5)),
    "33 bits": Scheme(simhash=SimHash(33, 6, 3)),
}
each_scheme = pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)

# These have nothing to compare.
LACKING = {"empty 1": "", "empty 2": "", "short 1": "Hi", "short 2": "Hi"}

# Without this a key's score depends on how many documents of a shard have it.
ALIKE_ON_ALL_SHARDS = "search_type=dfs_query_then_fetch"
ORIGINAL = corpus(20)[3]
DOCUMENTS: list[Json] = [
    *({"_id": str(i), **each} for i, each in enumerate(corpus(20))),
    {"_id": "same", **ORIGINAL},
    *({"_id": f"edited {words}", **edited(ORIGINAL, words)} for words in (1, 2, 3)),
    {"_id": "empty", "body": ""},
]


# --- what they say


def test_a_search_differs_from_another_in_parameters_only() -> None:
    """So a server compiles the script once."""
    assert SCHEMES["text"].simhash
    first, second = (
        may_be_within("dedup", SCHEMES["text"].simhash, "id", code, distance)["script"]["script"]
        for code, distance in ((7, 3), (1 << 63, 5))
    )
    assert first["source"] == second["source"]
    assert first["params"] == {"scheme": "id", "simhash": "0000000000000007", "distance": 3}
    assert second["params"] == {"scheme": "id", "simhash": "8000000000000000", "distance": 5}


def test_names_show_the_prefix_unless_they_are_chosen() -> None:
    assert [each.name for each in stored_scripts(Scheme())] == [f"es-simhash-{kind}" for kind in KINDS]
    assert [each.name for each in stored_scripts(Scheme(), "other")] == [f"es-simhash-other-{kind}" for kind in KINDS]
    assert [each.name for each in stored_scripts(Scheme(), "other", "news.v2")] == [f"news.v2-{kind}" for kind in KINDS]
    for name in ("", "no names", "a/b", "-a", "a\n"):
        with pytest.raises(InputError, match=r"cannot have names.*Choose letters"):
            stored_scripts(Scheme(), name=name)


def test_without_a_simhash_that_scripts_can_read_there_is_only_what_needs_none() -> None:
    for scheme in (Scheme(simhash=None), Scheme.preset("strict"), Scheme(layout=Layout(doc_values=False))):
        assert [each.name for each in stored_scripts(scheme)] == ["es-simhash-find", "es-simhash-distinct"]


@each_scheme
def test_parameters_are_those_that_the_source_has(scheme: Scheme) -> None:
    for each in stored_scripts(scheme, "other"):
        source = re.sub(r"\{\{#toJson\}\}(\w+)\{\{/toJson\}\}", r"{{\1}}", each.source)
        used = re.findall(r"params\.([a-z]\w+)|\{\{\^?#?(\w+)[.}]", source)
        assert {name for pair in used for name in pair if name} == {*each.parameters, *each.optional}


# --- how they come to a server


@pytest.fixture
def own(engine: Engine) -> Iterator[str]:
    """What names of scripts begin with; they are removed in the end."""
    name = f"s{uuid.uuid4().hex[:10]}"
    yield name
    for kind in KINDS:
        try:
            engine.perform(DeleteResource(f"/_scripts/{name}-{kind}"))
        except EngineError:
            continue


def opened(engine: Engine, name: str, scheme: Scheme, **more: Any) -> Index:
    index = Index(name, engine, scheme=scheme, fields=["title", "body"], **more)
    index.init(create={"settings": {"number_of_shards": 2, "number_of_replicas": 0}})
    index.add(DOCUMENTS, refresh=True)
    return index


@servers
def test_they_are_installed_and_removed(kind: str, engine: Engine, names: Callable[[], str], own: str) -> None:
    index = opened(engine, names(), Scheme())
    scripts, templates = [f"{own}-{each}" for each in KINDS[:3]], [f"{own}-{each}" for each in KINDS[3:]]
    # The Elasticsearch of these tests has no Mustache.
    has_templates = kind == "opensearch"
    there = scripts + templates if has_templates else scripts
    expected = InstalledScripts(there, [] if has_templates else templates)
    assert [each.name for each in index.scripts(own)] == scripts + templates
    assert index.install_scripts(own) == expected
    assert index.install_scripts(own) == expected
    assert index.remove_scripts(own) == there
    assert index.remove_scripts(own) == []


@servers
def test_a_script_of_the_same_name_is_not_replaced(engine: Engine, names: Callable[[], str], own: str) -> None:
    index = opened(engine, names(), Scheme())
    theirs = {"script": {"lang": "painless", "source": "return 1;"}}
    engine.perform(PutResource(f"/_scripts/{own}-score", theirs))
    with pytest.raises(IndexStateError, match=rf"another script '{own}-score' already.*another name for these\.$"):
        index.install_scripts(own)
    assert index.remove_scripts(own) == [f"{own}-score"]


@servers
def test_they_are_compiled_when_they_are_installed(engine: Engine, names: Callable[[], str], own: str) -> None:
    index, broken = opened(Meddler(engine), names(), Scheme()), Meddler(engine)

    def spoil(operation: Any) -> None:
        if isinstance(operation, PutResource):
            operation.body["script"]["source"] = "no Painless"

    broken.before = spoil
    with pytest.raises(EngineError, match="compile"):
        Index(index.name, broken).install_scripts(own)
    assert index.remove_scripts(own) == []


@servers
def test_the_asynchronous_index_does_the_same(
    kind: str, engine: Engine, names: Callable[[], str], own: str, request: pytest.FixtureRequest
) -> None:
    index = opened(engine, names(), Scheme())
    node: Node = request.getfixturevalue(f"{kind}_node")

    async def do() -> None:
        async with AsyncIndex(index.name, node.url) as same:
            assert await same.scripts(own) == index.scripts(own)
            done = await same.install_scripts(own)
            assert await same.remove_scripts(own) == done.names

    asyncio.run(do())


@pytest.mark.parametrize("kind", ["embedded"], indirect=True)
def test_the_embedded_engine_shows_them_but_stores_none(engine: Engine, names: Callable[[], str]) -> None:
    index = opened(engine, names(), Scheme())
    assert index.scripts() == stored_scripts(Scheme())
    for do in (index.install_scripts, index.remove_scripts):
        with pytest.raises(EngineError, match=r"embedded engine runs no scripts.*leave the scripts out\.$"):
            do()


def test_a_server_without_scripts_says_so(opensearch2_node: Node) -> None:
    with Index("without-painless", opensearch2_node.url, scheme=Scheme(), fields=["body"]) as index:
        index.init()
        with pytest.raises(ScriptError, match="Painless"):
            index.install_scripts()
        opensearch2_node.request("DELETE", "/without-painless")


# --- what they find


def hits(engine: Engine, index: Index, **body: Any) -> list[Json]:
    found: list[Json] = engine.perform(Search(index.name, {"size": 100, **body}))["hits"]["hits"]
    return found


@servers
@each_scheme
def test_scripts_compute_the_distance_in_every_context(
    engine: Engine, names: Callable[[], str], own: str, scheme: Scheme
) -> None:
    index = opened(engine, names(), scheme, prefix="fp")
    index.install_scripts(own)
    texts = {each["_id"]: index.documents.text_of(each) for each in DOCUMENTS}
    prints = {id_: scheme.fingerprint(text) for id_, text in texts.items()}
    assert scheme.simhash
    bits, given = scheme.simhash.bits, {"simhash": f"{prints['3'].simhash:0{-(-scheme.simhash.bits // 4)}x}"}
    distances = {
        id_: scheme.distance(prints["3"], each) if each.status != "empty" else bits + 1 for id_, each in prints.items()
    }
    assert set(distances.values()) >= {0, bits + 1}

    by_distance = {"_script": {"type": "number", "script": {"id": f"{own}-distance", "params": given}}}
    found = hits(engine, index, sort=[by_distance])
    assert {hit["_id"]: hit["sort"][0] for hit in found} == distances
    assert [hit["sort"][0] for hit in found] == sorted(distances.values())

    shown = {"distance": {"script": {"id": f"{own}-distance", "params": given}}}
    found = hits(engine, index, script_fields=shown)
    assert {hit["_id"]: hit["fields"]["distance"][0] for hit in found} == distances

    for most in (0, 3, bits):
        near = {"script": {"script": {"id": f"{own}-within", "params": {**given, "distance": most}}}}
        found = hits(engine, index, query={"bool": {"filter": [near]}})
        assert {hit["_id"] for hit in found} == {id_ for id_, far in distances.items() if far <= most}

    score = {"id": f"{own}-score", "params": given}
    found = hits(engine, index, query={"script_score": {"query": {"match_all": {}}, "script": score}})
    assert {hit["_id"]: hit["_score"] for hit in found} == {id_: max(0, bits - far) for id_, far in distances.items()}


# It needs both servers in one process.
@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["opensearch"], indirect=True)
@each_scheme
def test_templates_find_what_find_does_and_so_does_what_they_come_to_on_elasticsearch(
    engine: Engine, names: Callable[[], str], own: str, scheme: Scheme, opensearch_node: Node, elasticsearch_node: Node
) -> None:
    index = opened(engine, names(), scheme)
    index.install_scripts(own)
    with Index(index.name, elasticsearch_node.url, scheme=scheme, fields=["title", "body"]) as other:
        opened(other.engine, index.name, scheme)
        other.install_scripts(own)

        def ids(kind: str, **params: Any) -> list[str]:
            """The ids that a template finds on both."""
            asked = {"id": f"{own}-{kind}", "params": params}
            reply = opensearch_node.request("POST", f"/{index.name}/_search/template?{ALIKE_ON_ALL_SHARDS}", asked)
            assert reply.status == 200, reply.body
            rendered = opensearch_node.request("POST", "/_render/template", asked).body["template_output"]
            on_other = elasticsearch_node.request("POST", f"/{index.name}/_search?{ALIKE_ON_ALL_SHARDS}", rendered)
            assert on_other.status == 200, on_other.body
            found, same = ([hit["_id"] for hit in each.body["hits"]["hits"]] for each in (reply, on_other))
            assert set(found) == set(same)
            assert all("dedup" not in hit["_source"] for hit in reply.body["hits"]["hits"])
            return found

        try:
            _check_templates(index, ids, opensearch_node.request("GET", f"/{index.name}/_doc/3").body["_source"])
        finally:
            other.remove_scripts(own)
            elasticsearch_node.request("DELETE", f"/{index.name}")


def _check_templates(index: Index, ids: Callable[..., list[str]], source: Json) -> None:
    simhash = index.scheme.simhash
    assert simhash
    for distance in (0, simhash.distance):
        expected = [match.id for match in index.find(id="3", by="simhash", distance=distance)]
        assert expected
        assert sorted(ids("nearest", **source, id="3", distance=distance)) == sorted(expected)
    assert set(ids("nearest", **source)) == {"3", *expected}
    assert set(ids("nearest", **source)[:2]) == {"3", "same"}
    assert ids("nearest", **source, id="3", size=1) == ["same"]
    # One block in common, and farther.
    farther = [match.id for match in index.find(id="3", by="simhash", distance=simhash.blocks - 1)]
    assert set(ids("nearest", **source, id="3", distance=simhash.blocks - 1, shared=1)) == set(farther)

    edits = {"same", "edited 1", "edited 2", "edited 3"}
    assert "same" in ids("find", id="3")
    if index.scheme.minhash:
        assert set(ids("find", id="3")) == edits
        assert ids("find", id="3", shared=index.scheme.minhash.bands) == ["same"]
    else:
        assert set(ids("find", id="3")) <= edits
    assert ids("find", id="3", size=1) == ["same"]


@pytest.mark.parametrize("kind", ["opensearch"], indirect=True)
def test_values_with_quotes_are_not_part_of_the_search(
    engine: Engine, names: Callable[[], str], own: str, opensearch_node: Node
) -> None:
    index = opened(engine, names(), Scheme())
    index.install_scripts(own)
    id_ = 'a "quote" \\ and \n more'
    engine.perform(Bulk(index.name, [Action("index", id_, index.documents.add_fields({**ORIGINAL}))], refresh=True))
    asked = {"id": f"{own}-find", "params": {"id": id_, "size": 2}}
    reply = opensearch_node.request("POST", f"/{index.name}/_search/template", asked)
    assert {hit["_id"] for hit in reply.body["hits"]["hits"]} == {"3", "same"}


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["opensearch"], indirect=True)
def test_a_template_shows_each_group_and_text_once_and_so_does_what_it_comes_to_on_elasticsearch(
    engine: Engine, names: Callable[[], str], own: str, opensearch_node: Node, elasticsearch_node: Node
) -> None:
    """Documents without fingerprints, empty and short ones stay apart."""
    index = opened(engine, names(), Scheme())
    index.install_scripts(own)
    grouped = {**corpus(20)[5], "dedup": {"group": "g", "status": "ok"}}
    more: dict[str, Json] = {
        "grouped 1": grouped,
        "grouped 2": {**grouped, "body": "Another"},
        "bare 1": ORIGINAL,
        "bare 2": ORIGINAL,
    }
    with Index(index.name, elasticsearch_node.url, scheme=Scheme(), fields=["title", "body"]) as other:
        opened(other.engine, index.name, Scheme())
        for each in (index, other):
            each.add([{"_id": name, "body": text} for name, text in LACKING.items()])
            each.engine.perform(Bulk(index.name, [Action("index", id_, more[id_]) for id_ in more], refresh=True))
        asked: Json = {"id": f"{own}-distinct", "params": {"query": {"match_all": {}}, "size": 100}}
        rendered = opensearch_node.request("POST", "/_render/template", asked).body["template_output"]
        try:
            replies = [
                opensearch_node.request("POST", f"/{index.name}/_search/template", asked),
                elasticsearch_node.request("POST", f"/{index.name}/_search", rendered),
            ]
        finally:
            elasticsearch_node.request("DELETE", f"/{index.name}")
        for reply in replies:
            assert reply.status == 200, reply.body
            buckets = reply.body["aggregations"]["window"]["distinct"]["buckets"]
            hits = {each["hit"]["hits"]["hits"][0]["_id"]: each["doc_count"] for each in buckets}
            alone = {each["_id"] for each in DOCUMENTS} - {"3", "same"} | LACKING.keys() | {"bare 1", "bare 2"}
            assert {id_ for id_, count in hits.items() if count == 1} == alone
            assert [count for count in hits.values() if count > 1] == [2, 2]
            assert len(hits.keys() & {"3", "same"}) == len(hits.keys() & {"grouped 1", "grouped 2"}) == 1
            assert not any("dedup" in each["hit"]["hits"]["hits"][0]["_source"] for each in buckets)


@pytest.mark.parametrize("kind", ["opensearch"], indirect=True)
def test_distinct_hits_of_a_template_come_best_first(
    engine: Engine, names: Callable[[], str], own: str, opensearch_node: Node
) -> None:
    index = opened(engine, names(), Scheme())
    index.install_scripts(own)
    query = {"match": {"body": ORIGINAL["body"]}}
    asked = {"id": f"{own}-distinct", "params": {"query": query, "size": 3, "window": 50}}
    reply = opensearch_node.request("POST", f"/{index.name}/_search/template", asked)
    buckets = reply.body["aggregations"]["window"]["distinct"]["buckets"]
    by_server = hits(engine, index, query=query)
    distinct = [hit for hit in by_server if hit["_id"] != "same"][:3]
    assert [each["score"]["value"] for each in buckets] == pytest.approx([hit["_score"] for hit in distinct])
    assert sum(each["doc_count"] for each in buckets) == 4
