"""A proxy before a node, at which requests are counted and meet with faults."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus
from http.client import HTTPException
from typing import Any, TypeVar
from unittest.mock import patch
from urllib.parse import urlsplit

from es_simhash.engines.base import Engine
from es_simhash.engines.rest.engine import RestEngine
from es_simhash.plans.operations import Operation
from tests.support.http_server import Answer, Request, listening
from tests.system.histories.course import Course, KilledError
from tests.system.histories.history import Blow, Fault
from tools.nodes import Node
from tools.nodes.web import Reply

Result = TypeVar("Result")

# Long enough that what another thread has ready comes first.
_LATE_SECONDS = 0.02
_REFUSALS = {
    Fault.BUSY: (HTTPStatus.TOO_MANY_REQUESTS, "rejected_execution_exception"),
    Fault.UNAVAILABLE: (HTTPStatus.SERVICE_UNAVAILABLE, "unavailable_shards_exception"),
}


@dataclass
class Wire:
    """The way to a node: its ``url``, and the history that is under way, whose requests go one by one."""

    url: str
    course: Course


@dataclass(frozen=True)
class Server:
    """A node, the way to it that commands take, and an engine over it that takes another."""

    node: Node
    wire: Wire
    engine: Engine
    is_server = True
    is_cluster = False
    patience = 0.2

    @property
    def has_streams(self) -> bool:
        """Whether it has data streams; this build of Elasticsearch has none."""
        return self.node.release.engine == "opensearch"

    @property
    def url(self) -> str:
        """Where commands find it."""
        return self.wire.url

    def request(self, method: str, path: str, body: Any = None) -> Reply:
        """Ask the node itself."""
        return self.node.request(method, path, body)

    def perform(self, operation: Operation[Result]) -> Result:
        """Carry out an operation on the node itself."""
        return self.engine.perform(operation)

    def settle(self, index: str) -> None:
        """One node is always whole."""

    def undergo(self, blow: Blow, index: str) -> None:
        """There is no cluster."""
        raise NotImplementedError

    @contextmanager
    def meeting(self, course: Course) -> Iterator[None]:
        """Within it, requests meet with what happens in a course, and a process that was killed does nothing more."""
        self.wire.course = course
        with killable(course):
            yield


@contextmanager
def killable(course: Course) -> Iterator[None]:
    """Within it, a process that was killed in a course does nothing more."""
    perform = RestEngine.perform

    def unless_killed(engine: RestEngine[Any], operation: Operation[Result]) -> Result:
        try:
            return perform(engine, operation)
        finally:
            if course.is_killed:
                raise KilledError

    with patch.object(RestEngine, "perform", unless_killed):
        yield


@contextmanager
def wire(*nodes: Node) -> Iterator[Wire]:
    """Run a proxy before each node."""
    there = Wire("", Course())

    def respond(request: Request) -> Answer | None:
        try:
            return _answer(there.course, request)
        except Exception as failure:
            there.course.failures.append(failure)
            return None

    with ExitStack() as stack:
        there.url = ",".join(stack.enter_context(listening(respond, node=node)) for node in nodes)
        yield there


def _answer(course: Course, request: Request) -> Answer | None:
    """Answer a request after its fault, if it has one; None means that the connection is lost."""
    with course.turn:
        if course.is_killed:
            return None
        fault = course.fault(request.path)
        if fault is not Fault.LATE:
            return _meeting(fault, course, request)
    time.sleep(_LATE_SECONDS)
    with course.turn:
        return None if course.is_killed else _forwarded(course, request)


def _meeting(fault: Fault | None, course: Course, request: Request) -> Answer | None:
    match fault:
        case None:
            return _forwarded(course, request)
        case Fault.RESET | Fault.KILLED:
            return None
        case Fault.LOST_REPLY | Fault.KILLED_UNANSWERED:
            reply = _forwarded(course, request)
            is_bulk = reply and urlsplit(request.path).path.endswith("/_bulk")
            course.unheard += len(_done(reply)) if reply and is_bulk else 0
            return None
        case Fault.BUSY_ITEMS:
            return _half_refused(course, request)
        case Fault.FAILOVER:
            return _during(course, request)
        case _:
            return _refused(*_REFUSALS[fault])


def _forwarded(course: Course, request: Request) -> Answer | None:
    """Answer as the node does, or not at all if it is away."""
    try:
        reply = request.forward()
    except (OSError, HTTPException):
        return None
    if reply.status < HTTPStatus.MULTIPLE_CHOICES:
        course.on_request(request.method, request.path, request.body)
    return reply


def _during(course: Course, request: Request) -> Answer | None:
    """Have the node with a primary killed while a request is under way."""
    with ThreadPoolExecutor(1) as executor:
        reply = executor.submit(_forwarded, course, request)
        course.happen(Blow.KILL)
        return reply.result()


def _refused(status: HTTPStatus, kind: str) -> Answer:
    return Answer({"error": {"type": kind, "reason": "by a fault", "root_cause": []}, "status": status.value}, status)


def _done(reply: Answer) -> list[Any]:
    """Find the items of a bulk request that were done."""
    items = [next(iter(item.values())) for item in json.loads(reply.raw).get("items", ())]
    return [item for item in items if item["status"] < HTTPStatus.MULTIPLE_CHOICES]


def _half_refused(course: Course, request: Request) -> Answer | None:
    """Refuse every other item of a bulk request, beginning with the first, and forward the rest."""
    actions = _actions(request.body)
    passed = actions[1::2]
    replied = iter(())
    reply: Answer | None = Answer(b"")
    if passed:
        lines = b"".join(line + b"\n" for action in passed for line in action)
        reply = _forwarded(course, replace(request, body=lines))
        if reply is None:
            return None
        replied = iter(json.loads(reply.raw)["items"])
    index = urlsplit(request.path).path.split("/")[1]
    items = [next(replied) if number % 2 else _refusal(action[0], index) for number, action in enumerate(actions)]
    assert reply
    return replace(reply, body={"took": 0, "errors": True, "items": items})


def _actions(body: bytes) -> list[list[bytes]]:
    """Split a bulk request into actions of one or two lines."""
    lines = iter(body.splitlines())
    return [[line] if "delete" in json.loads(line) else [line, next(lines)] for line in lines]


def _refusal(line: bytes, index: str) -> Any:
    [(kind, about)] = json.loads(line).items()
    error = {"type": "rejected_execution_exception", "reason": "by a fault"}
    status = HTTPStatus.TOO_MANY_REQUESTS.value
    return {kind: {"_index": about.get("_index", index), "_id": about.get("_id"), "status": status, "error": error}}
