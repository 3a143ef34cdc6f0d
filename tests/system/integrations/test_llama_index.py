"""The parts for LlamaIndex, in its own pipelines and retrievers."""

from __future__ import annotations

import asyncio
import pickle
from pathlib import Path
from typing import Any

import pytest

from tests.support.frameworks import KEPT, TEXTS, needs, section
from tests.support.page_running import run_page

needs("llama-index")

from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import BaseNode, ImageNode, MetadataMode, NodeWithScore, TextNode
from llama_index.core.vector_stores.utils import node_to_metadata_dict

from es_simhash.integrations.llama_index import NearDuplicatePostprocessor, NearDuplicateTransform


def nodes() -> list[BaseNode]:
    return [TextNode(text=text, id_=f"node-{n}", metadata={"n": n}) for n, text in enumerate(TEXTS)]


def scored() -> list[NodeWithScore]:
    return [NodeWithScore(node=node, score=1 - place / 10) for place, node in enumerate(nodes())]


def check(kept: list[BaseNode]) -> None:
    assert [each.node_id for each in kept] == [f"node-{n}" for n in KEPT]
    assert [each.get_content(metadata_mode=MetadataMode.NONE) for each in kept] == [TEXTS[n] for n in KEPT]
    assert kept[0].metadata == {"n": 0, "near_duplicates": 1, "near_duplicate_ids": "node-2"}
    assert kept[1].metadata == {"n": 1}
    assert kept[2].metadata == {"n": 3, "near_duplicates": 2, "near_duplicate_ids": "node-4\nnode-8"}


def test_the_first_of_near_duplicates_is_kept_and_names_the_others() -> None:
    check(list(NearDuplicateTransform()(nodes())))
    check(list(asyncio.run(NearDuplicateTransform().acall(nodes()))))


def test_the_best_ranked_of_near_duplicates_is_kept_with_its_score() -> None:
    for kept in (
        NearDuplicatePostprocessor().postprocess_nodes(scored(), query_str="storm"),
        asyncio.run(NearDuplicatePostprocessor().apostprocess_nodes(scored(), query_str="storm")),
    ):
        check([each.node for each in kept])
        assert [each.score for each in kept] == [1 - n / 10 for n in KEPT]


def test_the_nodes_of_the_caller_stay_as_they_are() -> None:
    given, found = nodes(), scored()
    NearDuplicateTransform()(given)
    NearDuplicatePostprocessor().postprocess_nodes(found)
    assert given == nodes()
    assert found == scored()


def test_what_a_node_stands_for_is_neither_embedded_nor_shown_to_a_model_and_fits_flat_stores() -> None:
    first = NearDuplicateTransform()(nodes())[0]
    for mode in (MetadataMode.EMBED, MetadataMode.LLM):
        assert "near_duplicate" not in first.get_content(metadata_mode=mode)
        assert "n: 0" in first.get_content(metadata_mode=mode)
    assert node_to_metadata_dict(first, flat_metadata=True)["near_duplicates"] == 1


def test_what_a_node_stood_for_when_it_was_indexed_counts_when_it_is_retrieved() -> None:
    indexed = NearDuplicateTransform()(nodes()[:4])
    assert indexed[0].metadata["near_duplicate_ids"] == "node-2"
    again = NearDuplicatePostprocessor().postprocess_nodes(
        [NodeWithScore(node=TextNode(text=TEXTS[0], id_="other")), *(NodeWithScore(node=node) for node in indexed)]
    )
    assert again[0].node.metadata == {"near_duplicates": 2, "near_duplicate_ids": "node-0\nnode-2"}


def test_nodes_without_text_are_kept() -> None:
    images: list[BaseNode] = [ImageNode(image="aGVsbG8="), ImageNode(image="aGVsbG8=")]
    assert list(NearDuplicateTransform()(images)) == images


@pytest.mark.parametrize("part", [NearDuplicateTransform, NearDuplicatePostprocessor])
def test_options_survive_their_serialisation_and_wrong_ones_are_refused(part: type[Any]) -> None:
    made = part(scheme="short", similarity=0.7)
    assert made.to_dict() == {"scheme": "short", "similarity": 0.7, "numbers": None, "class_name": part.__name__}
    for again in (pickle.loads(pickle.dumps(made)), part.from_dict(made.to_dict()), part.from_json(made.to_json())):
        assert again.to_dict() == made.to_dict()
    with pytest.raises(ValueError, match="Unknown preset 'shrot'"):
        part(scheme="shrot")


def test_it_is_a_step_of_an_ingestion_pipeline_and_its_cache_knows_the_options() -> None:
    pipeline = IngestionPipeline(transformations=[NearDuplicateTransform()])
    check(list(pipeline.run(nodes=nodes())))
    check(list(pipeline.run(nodes=nodes())))
    check(list(asyncio.run(pipeline.arun(nodes=nodes()))))
    strictest = IngestionPipeline(transformations=[NearDuplicateTransform(similarity=1.0)], cache=pipeline.cache)
    assert len(strictest.run(nodes=nodes())) == len(TEXTS) - 1  # without that of an equal text


def test_the_page_does_what_it_says(tmp_path: Path) -> None:
    run_page(section("LlamaIndex"), tmp_path)
