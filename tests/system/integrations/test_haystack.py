"""The component for Haystack, in its own pipelines."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.frameworks import KEPT, TEXTS, needs, section
from tests.support.page_running import run_page

needs("haystack")

from haystack import Document, Pipeline
from haystack.components.writers import DocumentWriter
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy

from es_simhash import SchemeError
from es_simhash.integrations.haystack import NearDuplicateRemover


def documents() -> list[Document]:
    return [
        Document(id=f"id-{n}", content=text or None, meta={"n": n}, score=1 - n / 10) for n, text in enumerate(TEXTS)
    ]


def run(given: list[Document]) -> list[Document]:
    return NearDuplicateRemover().run(given)["documents"]


def run_async(given: list[Document]) -> list[Document]:
    return asyncio.run(NearDuplicateRemover().run_async(given))["documents"]


@pytest.mark.parametrize("remove", [run, run_async])
def test_the_first_of_near_duplicates_is_kept_and_names_the_others(
    remove: Callable[[list[Document]], list[Document]],
) -> None:
    given = documents()
    kept = remove(given)
    assert [each.id for each in kept] == [f"id-{n}" for n in KEPT]
    assert [(each.content, each.score) for each in kept] == [(TEXTS[n] or None, 1 - n / 10) for n in KEPT]
    assert kept[0].meta == {"n": 0, "near_duplicates": 1, "near_duplicate_ids": ["id-2"]}
    assert kept[1].meta == {"n": 1}
    assert kept[2].meta == {"n": 3, "near_duplicates": 2, "near_duplicate_ids": ["id-4", "id-8"]}
    assert given == documents()


def test_options_survive_their_serialisation_and_wrong_ones_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAYSTACK_DESERIALIZATION_ALLOWLIST", "es_simhash.*")
    pipeline = Pipeline()
    pipeline.add_component("remover", NearDuplicateRemover("short", 0.7))
    again = Pipeline.loads(pipeline.dumps())
    for remover in (again.get_component("remover"), pickle.loads(pickle.dumps(NearDuplicateRemover("short", 0.7)))):
        assert (remover.scheme, remover.similarity) == ("short", 0.7)
    with pytest.raises(SchemeError, match="Unknown preset 'shrot'"):
        NearDuplicateRemover("shrot")


def test_it_stands_before_a_writer() -> None:
    store = InMemoryDocumentStore()
    pipeline = Pipeline()
    pipeline.add_component("remover", NearDuplicateRemover())
    pipeline.add_component("writer", DocumentWriter(store, policy=DuplicatePolicy.FAIL))
    pipeline.connect("remover.documents", "writer.documents")
    assert pipeline.run({"remover": {"documents": documents()}}) == {"writer": {"documents_written": len(KEPT)}}
    assert {each.id for each in store.filter_documents()} == {f"id-{n}" for n in KEPT}


def test_the_page_does_what_it_says(tmp_path: Path) -> None:
    run_page(section("Haystack"), tmp_path)
