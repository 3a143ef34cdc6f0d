"""Candidates that the server leaves out by a script, and those that are compared here: the matches are the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from es_simhash._core import arrays
from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import Engine, run
from es_simhash.engines.connect import connect
from es_simhash.errors import EngineError, ScriptError, UnreachableError
from es_simhash.index import Index
from es_simhash.plans import find
from es_simhash.plans.bulk import RequestSize, send
from es_simhash.plans.find import ServerFilter, all_candidates, server_filter
from es_simhash.plans.find_options import FindOptions, SearchTerms
from es_simhash.plans.operations import Action, ActionResult, Bulk, MultiSearch, Operation, Plan, Search
from es_simhash.plans.reply_size import DocumentPart, SearchExperience
from es_simhash.scheme import own_fields
from es_simhash.scheme.fingerprinting import Fingerprints
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.rerank import Matches
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import Layout, SimHash
from tests.support.findings import the_one
from tests.support.meddling import Meddler
from tests.support.whole_indices import servers
from tools.nodes import Node

TEXT = "A text whose SimHash is what all others are compared with, and which shares a block with very many of them."
# With six blocks and this distance, one block in common makes a candidate.
FARTHEST = 5
FAR, NEAR = 240, 18
HERE, SERVER = ServerFilter.NEVER, ServerFilter.ALWAYS
SCHEMES = {
    "64 bits": Scheme(),
    "128 bits": Scheme(simhash=SimHash(128, 6, 3)),
    "70 bits": Scheme(simhash=SimHash(70, 6, 3)),
    "32 bits": Scheme(simhash=SimHash(32, 6, 3), layout=Layout("keyword")),
    "no MinHash": Scheme(minhash=None, layout=Layout("fields")),
}


def around(scheme: Scheme) -> dict[str, int]:
    """SimHashes by ids: far ones that have a block in common with that of the text, and near ones within 5 bits."""
    assert scheme.simhash
    own, layout = scheme.fingerprint(TEXT).simhash or 0, scheme.simhash.layout
    rng, made = np.random.default_rng(5), {}
    for i in range(FAR):
        kept = ((1 << layout.widths[i % 6]) - 1) << layout.bits - layout.starts[i % 6] - layout.widths[i % 6]
        noise = int.from_bytes(rng.bytes(16), "big") & ((1 << layout.bits) - 1)
        made[f"far {i}"] = own ^ (noise & ~kept)
    for i in range(NEAR):
        flipped = rng.choice(layout.bits, i % (FARTHEST + 1), replace=False).tolist()
        made[f"near {i}"] = own ^ sum(1 << bit for bit in flipped)
    return made


def documents_of(scheme: Scheme, simhashes: dict[str, int], scheme_id: str | None = None) -> list[Action]:
    """Actions that write documents with these SimHashes, and the signature of the text."""
    assert scheme.simhash
    signature = scheme.fingerprint(TEXT).signature if scheme.minhash else None
    made = Fingerprints(
        np.zeros(len(simhashes), dtype=np.uint8),
        arrays.from_ints(list(simhashes.values()), scheme.simhash.bits),
        None if signature is None else np.repeat(signature[np.newaxis], len(simhashes), axis=0),
    )
    stored = own_fields.write(scheme, scheme_id or scheme.id, list(simhashes), made)
    return [Action("index", id_, {"body": id_, "dedup": each}) for id_, each in zip(simhashes, stored, strict=True)]


def opened(engine: Engine, name: str, scheme: Scheme, actions: list[Action]) -> Index:
    index = Index(name, engine, scheme=scheme, fields=["body"])
    index.init(create={"settings": {"number_of_shards": 2, "number_of_replicas": 0}})
    errors: list[str] = []

    def take(_: Sequence[int], results: Sequence[ActionResult]) -> None:
        errors.extend(result.error for result in results if result.error)

    # Waits where a queue is full, as that of the small node is at times.
    run(send(Bulk(name, actions, refresh=True), take, RequestSize(), patience=60), engine)
    assert not errors
    return index


def by(who: ServerFilter, search: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Search, with bits compared by the server or here."""
    with patch.object(find, "server_filter", return_value=who):
        found = search(*arguments, **options)
        return list(found) if isinstance(found, Iterator) else found


def compared(matches: Matches) -> list[tuple[Any, ...]]:
    return [(match.id, match.distance, match.similarity) for match in matches]


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_the_matches_are_those_of_an_oracle_and_in_the_same_order(
    engine: Engine, names: Callable[[], str], scheme: Scheme
) -> None:
    simhashes = around(scheme)
    index = opened(engine, names(), scheme, documents_of(scheme, simhashes))
    own = scheme.fingerprint(TEXT).simhash or 0
    for distance in range(FARTHEST + 1):
        oracle = sorted((bin(own ^ each).count("1"), id_) for id_, each in simhashes.items())
        expected = [(id_, far) for far, id_ in oracle if far <= distance]
        found = [by(who, index.find, TEXT, distance=distance, by="simhash", size=50) for who in (HERE, SERVER)]
        default = index.find(TEXT, distance=distance, by="simhash", size=50)
        assert [(match.id, match.distance) for match in found[0]] == expected
        assert compared(found[0]) == compared(found[1]) == compared(default)
        assert all(each.complete for each in (*found, default))
    assert found[0].candidates >= FAR


@servers
def test_the_server_returns_only_what_is_near(engine: Engine, names: Callable[[], str]) -> None:
    index = opened(engine, names(), Scheme(), documents_of(Scheme(), around(Scheme())))
    assert by(SERVER, index.find, TEXT, distance=FARTHEST).candidates == NEAR
    assert index.find(TEXT, distance=FARTHEST).candidates == NEAR
    assert by(HERE, index.find, TEXT, distance=FARTHEST).candidates == FAR + NEAR


@servers
def test_the_server_compares_more_than_are_fetched(engine: Engine, names: Callable[[], str]) -> None:
    """What a cut-off list leaves out, a script does not."""
    index = opened(engine, names(), Scheme(), documents_of(Scheme(), around(Scheme())))
    whole = by(HERE, index.find, TEXT, distance=FARTHEST, size=50)
    cut_off = by(HERE, index.find, TEXT, distance=FARTHEST, size=50, max_candidates=NEAR + 1)
    by_server = by(SERVER, index.find, TEXT, distance=FARTHEST, size=50, max_candidates=NEAR + 1)
    assert not cut_off.complete
    assert by_server.complete
    assert by_server.matches == whole.matches
    assert not by(SERVER, index.find, TEXT, distance=FARTHEST, max_candidates=NEAR).complete


def test_documents_of_other_schemes_and_without_a_fingerprint_are_counted_as_before(
    engine: Engine, names: Callable[[], str]
) -> None:
    own = documents_of(Scheme(), around(Scheme()))
    others = documents_of(Scheme(), dict.fromkeys(("x", "y"), Scheme().fingerprint(TEXT).simhash or 0), "another")
    wider: Any = others[1].body
    wider["dedup"]["simhash"] *= 2
    hollow: Json = {**documents_of(Scheme(), around(Scheme()))[0].body}  # type: ignore[dict-item]
    hollow["dedup"] = {name: value for name, value in hollow["dedup"].items() if name != "simhash"}
    index = opened(engine, names(), Scheme(), [*own, *others, Action("index", "hollow", hollow)])
    found = [by(who, index.find, TEXT, distance=FARTHEST) for who in (HERE, SERVER)]
    assert [each.foreign for each in found] == [3, 3]
    assert found[0].matches == found[1].matches


def test_filters_and_the_document_itself_are_left_out_as_ever(engine: Engine, names: Callable[[], str]) -> None:
    index = opened(engine, names(), Scheme(), documents_of(Scheme(), around(Scheme())))
    index.add([{"_id": "itself", "body": TEXT}], refresh=True)
    only: Json = {"ids": {"values": ["near 0", "near 6", "near 1", "far 1"]}}
    found = by(SERVER, index.find, id="itself", distance=0, filter=only)
    assert [match.id for match in found] == ["near 0", "near 6"]
    assert "itself" not in [match.id for match in by(SERVER, index.find, id="itself", distance=0, size=50)]


def test_many_at_once(engine: Engine, names: Callable[[], str]) -> None:
    index = opened(engine, names(), Scheme(), documents_of(Scheme(), around(Scheme())))
    texts = [TEXT, "", "Another text, which has nothing in common with the first one."]
    local = list(by(HERE, index.find_many, texts, distance=FARTHEST))
    by_server = list(by(SERVER, index.find_many, texts, distance=FARTHEST))
    default = list(index.find_many(texts, distance=FARTHEST))
    assert (
        [each.matches for each in by_server] == [each.matches for each in default] == [each.matches for each in local]
    )
    assert [each.status for each in by_server] == ["ok", "empty", "ok"]


# --- who compares


BY_SIMHASH = Criteria(3, None)


@pytest.mark.parametrize(
    ("scheme", "distance", "expected"),
    [
        (Scheme(), 3, ServerFilter.LATER),
        (Scheme(), 5, ServerFilter.ALWAYS),
        (Scheme(simhash=SimHash(64, 4, 3)), 3, ServerFilter.ALWAYS),
        (Scheme.preset("short"), 5, ServerFilter.LATER),
        (Scheme.preset("strict"), 3, ServerFilter.NEVER),
    ],
)
def test_by_default_the_server_does_where_random_simhashes_already_meet_many(
    scheme: Scheme, distance: int, expected: ServerFilter
) -> None:
    assert server_filter(FindOptions(), scheme, Criteria(distance, None)) is expected


@pytest.mark.parametrize(
    ("options", "scheme", "criteria"),
    [
        pytest.param(FindOptions(candidates="more_like_this"), Scheme(), BY_SIMHASH, id="no fingerprints"),
        pytest.param(FindOptions(), Scheme(), Criteria(None, 0.6), id="a signature"),
        pytest.param(FindOptions(), Scheme(), Criteria(3, 0.6), id="both"),
        pytest.param(FindOptions(), Scheme.preset("strict"), BY_SIMHASH, id="blocks alone"),
        pytest.param(FindOptions(), Scheme(layout=Layout(doc_values=False)), BY_SIMHASH, id="no doc values"),
    ],
)
def test_what_no_script_can_compare_is_compared_here(options: FindOptions, scheme: Scheme, criteria: Criteria) -> None:
    assert server_filter(options, scheme, criteria) is ServerFilter.NEVER


class Asked:
    """A record of how it is asked for candidates; it stops at ``enough``."""

    length = 0

    def __init__(self, enough: int) -> None:
        self._enough = enough

    def cannot_be_outdone(self, hits: Sequence[Json]) -> bool:
        return len(hits) >= self._enough

    def body(self, size: int, part: DocumentPart, *, scored: bool, filtered: bool) -> Json:
        return {"size": size, "filtered": filtered}


def hits(count: int) -> Json:
    return {"hits": {"hits": [{"_id": str(i)} for i in range(count)]}}


def candidates_of(
    filters: ServerFilter,
    *replies: Any,
    most: int = 10_000,
    enough: int = 10_000,
    experience: SearchExperience | None = None,
) -> tuple[list[Any], list[tuple[int, bool]]]:
    """The requests of a search, as size and whether filtered; how many candidates it has, and whether these are all."""
    documents, options = Documents(Scheme(), ["body"]), FindOptions(size=1, max_candidates=most)
    terms = SearchTerms("index", documents, options, experience=experience or SearchExperience())
    search: Any = Asked(enough)
    steps = all_candidates(terms, [search], with_texts=True)
    with patch.object(find, "server_filter", return_value=filters):
        return played(steps, replies)


def played(steps: Plan[Any], replies: Iterable[Any]) -> tuple[list[Any], list[tuple[int, bool]]]:
    asked: list[Any] = []
    coming, send, step = iter(replies), steps.send, None
    while True:
        try:
            operation: Operation[Any] = send(step)
        except StopIteration as end:
            assert not list(coming)
            return asked, [(len(found.hits), found.complete) for found in end.value]
        asked.append(
            (operation.body["size"], operation.body["filtered"]) if isinstance(operation, Search) else operation
        )
        step = next(coming)
        send = steps.throw if isinstance(step, Exception) else steps.send


def test_a_list_that_was_not_all_is_asked_for_again_without_what_is_far() -> None:
    assert candidates_of(ServerFilter.LATER, hits(99)) == ([(100, False)], [(99, True)])
    assert candidates_of(ServerFilter.LATER, hits(100), hits(3)) == ([(100, False), (1000, True)], [(3, True)])
    assert candidates_of(ServerFilter.NEVER, hits(100), hits(300)) == ([(100, False), (1000, False)], [(300, True)])
    assert candidates_of(ServerFilter.ALWAYS, hits(100), hits(300)) == ([(100, True), (1000, True)], [(300, True)])
    assert candidates_of(ServerFilter.LATER, hits(50), most=50) == ([(50, False)], [(50, False)])


def test_a_list_that_cannot_be_outdone_is_not_asked_for_again() -> None:
    assert candidates_of(ServerFilter.NEVER, hits(100), enough=100) == ([(100, False)], [(100, False)])
    asked = [(100, False), (1000, False)]
    assert candidates_of(ServerFilter.NEVER, hits(100), hits(1000), enough=1000) == (asked, [(1000, False)])
    assert candidates_of(ServerFilter.NEVER, hits(100), hits(700), enough=200) == (asked, [(700, True)])


@pytest.mark.parametrize("error", [ScriptError("no scripts."), EngineError("a script fails.")])
def test_where_a_script_is_refused_all_is_fetched(error: EngineError) -> None:
    local = [(100, False), (1000, False)]
    assert candidates_of(ServerFilter.ALWAYS, error, hits(100), hits(300)) == ([(100, True), *local], [(300, True)])
    refused = [(100, False), (1000, True), (1000, False)]
    assert candidates_of(ServerFilter.LATER, hits(100), error, hits(300)) == (refused, [(300, True)])


def test_a_server_that_refuses_scripts_is_sent_no_more_of_them_but_one_on_which_a_script_fails_is() -> None:
    experience = SearchExperience()
    once, never = [(100, True), (100, False)], [(100, False)]
    for error, later in ((EngineError("a script fails."), once[:1]), (ScriptError("no scripts."), never)):
        assert candidates_of(ServerFilter.ALWAYS, error, hits(1), experience=experience)[0] == once
        assert candidates_of(ServerFilter.ALWAYS, hits(1), experience=experience)[0] == later


def test_an_engine_that_is_gone_or_refuses_the_search_itself_is_an_error() -> None:
    with pytest.raises(UnreachableError):
        candidates_of(ServerFilter.ALWAYS, UnreachableError("gone."))
    with pytest.raises(EngineError, match="no such query"):
        candidates_of(ServerFilter.LATER, EngineError("no such query."))


@servers
def test_one_query_may_need_a_longer_list_than_others(meddler: Meddler, names: Callable[[], str]) -> None:
    # By three of six blocks, all of these are candidates.
    own = Scheme().fingerprint(TEXT).simhash or 0
    alike = {str(i): own ^ (i << 1) for i in range(150)}
    index = opened(meddler, names(), Scheme(), documents_of(Scheme(), alike))
    found, other = index.find_many([TEXT, "A text that is like none of them."], distance=3, size=150)
    assert [type(each) for each in meddler.seen[-2:]] == [MultiSearch, Search]
    assert [match.id for match in found] == [match.id for match in by(HERE, index.find, TEXT, distance=3, size=150)]
    assert len(found) == sum(bin(i).count("1") <= 3 for i in range(150))
    assert not other


# --- servers that run no scripts


@pytest.mark.nightly
def test_where_opensearch_runs_no_scripts_all_is_compared_here(small_opensearch_node: Node) -> None:
    engine = Meddler(connect(small_opensearch_node.url))
    index = opened(engine, "scriptless", Scheme(), documents_of(Scheme(), around(Scheme())))
    local = by(HERE, index.find, TEXT, distance=FARTHEST)
    assert index.find(TEXT, distance=FARTHEST) == local
    assert "'script'" in str(engine.seen)
    engine.seen.clear()
    assert list(index.find_many([TEXT, TEXT], distance=FARTHEST)) == [local, local]
    assert "'script'" not in str(engine.seen)
    assert "script.allowed_types" in the_one(index.doctor(), "scripts").remedy
    small_opensearch_node.request("DELETE", "/scriptless")
    engine.engine.close()


def test_without_painless_too(opensearch2_node: Node) -> None:
    engine = connect(opensearch2_node.url)
    index = opened(engine, "without-painless", Scheme(), documents_of(Scheme(), around(Scheme())))
    try:
        local = by(HERE, index.find, TEXT, distance=FARTHEST)
        assert index.find(TEXT, distance=FARTHEST) == local
        assert by(SERVER, index.find, TEXT, distance=FARTHEST) == local
    finally:
        opensearch2_node.request("DELETE", "/without-painless")
        engine.close()
