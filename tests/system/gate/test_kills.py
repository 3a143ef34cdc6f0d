"""A gate that is killed again and again: of copies one is accepted, of what is alone nothing is refused."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from es_simhash import Index
from es_simhash._core.json_codec import Json
from es_simhash.plans.operations import Search
from tests.support.corpus import corpus, edited
from tests.support.gate_process import GateProcess, History, made_index, with_kills
from tests.support.nightly import is_nightly

QUICK, NIGHTLY, FAMILIES = 5, 20, 110


@pytest.fixture
def kills(request: pytest.FixtureRequest) -> int:
    """How often a process is killed."""
    return NIGHTLY if is_nightly(request.config) else QUICK


@pytest.fixture
def name(place: str) -> Iterator[str]:
    """An index with fields, and nothing in it."""
    with made_index(place) as name:
        yield name


def families(seed: int) -> list[Json]:
    """Documents whose ids begin with their family; half of the families have copies, all in random order."""
    rng, made = random.Random(seed), list[Json]()
    for family, text in enumerate(corpus(FAMILIES)):
        copies = rng.choice([1, 1, 2, 3])
        made += [{"id": f"{family}-{n}", **(edited(text, 2, seed=n) if n else text)} for n in range(copies)]
    rng.shuffle(made)
    return made


def ids_in(name: str, place: str) -> set[str]:
    with Index(name, place) as index:
        index.refresh()
        body = {"query": {"match_all": {}}, "size": 1000, "_source": False}
        return {hit["_id"] for hit in index.engine.perform(Search(name, body))["hits"]["hits"]}


def family_of(id_: str) -> str:
    return id_.partition("-")[0]


def test_after_many_kills_of_each_family_one_was_accepted_and_written(
    name: str, place: str, tmp_path: Path, kills: int
) -> None:
    history = after_kills(name, place, tmp_path, "/add", kills)
    assert ids_in(name, place) == history.accepted


@pytest.mark.parametrize("place", ["embedded"], indirect=True)
def test_what_others_are_to_write_is_remembered_over_many_kills(
    name: str, place: str, tmp_path: Path, kills: int
) -> None:
    after_kills(name, place, tmp_path, "/check", kills)
    assert ids_in(name, place) == set()


def after_kills(name: str, place: str, tmp_path: Path, path: str, kills: int) -> History:
    """Ask for documents while the process is killed; of each family, one must be accepted."""
    documents = families(seed=20)
    gate = GateProcess(name, "--url", place, "--state", str(tmp_path / "state"), cwd=tmp_path)
    history = with_kills(gate, path, documents, kills, seed=5)
    assert gate.starts == kills + 1
    assert gate.stop() == 0
    each = {document["id"] for document in documents}
    assert history.accepted | history.refused == each
    assert not history.accepted & history.refused
    assert Counter(map(family_of, history.accepted)) == Counter(set(map(family_of, each)))
    return history


def test_many_clients_at_once_are_all_answered(name: str, place: str, tmp_path: Path) -> None:
    """Sixteen send one request after the other; what cannot be taken yet is sent again."""
    documents = families(seed=7)
    gate = GateProcess(name, "--url", place, "--state", str(tmp_path / "state"), cwd=tmp_path)
    history = with_kills(gate, "/add", documents, kills=0, seed=7, clients=16)
    assert gate.stop() == 0
    assert Counter(map(family_of, history.accepted)) == Counter({family_of(each["id"]) for each in documents})
    assert ids_in(name, place) == history.accepted
