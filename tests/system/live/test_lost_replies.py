"""Jobs whose requests a server carries out, and whose replies are lost on the way, report no changes of others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock

import pytest

from es_simhash.engines.base import Engine
from es_simhash.engines.base import run as run_plan
from es_simhash.engines.connect import connect
from es_simhash.index import Index
from es_simhash.plans.open_index import fingerprinted
from tests.support.commands import run
from tests.support.http_server import Answer, Request, listening
from tests.support.whole_indices import COUNT, DOCUMENTS, FIELDS, create, fill
from tools.nodes import Node

pytestmark = pytest.mark.parametrize("kind", ["elasticsearch", "opensearch"], indirect=True)


@pytest.fixture
def node(kind: str, request: pytest.FixtureRequest) -> Node:
    node: Node = request.getfixturevalue(f"{kind}_node")
    return node


@pytest.fixture
def name(engine: Engine, names: Callable[[], str]) -> str:
    name = names()
    create(engine, name)
    fill(engine, name, DOCUMENTS)
    Index(name, engine, fields=FIELDS).init()
    return name


@contextmanager
def losing(node: Node, before_sending_again: Callable[[], object] = lambda: None) -> Iterator[str]:
    """A proxy that loses the reply to each bulk the first time: the node has done it, and the client hears nothing."""
    seen: set[bytes] = set()
    lock = Lock()

    def respond(request: Request) -> Answer | None:
        answer = request.forward()
        if "_bulk" not in request.path:
            return answer
        with lock:
            is_new = request.body not in seen
            seen.add(request.body)
        if is_new:
            before_sending_again()
        return None if is_new else answer

    with listening(respond, node=node) as url:
        yield url


def test_a_backfill_that_meets_its_own_writes_has_met_nobody_else(engine: Engine, node: Node, name: str) -> None:
    with losing(node) as url, closing(connect(url)) as through:
        progress = Index(name, through).backfill()
    assert (progress.written, progress.resent, progress.conflicts) == (COUNT, COUNT, 0)
    assert (progress.current, progress.rejected, progress.done) == (0, 0, COUNT)
    assert run_plan(fingerprinted(name, Index(name, engine).documents), engine) == COUNT


def test_the_command_says_which_it_is(engine: Engine, node: Node, name: str, tmp_path: Path) -> None:
    with losing(node) as url:
        done = run("backfill", name, "--url", url, "--verbose", cwd=tmp_path, XDG_STATE_HOME=str(tmp_path))
    text = " ".join((done.out + done.err).split())
    assert f": {COUNT:,} documents fingerprinted. " in text
    assert f"{COUNT} documents were sent twice, because a reply was lost" in text


def test_a_change_of_others_to_what_a_lost_request_has_written_is_a_conflict(
    engine: Engine, node: Node, name: str
) -> None:
    changes = iter([{next(iter(DOCUMENTS)): {"title": "another", "body": "text of somebody"}}])

    def change() -> None:
        for documents in changes:
            fill(engine, name, documents)

    with losing(node, change) as url, closing(connect(url)) as through:
        progress = Index(name, through).backfill()
    # The late write of that document meets itself, too.
    assert (progress.conflicts, progress.resent, progress.written) == (1, COUNT, COUNT)
    assert run_plan(fingerprinted(name, Index(name, engine).documents), engine) == COUNT


def test_groups_that_meet_their_own_writes_have_met_nobody_else(engine: Engine, node: Node, name: str) -> None:
    Index(name, engine).backfill()
    engine_index = Index(name, engine)
    with losing(node) as url, closing(connect(url)) as through:
        index = Index(name, through)
        written = index.write_groups(index.group())
    assert (written.conflicts, written.lost, written.rejected) == (0, 0, [])
    assert written.written > 0
    # Nothing is left to write.
    assert engine_index.write_groups(engine_index.group()).written == 0
