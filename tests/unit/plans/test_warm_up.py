"""What the first search has to prepare, and what later ones reuse."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from es_simhash import AsyncIndex, Index, Scheme
from es_simhash.engines.connect import ThreadedEngine
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.plans.operations import Search
from es_simhash.scheme.rarity import SAMPLE, Rarity
from tests.support.corpus import corpus
from tests.support.meddling import Meddler

STORM = "A storm hit the coast last night, and trains stood still for hours."


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> EmbeddedEngine:
    """An engine with an index of as many documents as rarity is learnt from."""
    engine = EmbeddedEngine(tmp_path_factory.mktemp("warm"))
    index = Index("news", engine, scheme=Scheme(), fields=["body"])
    index.init()
    index.add(({"_id": str(i), **document} for i, document in enumerate(corpus(SAMPLE))), refresh=True)
    return engine


def test_after_a_warm_up_the_first_search_is_one_request(filled: EmbeddedEngine, monkeypatch: Any) -> None:
    engine = Meddler(filled)
    text = corpus(SAMPLE)[0]["body"]
    index = Index("news", engine)
    index.warm_up()
    engine.seen.clear()
    prepared: list[object] = []
    monkeypatch.setattr(Rarity, "columns", property(prepared.append))
    assert index.find(text)[0].same_text
    assert ([type(each) for each in engine.seen], prepared) == ([Search], [])


def test_an_asynchronous_index_warms_up_too(filled: EmbeddedEngine) -> None:
    engine = Meddler(filled)

    async def found() -> list[type]:
        index = AsyncIndex("news", ThreadedEngine(engine))
        await index.warm_up()
        engine.seen.clear()
        await index.find(STORM)
        return [type(each) for each in engine.seen]

    assert asyncio.run(found()) == [Search]
