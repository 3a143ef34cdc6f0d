"""Engines with which something happens at the wrong moment."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from threading import Lock
from typing import Any, TypeVar

from es_simhash.engines.base import Engine
from es_simhash.errors import UnavailableError
from es_simhash.plans.operations import ActionResult, Bulk, CloseReader, OpenReader, Operation, ReadPage

Result = TypeVar("Result")


class Meddler:
    """An engine with which something happens before or after an operation, or instead of it."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._one_at_a_time = Lock()
        self.seen: list[Operation[Any]] = []
        self.before: Callable[[Operation[Any]], None] = lambda operation: None
        self.after: Callable[[Operation[Any], Any], Any] = lambda operation, result: result

    def perform(self, operation: Operation[Result]) -> Result:
        self.seen.append(operation)
        with self._one_at_a_time:
            self.before(operation)
        result = self.engine.perform(operation)
        with self._one_at_a_time:
            meddled: Result = self.after(operation, result)
        return meddled

    def close(self) -> None:
        """Leave the engine open."""

    def kinds(self) -> set[type[Operation[Any]]]:
        return {type(operation) for operation in self.seen}


class StopsEarly(Meddler):
    """An engine with which a run ends after the first request that writes documents, as if it had been killed."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._one_bulk_at_a_time = Lock()

    def perform(self, operation: Operation[Result]) -> Result:
        is_bulk = isinstance(operation, Bulk)
        with self._one_bulk_at_a_time if is_bulk else nullcontext():
            if is_bulk and Bulk in self.kinds():
                raise RuntimeError("stopped")
            return super().perform(operation)


def once(kind: type[Operation[Any]], do: Callable[[Any], Any], after: int = 0) -> Callable[[Operation[Any]], None]:
    """Something that happens before the operation of a kind, the first time or a later one."""
    met = 0

    def before(operation: Operation[Any]) -> None:
        nonlocal met
        if isinstance(operation, kind):
            met += 1
            if met == after + 1:
                do(operation)

    return before


def each_at_a_second_try() -> Callable[[Operation[Any]], None]:
    """What no worker does can be done at a second try only."""
    tried: list[Operation[Any]] = []

    def before(operation: Operation[Any]) -> None:
        if isinstance(operation, Bulk | OpenReader | ReadPage | CloseReader):
            return
        if operation not in tried:
            tried.append(operation)
            raise UnavailableError("a node has just gone away")
        tried.remove(operation)

    return before


class Overloaded(Meddler):
    """An engine with a full queue: of the actions of a request it takes those only that ``takes`` allows."""

    def __init__(self, engine: Engine, takes: Callable[[Bulk, int], bool], status: int = 429) -> None:
        super().__init__(engine)
        self._takes = takes
        self._status = status

    def perform(self, operation: Operation[Result]) -> Result:
        if not isinstance(operation, Bulk):
            return super().perform(operation)
        taken = [self._takes(operation, place) for place in range(len(operation.actions))]
        actions = [action for action, is_taken in zip(operation.actions, taken, strict=True) if is_taken]
        request: Operation[list[ActionResult]] = replace(operation, actions=actions)
        done: list[ActionResult] = super().perform(request) if actions else []
        results = iter(done)
        refused = "es_rejected_execution_exception: the queue is full"
        mixed: Any = [
            next(results) if is_taken else ActionResult(action.id or "", self._status, refused)
            for action, is_taken in zip(operation.actions, taken, strict=True)
        ]
        answer: Result = mixed
        return answer
