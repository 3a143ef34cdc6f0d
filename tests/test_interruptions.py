"""Whatever a command is doing when it is interrupted: it ends within a second, says so, and leaves nothing behind."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from es_simhash.documents import Documents
from es_simhash.engines.base import Engine
from es_simhash.engines.connect import connect
from es_simhash.errors import MissingError
from es_simhash.fields import Json
from es_simhash.index import Index
from es_simhash.operations import Action, Bulk, Count, CreateIndex, DeleteIndex, Refresh
from es_simhash.scheme import Scheme
from es_simhash.testing.corpus import corpus
from tests.commands import run_alone
from tests.interruptions import interrupted_at
from tests.nodes import Node
from tests.whole_indices import ENGINES

COUNT = 230
FIELDS = ("title", "body")
DOCUMENTS = corpus(COUNT)
MAPPINGS: Json = {"properties": {field: {"type": "text"} for field in FIELDS}}
# Up to which request commands are interrupted; most have as many.
MOST = 16
MOMENTS, SOAK_MOMENTS = 1, 20


class Verb(NamedTuple):
    """A command, on an index whose documents have fingerprints or not; what changes something is run again."""

    line: str
    is_filled: bool = True
    is_done: str | None = None


EACH_FIELD = " ".join(f"--field {field}" for field in FIELDS)
VERBS = {
    "backfill": Verb(f"backfill INDEX {EACH_FIELD}", False, "filled"),
    "backfill in slices": Verb(f"backfill INDEX {EACH_FIELD} --slices 3", False, "filled"),
    "backfill of stale": Verb("backfill INDEX --refresh-stale", True, "filled"),
    "reindex": Verb(f"reindex INDEX COPY {EACH_FIELD}", False, "copied"),
    "remove": Verb("remove INDEX --yes", True, "empty"),
    "load": Verb(f"load INDEX news.jsonl {EACH_FIELD}", False, "filled"),
    "group --write": Verb("group INDEX --write --verify exact", True, "filled"),
    "group": Verb("group INDEX --verify exact --output groups.jsonl --state state"),
    "find": Verb("find INDEX --id 7"),
    "check": Verb("check INDEX news.jsonl"),
    "evaluate": Verb("evaluate --index INDEX --labels labels.jsonl --html page.html"),
    "tune": Verb("tune --index INDEX --similarity 0.8 --out scheme.json"),
    "sample": Verb("sample --index INDEX"),
    "demo": Verb("demo --size 100"),
}
DONE = {
    "filled": {"index": COUNT},
    "copied": {"index": 0, "copy": COUNT},
    "empty": {"index": 0},
}
INPUTS = {"news.jsonl", "labels.jsonl"}
# What a command may have written by then, whole or line by line; an index of the embedded engine, too.
OUTPUTS = {"groups.jsonl", "page.html", "scheme.json", "rejected.jsonl", "state", "engine"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "moment" in metafunc.fixturenames:
        metafunc.parametrize("moment", range(SOAK_MOMENTS if metafunc.config.getoption("--soak") else MOMENTS))


@pytest.fixture(scope="module")
def filled() -> list[Json]:
    """The documents with their fingerprints."""
    return list(Documents(Scheme.preset("default"), FIELDS).add_fields_to_all(DOCUMENTS))


@pytest.fixture(params=ENGINES)
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Path | Node:
    """A directory of the embedded engine, or a real node."""
    if request.param == "embedded":
        return tmp_path / "engine"
    node: Node = request.getfixturevalue(f"{request.param}_node")
    return node


def kind_of(where: Path | Node) -> str:
    return "embedded" if isinstance(where, Path) else where.release.engine


@contextmanager
def connected(where: Path | Node) -> Iterator[Engine]:
    """An engine that is closed before a command works there: one process at a time writes to an embedded index."""
    engine = connect(where if isinstance(where, Path) else where.url)
    try:
        yield engine
    finally:
        engine.close()


@pytest.fixture
def name(where: Path | Node) -> Iterator[str]:
    """The name of an index, which is removed in the end with its copy."""
    name = f"interrupted-{uuid.uuid4().hex[:10]}"
    yield name
    with connected(where) as engine:
        for each in (name, f"{name}-copy"):
            with suppress(MissingError):
                engine.perform(DeleteIndex(each))


def fill(where: Path | Node, name: str, sources: Iterable[Json], is_filled: bool) -> None:
    """Make an index of documents, as a team has it, or with the fields that they have."""
    with connected(where) as engine:
        settings = {"number_of_shards": 1, "number_of_replicas": 0}
        engine.perform(CreateIndex(name, {"settings": settings, "mappings": MAPPINGS}))
        if is_filled:
            Index(name, engine, fields=FIELDS).init()
        actions = [Action("index", str(i), source) for i, source in enumerate(sources)]
        assert not any(each.error for each in engine.perform(Bulk(name, actions, refresh=True)))


def counts(where: Path | Node, name: str) -> dict[str, int]:
    """How many documents an index, and its copy, have, and how many of them with a fingerprint."""
    with connected(where) as engine:
        found = {}
        for each, index in (("index", name), ("copy", f"{name}-copy")):
            with suppress(MissingError):
                engine.perform(Refresh(index))
                found[each] = engine.perform(Count(index, {"exists": {"field": "dedup.scheme"}}))
        return found


@pytest.mark.parametrize("command", VERBS)
def test_an_interrupted_command_ends_within_a_second_and_leaves_nothing(
    command: str, where: Path | Node, name: str, moment: int, filled: list[Json], tmp_path: Path
) -> None:
    verb, chance = VERBS[command], Random(f"{command} {moment} {kind_of(where)}")
    fill(where, name, filled if verb.is_filled else DOCUMENTS, verb.is_filled)
    write_inputs(tmp_path)
    arguments = [{"INDEX": name, "COPY": f"{name}-copy"}.get(word, word) for word in verb.line.split()]
    request, is_silent = chance.randint(1, MOST), chance.random() < 0.7
    with interrupted_at(where, request, is_silent, tmp_path) as (url, interrupt):
        interrupt([*arguments, "--url", url]).check()
    assert {each.name for each in tmp_path.iterdir()} <= {*INPUTS, *OUTPUTS, "tmp"}
    assert list((tmp_path / "tmp").iterdir()) == []
    if verb.is_done:
        there = str(where) if isinstance(where, Path) else where.url
        run_alone(*arguments, "--url", there, cwd=tmp_path)
        assert counts(where, name) == DONE[verb.is_done]


def write_inputs(folder: Path) -> None:
    """The files that commands read."""
    lines = [json.dumps({"id": str(i), **each}) + "\n" for i, each in enumerate(DOCUMENTS)]
    (folder / "news.jsonl").write_text("".join(lines), encoding="utf-8")
    labels = [json.dumps({"id": str(i), "cluster": str(i // 2)}) + "\n" for i in range(COUNT)]
    (folder / "labels.jsonl").write_text("".join(labels), encoding="utf-8")
