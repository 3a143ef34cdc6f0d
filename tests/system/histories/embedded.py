"""The embedded engine as a target: its operations are the requests, and to be killed is the only fault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch
from urllib.parse import unquote, urlsplit

from es_simhash._core.json_codec import Json
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.errors import MissingError
from es_simhash.plans.operations import (
    Action,
    Bulk,
    Count,
    GetDocuments,
    GetMappings,
    GetResource,
    Operation,
    PutMapping,
    ReadPage,
    Refresh,
    Search,
)
from tests.system.histories.course import Course, KilledError
from tests.system.histories.history import Blow, Fault
from tools.nodes.web import Reply

Result = TypeVar("Result")

_PERFORM, _CLOSE = EmbeddedEngine.perform, EmbeddedEngine.close
# What a request for an operation would be.
_PATHS: Mapping[type[Operation[Any]], str] = {
    Bulk: "/_bulk",
    Count: "/_count",
    GetMappings: "/_mapping",
    GetResource: "/_stats?level=shards",
    PutMapping: "/_mapping",
    ReadPage: "/_search",
    Refresh: "/_refresh",
    Search: "/_search",
}


@dataclass
class Directory:
    """A directory with indices that answers, to the others, as a node does.

    They write through the engine of the command while that works, as it has the right to write; and what they have
    written is durable at once.
    """

    path: Path
    is_server = False
    is_cluster = False
    patience = 0.2
    _engine: EmbeddedEngine | None = None

    @property
    def url(self) -> str:
        """Where commands find it."""
        return str(self.path)

    def perform(self, operation: Operation[Result]) -> Result:
        """Carry out an operation, by the engine of the command or by one of its own."""
        if self._engine:
            return _PERFORM(self._engine, operation)
        engine = EmbeddedEngine(self.path)
        try:
            return _PERFORM(engine, operation)
        finally:
            _CLOSE(engine)

    def settle(self, index: str) -> None:
        """Nothing is ever under way."""

    def undergo(self, blow: Blow, index: str) -> None:
        """There is no cluster."""
        raise NotImplementedError

    def request(self, method: str, path: str, body: Any = None) -> Reply:
        """What a node would answer."""
        index, _, rest = urlsplit(path).path.strip("/").partition("/")
        kind, _, id_ = rest.partition("/")
        try:
            return Reply(HTTPStatus.OK, self._answer(method, index, kind, unquote(id_), body))
        except MissingError:
            return Reply(HTTPStatus.NOT_FOUND, {})

    def _answer(self, method: str, index: str, kind: str, id_: str, body: Any) -> Json:
        match method, kind:
            case "GET", "":
                return {index: {"mappings": self.perform(GetMappings(index))[index], "settings": {"index": {}}}}
            case "GET", "_doc":
                return self.perform(GetDocuments(index, [id_]))[0]
            case "POST", "_search":
                return self._search(index, body["query"]["bool"]["should"])
            case "POST", "_refresh":
                self.perform(Refresh(index))
            case (("PUT" | "DELETE" | "POST"), ("_doc" | "_update")):
                op_type: Any = {"PUT": "index", "DELETE": "delete", "POST": "update"}[method]
                [result] = self.perform(Bulk(index, [Action(op_type, id_, body)], refresh=True))
                assert result.error is None, result
        return {"_version": 1}

    def _search(self, index: str, searches: list[Json]) -> Json:
        """All documents, each with the names of those searches that find it."""
        found: list[Json] = self.perform(Search(index, {"size": 1000, "query": {"match_all": {}}}))["hits"]["hits"]
        hits = {hit["_id"]: hit | {"_version": 1, "matched_queries": []} for hit in found}
        for search in searches:
            [(field_, about)] = search["term"].items()
            query = {"term": {field_: about["value"]}}
            for hit in self.perform(Search(index, {"size": 1000, "query": query}))["hits"]["hits"]:
                hits[hit["_id"]]["matched_queries"].append(about["_name"])
        return {"hits": {"hits": list(hits.values())}}

    @contextmanager
    def meeting(self, course: Course) -> Iterator[None]:
        """Within it, engines meet with what happens in a course."""

        def perform(engine: EmbeddedEngine, operation: Operation[Result]) -> Result:
            with course.turn:
                if course.is_killed:
                    raise KilledError
                self._engine = engine
                path = _PATHS.get(type(operation), "/")
                try:
                    fault = course.fault(path)
                except Exception as failure:
                    course.failures.append(failure)
                    raise
                if fault is Fault.KILLED:
                    raise KilledError
                course.on_request(
                    "PUT" if isinstance(operation, PutMapping) else "POST", path, repr(operation).encode()
                )
                result = _PERFORM(engine, operation)
                if fault is Fault.KILLED_UNANSWERED:
                    raise KilledError
                return result

        def close(engine: EmbeddedEngine) -> None:
            self._engine = None
            if course.is_killed:
                for index in engine._catalog._open.values():
                    index.store.give_up_writing()
                engine._catalog._open.clear()
            _CLOSE(engine)

        with ExitStack() as stack:
            stack.enter_context(patch.object(EmbeddedEngine, "perform", perform))
            stack.enter_context(patch.object(EmbeddedEngine, "close", close))
            yield
