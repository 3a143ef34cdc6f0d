"""The parts for LangChain, in its own chains and retrievers.

langchain-tests has suites for models, stores, retrievers, tools and others, none for transformers or compressors.
"""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.support.frameworks import KEPT, TEXTS, needs, section
from tests.support.page_running import run_page

needs("langchain")

from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_classic.retrievers.document_compressors import DocumentCompressorPipeline
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from es_simhash.integrations.langchain import NearDuplicateCompressor, NearDuplicateTransformer


def documents() -> list[Document]:
    return [
        Document(page_content=text, metadata={"n": n}, id=f"id-{n}" if n % 2 else None) for n, text in enumerate(TEXTS)
    ]


class Found(BaseRetriever):
    """A retriever that finds all documents."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return documents()


def by_transformer(given: Sequence[Document], **options: Any) -> Sequence[Document]:
    return NearDuplicateTransformer(**options).transform_documents(given)


def by_async_transformer(given: Sequence[Document], **options: Any) -> Sequence[Document]:
    return asyncio.run(NearDuplicateTransformer(**options).atransform_documents(given))


def by_compressor(given: Sequence[Document], **options: Any) -> Sequence[Document]:
    return NearDuplicateCompressor(**options).compress_documents(given, "storm")


def by_async_compressor(given: Sequence[Document], **options: Any) -> Sequence[Document]:
    return asyncio.run(NearDuplicateCompressor(**options).acompress_documents(given, "storm"))


each_way = pytest.mark.parametrize(
    "remove", [by_transformer, by_async_transformer, by_compressor, by_async_compressor], ids=lambda way: way.__name__
)


@each_way
def test_the_first_of_near_duplicates_is_kept_and_names_the_others(remove: Callable[..., Sequence[Document]]) -> None:
    kept = remove(documents())
    assert [each.metadata["n"] for each in kept] == list(KEPT)
    assert [each.page_content for each in kept] == [TEXTS[n] for n in KEPT]
    assert kept[0].metadata == {"n": 0, "near_duplicates": 1, "near_duplicate_ids": ["2"]}
    assert kept[1].metadata == {"n": 1}
    assert kept[2].metadata == {"n": 3, "near_duplicates": 2, "near_duplicate_ids": ["4", "8"]}
    assert kept[2].id == "id-3"


@each_way
def test_the_documents_of_the_caller_stay_as_they_are(remove: Callable[..., Sequence[Document]]) -> None:
    given = documents()
    remove(given)
    assert given == documents()


def test_the_similarity_can_be_chosen() -> None:
    pair = [Document(page_content=TEXTS[0]), Document(page_content=TEXTS[2])]
    assert [len(by_compressor(pair, similarity=similarity)) for similarity in ("near", 0.5, 1.0)] == [1, 1, 2]


@pytest.mark.parametrize("part", [NearDuplicateTransformer, NearDuplicateCompressor])
def test_options_survive_their_serialisation_and_wrong_ones_are_refused(part: type[Any]) -> None:
    made = part(scheme="short", similarity="copies")
    assert pickle.loads(pickle.dumps(made)) == made
    assert part.model_validate_json(made.model_dump_json()) == made
    assert made.model_dump() == {"scheme": "short", "similarity": "copies", "numbers": None}
    with pytest.raises(ValueError, match="Unknown preset 'shrot'"):
        part(scheme="shrot")


def test_both_serve_in_a_retriever_of_langchain() -> None:
    for compressor in (
        NearDuplicateCompressor(),
        DocumentCompressorPipeline(transformers=[NearDuplicateTransformer(), NearDuplicateCompressor()]),
    ):
        retriever = ContextualCompressionRetriever(base_retriever=Found(), base_compressor=compressor)
        assert [each.metadata["n"] for each in retriever.invoke("storm")] == list(KEPT)
        assert [each.metadata["n"] for each in asyncio.run(retriever.ainvoke("storm"))] == list(KEPT)


def test_the_page_does_what_it_says(tmp_path: Any) -> None:
    run_page(section("LangChain"), tmp_path)
