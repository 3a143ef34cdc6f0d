"""Whatever a command is doing when it is interrupted: it ends within a second, says so, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from threading import Event
from threading import enumerate as enumerate_threads
from time import monotonic
from typing import Any, NamedTuple, TypeVar

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import Engine
from es_simhash.engines.connect import ThreadedEngine, connect
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import MissingError
from es_simhash.groups.pairs.stored_rows import Spools
from es_simhash.index import AsyncIndex, Index
from es_simhash.plans.operations import Action, Bulk, CloseReader, Count, CreateIndex, DeleteIndex, Operation, Refresh
from es_simhash.scheme.scheme import Scheme
from tests.support.commands import run_alone
from tests.support.corpus import corpus
from tests.support.http_server import Moment, Then, proxy
from tests.support.interruptions import interrupted_at, interrupting_itself
from tests.support.nightly import rest_at_night
from tests.support.whole_indices import ENGINES
from tools.nodes import Node

Result = TypeVar("Result")

COUNT = 230
FIELDS = ("title", "body")
DOCUMENTS = corpus(COUNT)
MAPPINGS: Json = {"properties": {field: {"type": "text"} for field in FIELDS}}
# Up to which request commands are interrupted; most have as many.
MOST = 16
MOMENTS, SOAK_MOMENTS = 1, 20
# Seconds within which what is cancelled ends on any machine; the client of a server waits for ten or more.
AT_ONCE = 5.0
# A server that is silent is the harder test.
SILENCES: tuple[Then, ...] = ("silence", "silence", "answers")


class Verb(NamedTuple):
    """A command, on an index whose documents have fingerprints or not; what changes something is run again."""

    line: str
    is_filled: bool = True
    is_done: str | None = None

    def on(self, index: str) -> list[str]:
        """The arguments for an index of that name."""
        return [{"INDEX": index, "COPY": f"{index}-copy"}.get(word, word) for word in self.line.split()]


EACH_FIELD = " ".join(f"--field {field}" for field in FIELDS)
VERBS = {
    "backfill": Verb(f"backfill INDEX {EACH_FIELD}", False, "filled"),
    "backfill in slices": Verb(f"backfill INDEX {EACH_FIELD} --workers 3", False, "filled"),
    "backfill of stale": Verb("backfill INDEX --refresh-stale", True, "filled"),
    "sync": Verb(f"sync INDEX {EACH_FIELD}", False, "filled"),
    "reindex": Verb(f"reindex INDEX COPY {EACH_FIELD}", False, "copied"),
    "remove": Verb("remove INDEX --yes", True, "empty"),
    "load": Verb(f"load INDEX news.jsonl {EACH_FIELD}", False, "filled"),
    "group --write": Verb("group INDEX --write", True, "filled"),
    "group": Verb("group INDEX --output groups.jsonl --state state"),
    "erase": Verb("erase INDEX --id 7 --yes --report report.json"),
    "find": Verb("find INDEX --id 7"),
    "check": Verb("check INDEX news.jsonl"),
    "evaluate": Verb("evaluate INDEX --labels labels.jsonl --report page.html"),
    "tune": Verb("tune INDEX --similarity 0.8 --output scheme.json"),
    "tune --histogram": Verb("tune --histogram INDEX"),
}
# `make test` has time for these; a server refuses fewer.
QUICK = ("backfill in slices", "reindex", "load", "group --write", "find")
QUICK_REFUSED = ("backfill", "load", "check")
DONE = {
    "filled": {"index": COUNT},
    "copied": {"index": 0, "copy": COUNT},
    "empty": {"index": 0},
}
INPUTS = {"news.jsonl", "labels.jsonl"}
# What a command may have written by then, whole or line by line; an index of the embedded engine, too.
OUTPUTS = {"groups.jsonl", "page.html", "report.json", "scheme.json", "rejected.jsonl", "state", "engine"}


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


@pytest.mark.parametrize("command", rest_at_night(VERBS, QUICK))
def test_an_interrupted_command_ends_within_a_second_and_leaves_nothing(
    command: str, where: Path | Node, name: str, moment: int, filled: list[Json], tmp_path: Path
) -> None:
    verb, chance = VERBS[command], Random(f"{command} {moment} {kind_of(where)}")
    fill(where, name, filled if verb.is_filled else DOCUMENTS, verb.is_filled)
    write_inputs(tmp_path)
    arguments = verb.on(name)
    request, then = chance.randint(1, MOST), chance.choice(SILENCES)
    with interrupted_at(where, request, then, tmp_path) as (url, interrupt):
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


@pytest.mark.parametrize("where", ENGINES[1:], indirect=True)
@pytest.mark.parametrize("command", rest_at_night(VERBS, QUICK_REFUSED))
def test_a_command_that_is_refused_everything_ends_within_a_second(
    command: str, where: Node, name: str, moment: int, filled: list[Json], tmp_path: Path
) -> None:
    verb, request = VERBS[command], Random(f"{command} {moment} {kind_of(where)}, refused").randint(1, MOST)
    fill(where, name, filled if verb.is_filled else DOCUMENTS, verb.is_filled)
    write_inputs(tmp_path)
    arguments = verb.on(name)
    with interrupted_at(where, request, "refusal", tmp_path) as (url, refused):
        # What it may do without, such as a refresh, is not an error.
        refused([*arguments, "--url", url]).check(codes=(0, 1, 3, 4))


@pytest.mark.parametrize(("threads", "native"), [(1, "1"), (2, "1"), (2, "0")])
def test_an_interrupted_dedup_leaves_no_files_and_no_processes(
    threads: int, native: str, moment: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [json.dumps({"id": i, "body": f"the text {i // 3} of a file, {i // 2}"}) + "\n" for i in range(6_000)]
    (tmp_path / "news.jsonl").write_text("".join(lines), encoding="utf-8")
    names = ("output", "pairs", "canonical-only", "report")
    outputs = [word for name in names for word in (f"--{name}", f"{name}.out")]
    line = ["dedup", "news.jsonl", "--field", "body", *outputs]
    times = Random(f"{threads} {native} {moment}").randint(1, 20)
    monkeypatch.setenv("ES_SIMHASH_NATIVE", native)
    write = ("es_simhash.groups.pairs.stored_rows", "Spool", "write")
    first = f"from es_simhash.groups import corpus; corpus.default_threads = lambda: {threads}"
    interrupting_itself(line, write, times, tmp_path, first).check()
    left = {each.name for each in tmp_path.iterdir()}
    assert left in ({"news.jsonl", "tmp"}, {"news.jsonl", "tmp", *outputs[1::2]})
    assert list((tmp_path / "tmp").iterdir()) == []


# --- the asynchronous API


class Hanging(ThreadedEngine):
    """The embedded engine for asynchronous programs, which does not come back from an operation."""

    def __init__(self, directory: Path, operations: int) -> None:
        super().__init__(EmbeddedEngine(directory))
        self._left = operations
        self.hangs = Event()

    async def perform(self, operation: Operation[Result]) -> Result:
        self._left -= 1
        if self._left <= 0 and not isinstance(operation, CloseReader):
            self.hangs.set()
            await asyncio.Event().wait()
        return await super().perform(operation)


async def group(index: AsyncIndex) -> None:
    (await index.group()).close()


async def write_groups(index: AsyncIndex) -> None:
    with await index.group() as grouped:
        await index.write_groups(grouped)


async def erase(index: AsyncIndex) -> None:
    await index.erase(await index.copies(["7"]), everything=True)


class Work(NamedTuple):
    """Something to do on an index, as a `Verb` is."""

    do: Callable[[AsyncIndex], Awaitable[object]]
    is_filled: bool = True


WORK = {
    "backfill": Work(lambda index: index.backfill(), False),
    "backfill in slices": Work(lambda index: index.backfill(parallel=3), False),
    "sync": Work(lambda index: index.sync(), False),
    "reindex": Work(lambda index: index.reindex(f"{index.name}-copy"), False),
    "remove": Work(lambda index: index.remove_fields()),
    "group": Work(group),
    "write groups": Work(write_groups),
    "erase": Work(erase),
    "add": Work(lambda index: index.add(DOCUMENTS), False),
}


@contextmanager
def hanging_at(where: Path | Node, operation: int) -> Iterator[tuple[Any, Event]]:
    """An asynchronous target that does not answer from an operation, or a request, on, and what is set by then."""
    if isinstance(where, Path):
        engine = Hanging(where, operation)
        yield engine, engine.hangs
        return
    moment = Moment(operation, "silence")
    with proxy(where, moment) as url:
        yield url, moment.come
        moment.end()


async def cancelled(name: str, target: Any, work: Work, hangs: Event) -> float:
    """Cancel work as soon as it hangs; the result is how many seconds it then took to end."""
    async with AsyncIndex(name, target, fields=FIELDS) as index:
        task = asyncio.ensure_future(work.do(index))
        while not (hangs.is_set() or task.done()):
            await asyncio.sleep(0.01)
        begun = monotonic()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        return monotonic() - begun


@pytest.mark.parametrize("doing", WORK)
def test_a_cancelled_task_ends_at_once_and_leaves_nothing_running(
    doing: str, where: Path | Node, name: str, moment: int, filled: list[Json]
) -> None:
    work, operation = WORK[doing], Random(f"{doing} {moment} {kind_of(where)}").randint(1, MOST)
    fill(where, name, filled if work.is_filled else DOCUMENTS, work.is_filled)
    with connected(where) as engine:
        Index(name, engine, fields=FIELDS).init()
    with hanging_at(where, operation) as (target, hangs):
        # The event loop waits for threads in the end.
        assert asyncio.run(cancelled(name, target, work, hangs)) < AT_ONCE
        if isinstance(where, Path):
            asyncio.run(target.close())
    for thread in [each for each in enumerate_threads() if each.name == "es-simhash"]:
        thread.join(AT_ONCE)
        assert not thread.is_alive()


def test_a_result_that_comes_after_its_task_was_cancelled_is_closed(tmp_path: Path) -> None:
    spools, begun, cancelled = Spools(1 << 20), Event(), Event()

    def work(*_: object) -> Spools:
        begun.set()
        cancelled.wait()
        return spools

    async def cancel() -> None:
        async with AsyncIndex("articles", ThreadedEngine(EmbeddedEngine(tmp_path))) as index:
            task = asyncio.ensure_future(index._connection.work(work))
            await asyncio.to_thread(begun.wait)
            task.cancel()
            asyncio.get_running_loop().call_soon(cancelled.set)
            await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancel())
    assert spools.is_closed
