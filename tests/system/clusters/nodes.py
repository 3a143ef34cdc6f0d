"""A cluster as the target of histories."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from threading import Timer
from typing import Any, TypeVar

from es_simhash.engines.connect import connect
from es_simhash.plans.operations import CreateIndex, Operation
from tests.system.histories.course import Course
from tests.system.histories.history import Blow, History
from tests.system.histories.wire import Wire, killable
from tools.nodes.cluster import Cluster
from tools.nodes.web import Reply

Result = TypeVar("Result")

# Longer than the cluster takes to notice that a node is away.
_CUT_SECONDS, _SILENT_SECONDS = 1.0, 3.0
_LIMIT_SECONDS, _POLL_SECONDS = 120.0, 0.1


@dataclass
class Nodes:
    """A cluster, the ways to its nodes that commands take, and how often a node was hit."""

    cluster: Cluster
    wire: Wire
    is_server = True
    is_cluster = True
    patience = 60.0
    hits: int = 0
    _healing: Timer | None = None

    @property
    def has_streams(self) -> bool:
        """Whether it has data streams; this build of Elasticsearch has none."""
        return self.cluster.release.engine == "opensearch"

    @property
    def url(self) -> str:
        """Where commands find it: at each of its nodes."""
        return self.wire.url

    def begin(self, history: History) -> None:
        """Have all nodes that a history begins with."""
        self._mend()
        if any(event.what is Blow.JOIN for event in history.events):
            self.cluster.isolate(len(self.cluster.nodes) - 1)
            self.cluster.await_nodes(len(self.cluster.nodes) - 1)

    def request(self, method: str, path: str, body: Any = None) -> Reply:
        """Ask a node that has not been hit, again and again until it can answer."""
        deadline = time.monotonic() + _LIMIT_SECONDS
        is_doubtful = False
        while True:
            try:
                reply = self.cluster.request(method, path, body)
            except OSError:
                is_doubtful = True
            else:
                if reply.status < HTTPStatus.INTERNAL_SERVER_ERROR and reply.status != HTTPStatus.TOO_MANY_REQUESTS:
                    done_before = is_doubtful and method == "DELETE" and reply.status == HTTPStatus.NOT_FOUND
                    return Reply(HTTPStatus.OK, reply.body) if done_before else reply
                is_doubtful = True
            assert time.monotonic() < deadline, f"{method} {path} could not be answered"
            time.sleep(_POLL_SECONDS)

    def perform(self, operation: Operation[Result]) -> Result:
        """Carry out an operation on a node that has not been hit; a new index gets all its copies."""
        engine = connect(self.cluster.urls[self.cluster.there[0]])
        try:
            result = engine.perform(operation)
        finally:
            engine.close()
        if isinstance(operation, CreateIndex):
            self.cluster.await_green(operation.index)
        return result

    def undergo(self, blow: Blow, index: str) -> None:
        """Hit the node with the first primary, unless the cluster would lose more than it has copies of."""
        if blow is Blow.JOIN:
            self.cluster.join()
            return
        # A copy of the index is named after it, as are its generations.
        health = self.cluster.request("GET", f"/_cluster/health/{index}*?timeout=1s")
        if not self.cluster.is_whole or health.status != HTTPStatus.OK or health.body["status"] != "green":
            return
        hit = self.cluster.primary(index)
        assert hit is not None
        self.hits += 1
        if blow is Blow.KILL:
            self.cluster.kill(hit)
        elif blow is Blow.ISOLATE:
            self.cluster.isolate(hit)
            self._heal_after(_CUT_SECONDS)
        else:
            self.cluster.silence(hit, (hit + 1) % len(self.cluster.nodes))
            self._heal_after(_SILENT_SECONDS)

    def settle(self, index: str) -> None:
        """Mend the cluster, and wait until an index has all its copies."""
        self._mend()
        self.cluster.await_green(index)

    @contextmanager
    def meeting(self, course: Course) -> Iterator[None]:
        """Within it, requests to each node meet with what happens in a course."""
        self.wire.course = course
        with killable(course):
            yield

    def _heal_after(self, seconds: float) -> None:
        self._healing = Timer(seconds, self.cluster.join)
        self._healing.start()

    def _mend(self) -> None:
        if self._healing:
            self._healing.join()
            self._healing = None
        self.cluster.make_whole()
