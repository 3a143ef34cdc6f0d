"""What ``es-simhash backfill`` reports of others who write meanwhile, on real servers."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from es_simhash.cli.options.target import Target
from es_simhash.engines.base import Engine
from es_simhash.engines.connect import connect
from es_simhash.errors import AccessError, UnreachableError
from es_simhash.live.sweep.temporary_settings import are_changed
from es_simhash.plans.operations import (
    Action,
    Bulk,
    DeleteIndex,
    GetMappings,
    GetResource,
    GetTask,
    Operation,
    UpdateByQuery,
)
from tests.support.commands import environment, lines, run
from tests.support.meddling import Meddler
from tests.support.rest_engines import new_name
from tests.support.whole_indices import DOCUMENTS, create, fill, servers
from tools.nodes import Node


@servers
def test_texts_that_others_go_on_changing_are_reported_and_done_by_the_next_run(
    engine: Engine, meddler: Meddler, names: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = names()
    create(engine, name)
    fill(engine, name, DOCUMENTS)
    numbers = count()

    def change_a_text(operation: Operation[Any]) -> None:
        if isinstance(operation, GetResource) and "_stats" in operation.path and Bulk in meddler.kinds():
            part = {"title": f"Another title, the {next(numbers)}th"}
            engine.perform(Bulk(name, [Action("update", next(iter(DOCUMENTS)), {"doc": part})]))

    monkeypatch.setattr(Target, "connect", lambda *_: meddler)

    def backfill(code: int) -> tuple[Any, str]:
        done = run(
            "backfill", name, "--field", "title", "--json", cwd=tmp_path, code=code, XDG_STATE_HOME=str(tmp_path)
        )
        return lines(done)[-1], done.err

    meddler.before = change_a_text
    done, err = backfill(1)
    assert done["unsettled"] == 1
    assert "Texts keep changing: 1 change came after the last pass. Run it again when the writers have stopped" in err
    meddler.before = lambda operation: None
    done, err = backfill(0)
    assert (done["written"], done["unsettled"]) == (1, 0)
    assert "Others" not in err


@servers
def test_settings_that_could_not_be_set_back_are_named_and_set_back_by_the_next_run(
    engine: Engine, meddler: Meddler, names: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = names()
    create(engine, name)
    fill(engine, name, DOCUMENTS)

    def fail(operation: Operation[Any]) -> None:
        if Bulk in meddler.kinds():
            raise AccessError("refused") if isinstance(operation, Bulk) else UnreachableError("away")

    def backfill(*options: str, code: int = 0) -> str:
        fields = ("--field", "title", *options)
        return run("backfill", name, *fields, cwd=tmp_path, code=code, XDG_STATE_HOME=str(tmp_path)).err

    monkeypatch.setattr(Target, "connect", lambda *_: meddler)
    meddler.before = fail
    err = backfill("--no-replicas", code=4)
    assert f"The settings of {name} may not be restored. Run the command again: it restores them first." in err
    meddler.before = lambda operation: None
    assert "Settings" not in backfill()
    mapping = engine.perform(GetMappings(name))[name]
    assert not are_changed(mapping)


# --- in the cluster

COUNT = 300
# So slowly that the task is at work until a test hurries it or ends it, on the slowest machine, too.
STANDING = ("--in-cluster", "--max-rate", "0.5")


@pytest.fixture(params=["elasticsearch", "opensearch"])
def node(request: pytest.FixtureRequest) -> Node:
    node: Node = request.getfixturevalue(f"{request.param}_node")
    return node


@pytest.fixture
def many(node: Node) -> Iterator[str]:
    """An index of documents without fingerprints."""
    name = new_name()
    engine = connect(node.url)
    create(engine, name)
    fill(engine, name, {str(i): {"title": f"The title of document {i}, like no other {i * i}"} for i in range(COUNT)})
    yield name
    engine.perform(DeleteIndex(name))
    engine.close()


@contextmanager
def begun(node: Node, name: str, folder: Path, options: Sequence[str] = STANDING) -> Iterator[subprocess.Popen[str]]:
    """A slow backfill in the cluster, as a process, whose task has done some documents."""
    line = ["backfill", name, "--url", node.url, "--field", "title", "--json", *options]
    with subprocess.Popen(
        [sys.executable, "-m", "es_simhash", *line],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        cwd=folder,
        env=environment({"XDG_STATE_HOME": str(folder)}),
    ) as process:
        try:
            for event in process.stdout or ():
                if json.loads(event).get("written"):
                    break
            yield process
        finally:
            process.kill()


def tasks(node: Node, name: str) -> list[str]:
    found = node.request("GET", "/_tasks?actions=*/update/byquery&group_by=parents").body["tasks"]
    return [id_ for id_, task in found.items() if name in str(task["headers"])]


def backfilled(node: Node, name: str, folder: Path) -> Any:
    line = ("backfill", name, "--url", node.url, "--field", "title", "--json", "--in-cluster")
    return lines(run(*line, cwd=folder, XDG_STATE_HOME=str(folder)))[-1]


def test_an_interruption_cancels_the_task_of_the_cluster(node: Node, many: str, tmp_path: Path) -> None:
    with begun(node, many, tmp_path) as process:
        assert len(tasks(node, many)) == 1
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == 130
    assert "Interrupted. Fingerprints were given to" in err
    # The server confirms at once that it will end the task; it ends when it has done what it is at.
    assert "may go on" not in err
    while tasks(node, many):
        continue
    assert 0 < backfilled(node, many, tmp_path)["written"] < COUNT


def test_a_task_whose_command_was_killed_is_followed_by_the_next_one(node: Node, many: str, tmp_path: Path) -> None:
    with begun(node, many, tmp_path) as process:
        process.send_signal(signal.SIGKILL)
    [task] = tasks(node, many)
    with begun(node, many, tmp_path, ["--in-cluster"]) as process:
        assert tasks(node, many) == [task]
        node.request("POST", f"/_update_by_query/{task}/_rethrottle?requests_per_second=-1")
        printed, _ = process.communicate()
        done = json.loads(printed.splitlines()[-1])
    assert 0 < done["written"] < COUNT
    assert (done["rejected"], done["unsettled"], done["conflicts"]) == (0, 0, 0)
    assert backfilled(node, many, tmp_path)["total"] == 0


@servers
def test_a_task_that_cannot_be_cancelled_is_named(
    engine: Engine, meddler: Meddler, names: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = names()
    create(engine, name)
    fill(engine, name, DOCUMENTS)

    def fail(operation: Operation[Any]) -> None:
        if UpdateByQuery in meddler.kinds() and not isinstance(operation, UpdateByQuery):
            raise UnreachableError("away")

    monkeypatch.setattr(Target, "connect", lambda *_: meddler)
    meddler.before = fail
    line = ("backfill", name, "--field", "title", "--in-cluster", "--patience", "0")
    err = run(*line, cwd=tmp_path, code=3, XDG_STATE_HOME=str(tmp_path)).err
    [task] = [each.id for each in meddler.seen if isinstance(each, GetTask)][:1]
    assert f"The server may go on with the task {task}. Run the command again to follow it, or cancel it" in err
    meddler.before = lambda operation: None
    run(*line[:-2], cwd=tmp_path, XDG_STATE_HOME=str(tmp_path))
    assert engine.perform(GetResource(f"/_ingest/pipeline/es-simhash_backfill-dedup.{name}")) == {}


@servers
def test_what_the_server_has_left_is_counted(
    engine: Engine, meddler: Meddler, names: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = names()
    create(engine, name)
    fill(engine, name, {**DOCUMENTS, "long": {"body": "a word " * 40_000}})
    monkeypatch.setattr(Target, "connect", lambda *_: meddler)
    line = ("backfill", name, "--field", "body", "--in-cluster", "--json")
    done = run(*line, cwd=tmp_path, XDG_STATE_HOME=str(tmp_path))
    assert (lines(done)[-1]["written"], lines(done)[-1]["deferred"]) == (len(DOCUMENTS) + 1, 1)
    assert "1 document was left to this command by the server's pipeline, and done here." in done.err
