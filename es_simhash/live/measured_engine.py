"""An engine whose operations are measured: how long each kind takes, which errors it meets, and a span for each."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter
from typing import Any, TypeVar
from urllib.parse import urlsplit

from es_simhash._core.urls import each_url, is_url
from es_simhash.engines.base import Engine
from es_simhash.live import telemetry
from es_simhash.live.telemetry import OPERATION_ERRORS, OPERATION_SECONDS, Metrics
from es_simhash.plans.operations import Bulk, MultiSearch, Operation

Result = TypeVar("Result")


class WatchedEngine:
    """An engine at ``place``, an address without credentials or a directory, whose operations are watched."""

    def __init__(self, engine: Engine, place: str, metrics: Metrics | None) -> None:
        self._engine, self._metrics = engine, metrics
        self._attributes: dict[str, str | int] = {"db.system.name": getattr(engine, "system", "other")}
        if is_url(place):
            parts = urlsplit(each_url(place)[0])
            self._attributes["server.address"] = parts.hostname or ""
            if parts.port:
                self._attributes["server.port"] = parts.port

    def perform(self, operation: Operation[Result]) -> Result:
        """Perform one operation."""
        name = name_of(operation)
        begun = perf_counter()
        try:
            with self._span(operation, name) if telemetry.are_wanted() else nullcontext():
                return self._engine.perform(operation)
        except Exception as error:
            if self._metrics:
                self._metrics.add(OPERATION_ERRORS, operation=name, error_type=type(error).__name__)
            raise
        finally:
            if self._metrics:
                self._metrics.observe(OPERATION_SECONDS, perf_counter() - begun, operation=name)

    def close(self) -> None:
        """Close the engine."""
        self._engine.close()

    def _span(self, operation: Operation[Any], name: str) -> AbstractContextManager[object]:
        """Return the span of an operation, which never shows a query, a document or an id."""
        attributes: dict[str, str | int] = {**self._attributes, "db.operation.name": name}
        if index := getattr(getattr(operation, "reader", None) or operation, "index", ""):
            attributes["db.collection.name"] = index
        match operation:
            case Bulk(actions=items) | MultiSearch(bodies=items) if len(items) > 1:
                attributes["db.operation.batch.size"] = len(items)
        return telemetry.span(f"{name} {index}".rstrip(), attributes, of_client=True)


def unwatched(engine: Engine) -> Engine:
    """Return the engine behind one that is watched, or the engine itself."""
    return engine._engine if isinstance(engine, WatchedEngine) else engine


def name_of(operation: Operation[Any]) -> str:
    """Return the name of a kind of operations: ``read_page`` for `ReadPage`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", type(operation).__name__).lower()
