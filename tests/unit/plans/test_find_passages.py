"""What contains a text, and what it contains: which candidates are asked for and compared, and what is said of them."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from es_simhash import AsyncIndex, Index, Layout, Passages, Policy, Scheme, SchemeError, Scope
from es_simhash.engines.connect import ThreadedEngine
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import IndexStateError, InputError, TextError
from es_simhash.plans.find_options import QueryDocument
from es_simhash.plans.operations import Action, Bulk, GetDocuments, MultiSearch, Search
from es_simhash.scheme.settings import MAX_KEYS
from tests.support.meddling import Meddler


def words(count: int, seed: int = 1) -> list[str]:
    rng = random.Random(seed)
    return [f"word{rng.randrange(10_000)}" for _ in range(count)]


LONG = words(600)
PASSAGE, PART = " ".join(LONG[200:300]), " ".join(LONG[250:280])
OTHER = " ".join(words(600, seed=2))


@pytest.fixture
def index(tmp_path: Path) -> Index:
    """A long text with two parts of its own as documents, and another text."""
    opened = Index("news", EmbeddedEngine(tmp_path), scheme="passages", fields=["body"])
    opened.init()
    texts = {"long": " ".join(LONG), "passage": PASSAGE, "part": PART, "other": OTHER}
    opened.add(({"_id": id_, "body": text, "n": 1} for id_, text in texts.items()), refresh=True)
    return opened


def found(matches: Any) -> dict[str, float]:
    return {match.id: match.containment for match in matches}


def test_by_text_by_id_and_by_document(index: Index) -> None:
    assert found(index.find(PART, relation="containing")) == {"long": 1.0, "part": 1.0, "passage": 1.0}
    assert found(index.find(id="passage", relation="containing")) == {"long": 1.0}
    assert found(index.find(id="long", relation="contained")) == {"part": 1.0, "passage": 1.0}
    assert found(index.find(doc={"body": PASSAGE}, relation="contained")) == {"part": 1.0, "passage": 1.0}


def test_many_at_once_and_the_asynchronous_index_find_the_same(index: Index) -> None:
    both = list(index.find_many([PART, "few words", OTHER], relation="containing"))
    assert [list(found(each)) for each in both] == [["long", "part", "passage"], [], ["other"]]
    assert [each.status for each in both] == ["ok", "short", "ok"]

    async def one() -> Any:
        async with AsyncIndex("news", ThreadedEngine(index.engine)) as opened:
            return await opened.find(PART, relation="containing")

    assert found(asyncio.run(one())) == found(both[0])


def test_the_minimum_is_a_containment_by_number_or_level(index: Index) -> None:
    changed = PASSAGE.split()
    changed[50:65] = ["else"] * 15
    text = " ".join(changed)
    assert found(index.find(text, relation="containing")) == {"long": 0.85, "passage": 0.85}
    assert not index.find(text, relation="containing", similarity="copies")
    assert len(index.find(text, relation="containing", similarity=0.85)) == 2
    assert not index.find(text, relation="containing", similarity=0.86)
    with pytest.raises(SchemeError, match="above 0"):
        index.find(text, relation="containing", similarity=0)


def test_matches_carry_no_similarity_and_no_verdict_but_what_was_asked_for(index: Index) -> None:
    [match, *_] = index.find(PASSAGE, relation="containing", source=["n"])
    assert (match.similarity, match.distance, match.clause, match.is_exact) == (None, None, None, True)
    assert (match.id, match.same_text, match.source) == ("long", False, {"n": 1})
    found = index.find(PASSAGE, relation="containing", source=True, filter={"ids": {"values": ["passage"]}})
    assert [(match.id, match.same_text) for match in found] == [("passage", True)]
    assert found[0].source is not None
    assert found[0].source["body"] == PASSAGE


def test_the_lists_are_cut_to_the_size_the_most_contained_first(index: Index) -> None:
    index.add([{"_id": "half", "body": f"{PASSAGE} {' '.join(words(20, seed=5))}"}], refresh=True)
    assert list(found(index.find(" ".join(LONG), relation="contained"))) == ["long", "part", "passage", "half"]
    assert list(found(index.find(" ".join(LONG), relation="contained", size=2))) == ["long", "part"]


def test_an_index_without_passages_names_the_setting(tmp_path: Path) -> None:
    opened = Index("plain", EmbeddedEngine(tmp_path), fields=["body"])
    opened.init()
    with pytest.raises(SchemeError, match=r"--scheme passages.*Passages\(\)"):
        opened.find(PART, relation="containing")


@pytest.mark.parametrize(
    "options",
    [{"by": "minhash"}, {"distance": 3}, {"estimate": True}, {"numbers": 0.5}, {"candidates": "more_like_this"}],
)
def test_what_compares_otherwise_is_refused(index: Index, options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="by passages"):
        index.find(PART, relation="contained", **options)


def test_other_relations_and_relations_of_new_documents_are_refused(index: Index) -> None:
    with pytest.raises(InputError, match="containing, contained"):
        index.find(PART, relation="inside")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="near-duplicates only"):
        list(index.check([{"body": PART}], relation="containing"))


def test_an_empty_text_cannot_be_searched_for_and_one_of_few_words_finds_nothing(index: Index) -> None:
    with pytest.raises(TextError, match="empty"):
        index.find(" !", relation="containing")
    few = index.find("five words make no passage", relation="contained")
    assert (few.status, len(few), few.candidates) == ("short", 0, 0)


def test_fingerprints_of_another_scheme_are_counted_and_not_compared(index: Index) -> None:
    keys = index.documents.add_fields({"body": PASSAGE})["dedup"]
    foreign = {"body": PASSAGE, "dedup": {**keys, "scheme": "0" * 12}}
    index.engine.perform(Bulk("news", [Action("index", "foreign", foreign)], refresh=True))
    matches = index.find(PASSAGE, relation="containing")
    assert (list(found(matches)), matches.foreign) == (["long", "passage"], 1)


def searches(engine: Meddler) -> list[Any]:
    bodies: list[Any] = []
    for operation in engine.seen:
        bodies += [operation.body] if isinstance(operation, Search) else []
        bodies += operation.bodies if isinstance(operation, MultiSearch) else []
    return [each for each in bodies if "bool" in each["query"]]


def test_texts_that_share_few_of_their_keys_are_not_read(index: Index) -> None:
    boilerplate = " ".join(words(22, seed=9))
    index.add([{"_id": "rest", "body": f"{boilerplate} {' '.join(words(2000, seed=8))}"}], refresh=True)
    engine = Meddler(index.engine)
    opened = Index("news", engine)
    matches = opened.find(f"{boilerplate} {PASSAGE}", relation="contained")
    assert (list(found(matches)), matches.candidates) == (["part", "passage"], 4)
    read = [id_ for operation in engine.seen if isinstance(operation, GetDocuments) for id_ in operation.ids]
    assert "rest" not in read


def test_what_a_very_long_text_contains_is_asked_for_in_parts(index: Index) -> None:
    engine = Meddler(index.engine)
    text = " ".join([*words(10_000, seed=7), PASSAGE, *words(3_000, seed=6)])
    assert list(found(Index("news", engine).find(text, relation="contained"))) == ["part", "passage"]
    asked = searches(engine)
    assert len(asked) == 2
    assert all(len(each["query"]["bool"]["should"]) <= MAX_KEYS for each in asked)


def test_what_contains_a_long_text_must_share_a_tenth_of_what_is_asked_for(index: Index) -> None:
    engine = Meddler(index.engine)
    assert list(found(Index("news", engine).find(" ".join(LONG), relation="containing"))) == ["long"]
    [body] = searches(engine)
    keys = len(body["query"]["bool"]["should"])
    assert 50 < keys < 100
    assert body["query"]["bool"]["minimum_should_match"] == keys // 10


def many(index: Index, texts: Sequence[str], start: str) -> None:
    index.add(({"_id": f"{start}{i}", "body": text} for i, text in enumerate(texts)), refresh=True)


def test_boilerplate_does_not_hide_what_shares_rarer_passages(index: Index) -> None:
    legal = " ".join(words(40, seed=20))
    many(index, [f"{legal} {' '.join(words(60, seed=100 + i))}" for i in range(150)], "legal")
    text = f"{PASSAGE} {legal}"
    many(index, [f"{' '.join(words(50, seed=i))} {text}" for i in range(3)], "quoting")
    matches = index.find(text, relation="containing", max_candidates=20)
    assert [match.id for match in matches] == ["quoting0", "quoting1", "quoting2"]
    assert (matches.complete, matches.candidates) == (False, 20)
    assert index.find(text, relation="containing").complete


def test_no_more_is_read_where_nothing_can_contain_more(index: Index) -> None:
    legal = " ".join(words(40, seed=20))
    many(index, [f"{legal} {' '.join(words(60, seed=100 + i))}" for i in range(150)], "legal")
    matches = index.find(legal, relation="containing")
    assert (len(matches), matches.candidates, matches.complete) == (10, 16, False)
    matches = index.find(legal, relation="containing", size=200)
    assert (len(matches), matches.complete) == (150, True)


@pytest.mark.parametrize("form", ["keyword", "fields"])
def test_keys_in_other_layouts_are_found(tmp_path: Path, form: Any) -> None:
    scheme = Scheme(passages=Passages(words=4, window=8), layout=Layout(form))
    opened = Index("news", EmbeddedEngine(tmp_path), scheme=scheme, fields=["body"])
    opened.init()
    opened.add([{"_id": "long", "body": " ".join(LONG)}, {"_id": "other", "body": OTHER}], refresh=True)
    assert found(opened.find(PART, relation="containing")) == {"long": 1.0}
    assert found(opened.find(f"{OTHER} {PART}", relation="contained")) == {"other": 1.0}


def test_no_other_part_of_the_scheme_is_needed(tmp_path: Path) -> None:
    scheme = replace(Scheme.preset("strict"), passages=Passages())
    opened = Index("news", EmbeddedEngine(tmp_path), scheme=scheme, fields=["body"])
    opened.init()
    opened.add([{"_id": "long", "body": " ".join(LONG)}], refresh=True)
    assert found(opened.find(PART, relation="containing")) == {"long": 1.0}


def test_what_one_of_many_reads_is_not_compared_with_the_others(index: Index) -> None:
    boilerplate = " ".join(words(22, seed=9))
    rest = f"{boilerplate} {' '.join(words(300, seed=8))}"
    index.add([{"_id": "rest", "body": rest}], refresh=True)
    texts = [f"{boilerplate} {PASSAGE}", f"{rest} {PART}"]
    one_by_one = [found(index.find(text, relation="contained", similarity=0.05)) for text in texts]
    together = index.find_many(texts, relation="contained", similarity=0.05)
    assert list(map(found, together)) == one_by_one
    assert ["rest" in each for each in one_by_one] == [False, True]


def test_a_backfill_gives_keys_to_documents_that_are_there(tmp_path: Path) -> None:
    opened = Index("news", EmbeddedEngine(tmp_path), scheme="passages", fields=["body"])
    opened.init()
    opened.engine.perform(Bulk("news", [Action("index", "1", {"body": PASSAGE})], refresh=True))
    with pytest.raises(IndexStateError, match="es-simhash backfill news"):
        opened.find(PART, relation="containing")
    opened.backfill()
    opened.refresh()
    assert found(opened.find(PART, relation="containing")) == {"1": 1.0}


def test_a_document_is_never_its_own_match(index: Index) -> None:
    assert QueryDocument.of_document(index.documents, {"body": PART}, "part").id == "part"
    assert "part" not in found(index.find(id="part", relation="containing"))
    assert "part" not in found(index.find(id="part", relation="contained"))


def test_what_is_out_of_scope_is_not_found(tmp_path: Path) -> None:
    opened = Index("news", EmbeddedEngine(tmp_path), scheme="passages", fields=["body"])
    opened.init(policy=Policy(scope=Scope(within=("tenant",))))
    tenants = {"acme": "acme", "other": "other", "none": None}
    opened.add([{"_id": id_, "body": " ".join(LONG), "tenant": tenant} for id_, tenant in tenants.items()])
    opened.add([{"_id": "part", "body": PART, "tenant": "acme"}], refresh=True)
    matches = opened.find(id="part", relation="containing")
    assert list(found(matches)) == ["acme"]
    assert list(found(opened.find(id="acme", relation="contained"))) == ["part"]
    assert list(found(opened.find(PART, relation="containing", scope_values={"tenant": "other"}))) == ["other"]
    [without] = opened.find_many(docs=[{"body": PART}], relation="containing")
    assert (without.missing, len(without), without.status) == (("tenant",), 0, "ok")
