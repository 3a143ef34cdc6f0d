"""A proxy before a node, at which requests are counted and meet with faults."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar
from unittest.mock import patch
from urllib.parse import urlsplit

from es_simhash.engines.base import Engine
from es_simhash.engines.rest.engine import RestEngine
from es_simhash.plans.operations import Operation
from tests.system.histories.course import Course, KilledError
from tests.system.histories.history import Fault
from tools.nodes import Node
from tools.nodes.web import Reply

Result = TypeVar("Result")

_OWN = {"connection", "content-length", "keep-alive", "transfer-encoding", "host"}
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

    @contextmanager
    def meeting(self, course: Course) -> Iterator[None]:
        """Within it, requests meet with what happens in a course, and a process that was killed does nothing more."""
        perform = RestEngine.perform
        self.wire.course = course

        def unless_killed(engine: RestEngine, operation: Operation[Result]) -> Result:
            try:
                return perform(engine, operation)
            finally:
                if course.is_killed:
                    raise KilledError

        with patch.object(RestEngine, "perform", unless_killed):
            yield


@dataclass(frozen=True)
class _Request:
    method: str
    path: str
    body: bytes
    headers: dict[str, str]

    @property
    def is_bulk(self) -> bool:
        return urlsplit(self.path).path.endswith("/_bulk")


@dataclass(frozen=True)
class _Reply:
    status: int
    body: bytes
    headers: dict[str, str]


@contextmanager
def wire(node: Node) -> Iterator[Wire]:
    """A proxy before a node."""
    address = urlsplit(node.url).netloc

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def setup(self) -> None:
            super().setup()
            self._upstream = HTTPConnection(address)

        def finish(self) -> None:
            super().finish()
            self._upstream.close()

        def _pass(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name: value for name, value in self.headers.items() if name.lower() not in _OWN}
            reply = None
            try:
                reply = _answer(there.course, _Request(self.command, self.path, body, headers), self._upstream)
            except Exception as failure:
                there.course.failures.append(failure)
            if reply is None:
                self.close_connection = True
                return
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(reply.body)

        do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _pass  # noqa: N815 - the names that the base class calls

        def log_message(self, *_: object) -> None:
            pass

    class Listener(ThreadingHTTPServer):
        daemon_threads = True

    with Listener(("127.0.0.1", 0), Handler) as server:
        there = Wire(f"http://127.0.0.1:{server.server_port}", Course())
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield there
        finally:
            server.shutdown()
            thread.join()


def _answer(course: Course, request: _Request, upstream: HTTPConnection) -> _Reply | None:
    """The reply to a request after all that happens to it; None where the connection is lost."""
    with course.turn:
        if course.is_killed:
            return None
        fault = course.fault(request.path)
        if fault is not Fault.LATE:
            return _meeting(fault, course, request, upstream)
    time.sleep(_LATE_SECONDS)
    with course.turn:
        return None if course.is_killed else _forwarded(course, request, upstream)


def _meeting(fault: Fault | None, course: Course, request: _Request, upstream: HTTPConnection) -> _Reply | None:
    match fault:
        case None:
            return _forwarded(course, request, upstream)
        case Fault.RESET | Fault.KILLED:
            return None
        case Fault.LOST_REPLY | Fault.KILLED_UNANSWERED:
            reply = _forwarded(course, request, upstream)
            course.unheard += len(_done(reply)) if request.is_bulk else 0
            return None
        case Fault.BUSY_ITEMS:
            return _half_refused(course, request, upstream)
        case _:
            return _refused(*_REFUSALS[fault])


def _forwarded(course: Course, request: _Request, upstream: HTTPConnection) -> _Reply:
    course.on_request(request.method, request.path, request.body)
    upstream.request(request.method, request.path, request.body, request.headers)
    reply = upstream.getresponse()
    headers = {name: value for name, value in reply.getheaders() if name.lower() not in _OWN}
    return _Reply(reply.status, reply.read(), headers)


def _refused(status: HTTPStatus, kind: str) -> _Reply:
    body = {"error": {"type": kind, "reason": "by a fault", "root_cause": []}, "status": status.value}
    headers = {"Content-Type": "application/json", "X-Elastic-Product": "Elasticsearch"}
    return _Reply(status, json.dumps(body).encode(), headers)


def _done(reply: _Reply) -> list[Any]:
    """The items of a bulk request that were done."""
    items = [next(iter(item.values())) for item in json.loads(reply.body).get("items", ())]
    return [item for item in items if item["status"] < HTTPStatus.MULTIPLE_CHOICES]


def _half_refused(course: Course, request: _Request, upstream: HTTPConnection) -> _Reply:
    """Every other item of a bulk request is refused, the first of them too; the server gets the rest."""
    actions = _actions(request.body)
    passed = actions[1::2]
    replied = iter(())
    headers = {"Content-Type": "application/json", "X-Elastic-Product": "Elasticsearch"}
    reply = _Reply(HTTPStatus.OK, b"", headers)
    if passed:
        lines = b"".join(line + b"\n" for action in passed for line in action)
        reply = _forwarded(course, replace(request, body=lines), upstream)
        replied = iter(json.loads(reply.body)["items"])
    index = urlsplit(request.path).path.split("/")[1]
    items = [next(replied) if number % 2 else _refusal(action[0], index) for number, action in enumerate(actions)]
    body = {"took": 0, "errors": True, "items": items}
    return replace(reply, body=json.dumps(body).encode())


def _actions(body: bytes) -> list[list[bytes]]:
    """The actions of a bulk request, each as its one or two lines."""
    lines = iter(body.splitlines())
    return [[line] if "delete" in json.loads(line) else [line, next(lines)] for line in lines]


def _refusal(line: bytes, index: str) -> Any:
    [(kind, about)] = json.loads(line).items()
    error = {"type": "rejected_execution_exception", "reason": "by a fault"}
    status = HTTPStatus.TOO_MANY_REQUESTS.value
    return {kind: {"_index": about.get("_index", index), "_id": about.get("_id"), "status": status, "error": error}}
