"""Engines of every kind, and an index as a team has it before it knows of fingerprints, for tests of whole indices."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from es_simhash._core.batches import Stop
from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine
from es_simhash.engines.connect import connect
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import IndexStateError, MissingError
from es_simhash.index import Index
from es_simhash.plans.operations import Action, Bulk, CreateIndex, DeleteIndex, GetDocuments
from tests.support.corpus import corpus
from tests.support.meddling import Meddler
from tools.nodes import Node

COUNT = 230
DOCUMENTS: dict[str, Json] = {
    f"id {i}/é": {
        **corpus(30)[i % 30],
        "number": i,
        "inner": {"value": [str(i), "x"]},
        "unmapped": {"deep": [None, 1.5]},
    }
    for i in range(COUNT)
}
MAPPINGS: Json = {
    "_meta": {"owner": "somebody"},
    "properties": {
        "title": {"type": "text", "fields": {"raw": {"type": "keyword"}}},
        "body": {"type": "text"},
        "number": {"type": "long"},
        "inner": {"properties": {"value": {"type": "keyword"}}},
        "unmapped": {"type": "object", "enabled": False},
    },
}
SETTINGS = {"number_of_shards": 2, "number_of_replicas": 0, "refresh_interval": "-1"}
FIELDS = ("title", "body")

ENGINES = ("embedded", "elasticsearch", "opensearch")
servers = pytest.mark.parametrize("kind", ENGINES[1:], indirect=True)


@pytest.fixture(params=ENGINES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where commands are to work, as a target: a directory, or the URL of a real node."""
    if request.param == "embedded":
        return str(tmp_path / "engine")
    node: Node = request.getfixturevalue(f"{request.param}_node")
    return node.url


@contextmanager
def engine_of_kind(kind: str, request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Yield the embedded engine in a directory of its own, or one over a client of a real node; closed in the end."""
    if kind == "embedded":
        engine: Engine = EmbeddedEngine(request.getfixturevalue("tmp_path_factory").mktemp("engine"))
    else:
        node: Node = request.getfixturevalue(f"{kind}_node")
        engine = connect(node.url)
    yield engine
    engine.close()


@contextmanager
def new_names(engine: Engine) -> Iterator[Callable[[], str]]:
    """Yield a maker of names for indices, which are removed in the end."""
    made: list[str] = []

    def name() -> str:
        made.append(f"whole-{uuid.uuid4().hex[:10]}")
        return made[-1]

    yield name
    for each in made:
        try:
            engine.perform(DeleteIndex(each))
        except (MissingError, IndexStateError):  # some are names of aliases
            continue


@pytest.fixture(params=ENGINES, scope="module")
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def engine(kind: str, request: pytest.FixtureRequest) -> Iterator[Engine]:
    with engine_of_kind(kind, request) as engine:
        yield engine


@pytest.fixture
def names(engine: Engine) -> Iterator[Callable[[], str]]:
    with new_names(engine) as name:
        yield name


@pytest.fixture
def meddler(engine: Engine) -> Meddler:
    return Meddler(engine)


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited, which takes no time here."""
    seconds: list[float] = []

    def sleep(stop: Stop, wait: float) -> None:
        stop.check()
        seconds.append(wait)

    monkeypatch.setattr(Stop, "sleep", sleep)
    return seconds


def create(engine: Engine, name: str, **more: Any) -> None:
    engine.perform(CreateIndex(name, {"settings": {**SETTINGS, **more}, "mappings": MAPPINGS}))


def fill(engine: Engine, name: str, documents: dict[str, Json], **metadata: str) -> None:
    actions = [Action("index", id_, each, metadata=metadata or None) for id_, each in documents.items()]
    results = engine.perform(Bulk(name, actions, refresh=True))
    assert [result.error for result in results if result.error] == []


def fingerprinted(engine: Engine, meddler: Meddler, name: str, documents: dict[str, Json]) -> Index:
    """Make an index of documents with fingerprints; return it over the meddler."""
    create(engine, name)
    Index(name, engine, fields=FIELDS).init()
    index = Index(name, meddler)
    fill(engine, name, {id_: index.documents.add_fields(each) for id_, each in documents.items()})
    return index


def delete(engine: Engine, name: str, *ids: str) -> None:
    engine.perform(Bulk(name, [Action("delete", id_, None) for id_ in ids], refresh=True))


def contents(engine: Engine, name: str, ids: list[str], routing: str | None = None) -> dict[str, Json]:
    found = engine.perform(GetDocuments(name, ids, routings=[routing] * len(ids)))
    return {each["_id"]: each["_source"] for each in found if each["found"]}
