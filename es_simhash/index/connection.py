"""The connection of an `Index`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from es_simhash._core.prefetch import Stop
from es_simhash.engines.base import Engine, leave, run
from es_simhash.engines.connect import Target, connect, place_of
from es_simhash.errors import EngineError
from es_simhash.plans.operations import Plan

Result = TypeVar("Result")


class Connection:
    """The engine for a target, connected to at once; what was opened here is closed here."""

    def __init__(self, target: Target) -> None:
        self._engine = connect(target)
        self._is_own = self._engine is not target
        self._target = target

    def __str__(self) -> str:
        """Write where the engine is."""
        return place_of(self._target)

    def engine(self) -> Engine:
        """Return the engine."""
        return self._engine

    def run(self, plan: Plan[Result]) -> Result:
        """Run a plan, and return its result."""
        return run(plan, self._engine)

    def work(self, job: Callable[[Engine, Stop | None], Result]) -> Result:
        """Run a long job."""
        return job(self._engine, None)

    def clean_up(self, plan: Plan[Any], error: BaseException) -> None:
        """Run a plan after an error, or for a moment after an interruption."""
        if not isinstance(error, Exception):
            leave(plan, self._engine)
            return
        with suppress(EngineError):
            run(plan, self._engine)

    def close(self) -> None:
        """Close what was opened here."""
        if self._is_own:
            self._engine.close()
