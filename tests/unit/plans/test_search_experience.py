"""Texts of candidates come with the first reply if that costs less than another request."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from es_simhash import Documents, Index, Scheme
from es_simhash._core.json_codec import Json
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.plans.operations import GetDocuments, MultiSearch, Operation, Search
from es_simhash.plans.reply_size import DocumentPart, SearchExperience
from es_simhash.scheme.rerank import Matches
from tests.support.corpus import corpus
from tests.support.meddling import Meddler

DOCUMENTS = Documents(Scheme(), ["body"])
OURS = ["dedup.simhash", "dedup.bands", "dedup.content", "dedup.scheme", "dedup.status"]


def engine_with(tmp_path: Path, documents: list[Json]) -> Meddler:
    """An engine that records operations, with an index of these documents."""
    engine = Meddler(EmbeddedEngine(tmp_path))
    index = Index("texts", engine, scheme=Scheme(), fields=["body"])
    index.init()
    index.add(({"_id": str(i), **document} for i, document in enumerate(documents)), refresh=True)
    engine.seen.clear()
    return engine


def asked(engine: Meddler) -> list[Any]:
    """The requests for documents since the last look: their ids, or parts of candidates."""
    found: list[Any] = []
    for each in engine.seen:
        if isinstance(each, Search | MultiSearch):
            bodies = each.bodies if isinstance(each, MultiSearch) else [each.body]
            found += [body["_source"] for body in bodies]
        elif isinstance(each, GetDocuments):
            found.append(each.ids)
    engine.seen.clear()
    return found


def of(document: float | None, text: float | None, candidates: float = 8.0) -> SearchExperience:
    return SearchExperience(candidates, document, text)


def seen(experience: SearchExperience, count: int = 100) -> SearchExperience:
    """The experience with that number of documents, all alike."""
    experience._whole = count
    return experience


@pytest.mark.parametrize(
    ("experience", "count", "with_texts", "expected"),
    [
        (of(None, None), 8, True, DocumentPart.FINGERPRINTS),
        (of(1_500, 1_000), 8, True, DocumentPart.WHOLE),
        (of(1_500, 1_000), 8, False, DocumentPart.WHOLE),
        (of(1_500, 1_000), 10_000, True, DocumentPart.FINGERPRINTS),
        (of(90_000, 1_000), 8, True, DocumentPart.TEXTS),
        (of(90_000, 1_000), 8, False, DocumentPart.FINGERPRINTS),
        (of(42_000, 40_000), 2, True, DocumentPart.WHOLE),
        (of(42_000, 40_000), 8, True, DocumentPart.FINGERPRINTS),
        (of(42_000, 40_000), 2, False, DocumentPart.FINGERPRINTS),
    ],
)
def test_as_much_is_asked_for_as_costs_less_than_another_request(
    experience: SearchExperience, count: float, with_texts: bool, expected: DocumentPart
) -> None:
    assert seen(experience).part(count, with_texts=with_texts) is expected


def test_a_reply_is_bounded_in_bytes() -> None:
    assert seen(of(1_500, 1_000)).fitting(DocumentPart.WHOLE, 100) == 100
    assert seen(of(42_000, 40_000)).fitting(DocumentPart.WHOLE, 100) == (1 << 20) // 42_000
    assert seen(of(42_000, 40_000)).fitting(DocumentPart.TEXTS, 100) == (1 << 20) // 40_000
    assert seen(of(42_000, 40_000)).fitting(DocumentPart.FINGERPRINTS, 100) == 100
    assert seen(of(9e9, 9e9)).fitting(DocumentPart.WHOLE, 100) == 1


def test_a_few_documents_are_asked_for_until_as_many_as_are_wanted_have_shown_their_length() -> None:
    for part, own in ((DocumentPart.WHOLE, 1_000), (DocumentPart.TEXTS, 0)):
        assert of(1_500, 1_000).fitting(part, 100, own) == 16
        assert of(1_500, 1_000).fitting(part, 3, own) == 3
    assert of(1_500, 1_000).fitting(DocumentPart.TEXTS, 100, own=1_000) == 100
    assert of(1_500, 1_000).part(8, with_texts=True) is DocumentPart.TEXTS
    assert of(1_500, 1_000, 7.5).part(8, with_texts=True) is DocumentPart.WHOLE
    assert of(1_500, 1_000).fitting(DocumentPart.FINGERPRINTS, 100) == 100


def test_near_duplicates_are_taken_to_be_as_long_as_the_text() -> None:
    experience = seen(of(1_500, 1_000))
    assert experience.part(8, with_texts=True, own=1_000) is DocumentPart.WHOLE
    assert experience.part(8, with_texts=True, own=400_000) is DocumentPart.FINGERPRINTS
    assert experience.part(8, with_texts=False, own=400_000) is DocumentPart.FINGERPRINTS
    assert experience.part(0.5, with_texts=True, own=400_000) is DocumentPart.WHOLE
    assert experience.fitting(DocumentPart.WHOLE, 100, own=400_000) == 2


def test_lengths_follow_the_latest_replies() -> None:
    experience = of(1_000, 1_000)
    hit: Json = {"_source": {"body": "x" * 9_000, "other": [1, {"name": "y" * 1_000}]}}
    for _ in range(90):
        experience.note(DOCUMENTS, [hit] * 3, DocumentPart.TEXTS)
    assert (round(experience.candidates), round(experience.text or 0), experience.document) == (3, 9_002, 1_000)
    for _ in range(60):
        experience.note(DOCUMENTS, [hit], DocumentPart.WHOLE)
    assert 10_000 < (experience.document or 0) < 10_100
    experience.note(DOCUMENTS, [], DocumentPart.WHOLE)


def test_one_request_finds_and_verifies(tmp_path: Path) -> None:
    texts = corpus()
    engine = engine_with(tmp_path, texts)
    index = Index("texts", engine)
    assert index.find(texts[0]["body"])
    asked(engine)
    assert index.find(texts[1]["body"])[0].is_exact
    assert asked(engine) == [True]
    assert all(list(index.find_many([each["body"] for each in texts[:3]])))
    assert asked(engine) == [True] * 3
    assert index.find(texts[1]["body"], source=["title"])[0].source == {"title": texts[1]["title"]}
    assert not next(iter(index.check([texts[2]]))).is_new
    assert asked(engine) == [True] * 2


def test_a_second_request_reads_long_texts(tmp_path: Path) -> None:
    letters = [random.Random(seed).choices("abcdefghijklmnopqrstuvwxyz ", k=40_000) for seed in range(3)]
    long = [{"body": "".join(each)} for each in letters]
    engine = engine_with(tmp_path, long)
    index = Index("texts", engine)
    assert index.find(long[0]["body"])[0].is_exact
    asked(engine)
    assert index.find(long[1]["body"])[0].is_exact
    assert asked(engine) == [OURS, ["1"]]


def test_texts_come_without_the_rest_of_long_documents(tmp_path: Path) -> None:
    texts = [{**document, "scan": "A" * 60_000} for document in corpus()]
    engine = engine_with(tmp_path, texts)
    index = Index("texts", engine)
    assert index.find(texts[0]["body"])
    asked(engine)
    assert index.find(texts[1]["body"])[0].is_exact
    assert asked(engine) == [[*OURS, "body"]]
    assert index.find(texts[1]["body"], estimate=True)
    assert asked(engine) == [OURS]


def test_without_a_learnt_table_only_candidates_are_read(tmp_path: Path) -> None:
    texts = corpus(50)
    engine = engine_with(tmp_path, texts)
    index = Index("texts", engine)
    index.find(texts[7]["body"])
    for number in (8, 9):
        index.add([{"_id": f"new {number}", "body": f"another text than those before, {number}"}], refresh=True)
        engine.seen.clear()
        [match] = index.find(texts[number]["body"])
        assert match.same_text
        assert [type(each) for each in engine.seen] == [Search]


def test_what_the_caller_asks_for_of_long_documents_is_read_of_matches_alone(tmp_path: Path) -> None:
    texts = [{**document, "scan": f"{i}" * 60_000} for i, document in enumerate(corpus())]
    engine = engine_with(tmp_path, texts)
    index = Index("texts", engine)
    [match] = index.find(texts[0]["body"], source=True)
    assert match.source is not None
    assert {name: match.source[name] for name in texts[0]} == texts[0]
    asked(engine)
    [match] = index.find(texts[1]["body"], source=["scan"])
    assert match.source == {"scan": texts[1]["scan"]}
    assert asked(engine) == [[*OURS, "body"], ["scan"]]
    [checked] = index.check([texts[2]], source=["title"])
    assert [match.source for match in checked.in_index] == [{"title": texts[2]["title"]}]
    [match] = index.find(texts[1]["body"], source=["dedup.content"])
    assert match.source is not None
    assert set(match.source["dedup"]) == {"content"}


def test_what_is_asked_for_changes_no_match(tmp_path: Path) -> None:
    texts = corpus()
    engine = engine_with(tmp_path, texts)

    def found(experience: SearchExperience) -> list[Matches]:
        index = Index("texts", engine)
        index._plans._experience = experience
        return list(index.find_many([each["body"] for each in texts]))

    whole, apart, mixed = found(of(1_000, 1_000)), found(of(9e9, 9e9)), found(of(9e9, 1_000))
    assert whole == apart == mixed
    assert any(whole)


@pytest.mark.parametrize(("documents", "shared"), [(100_000, 2), (10_000_000, 3)])
def test_as_many_keys_must_be_shared_as_the_first_look_at_the_index_says(
    tmp_path: Path, documents: int, shared: int
) -> None:
    engine = Meddler(EmbeddedEngine(tmp_path))
    index = Index("news", engine, fields=["body"])
    index.init()
    index.add([{"_id": str(place), **text} for place, text in enumerate(corpus(5))], refresh=True)

    def as_large(operation: Operation[Any], result: Any) -> Any:
        if isinstance(operation, Search) and operation.body.get("track_total_hits"):
            result["hits"]["total"]["value"] = documents
        return result

    engine.after = as_large
    assert [match.id for match in index.find(corpus(5)[2]["body"])] == ["2"]
    assert f"'minimum_should_match': {shared}" in str([each for each in engine.seen if isinstance(each, Search)][-1])
