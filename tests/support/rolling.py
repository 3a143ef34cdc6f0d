"""An alias or a data stream without a server: the embedded engine, with names that stand for several of its indices."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.plans.operations import (
    Action,
    ActionResult,
    Bulk,
    CreateIndex,
    EngineInfo,
    GetInfo,
    GetMappings,
    Operation,
    Refresh,
    Search,
)

Result = TypeVar("Result")


class Rolling:
    """A server with the name ``news``, which rolls over; and an ordinary index ``plain``."""

    def __init__(self, engine: Engine, mappings: Json, is_stream: bool = False) -> None:
        self.engine = engine
        self.is_stream = is_stream
        self.generations: list[str] = []
        self._mappings = mappings
        self.roll_over()

    def roll_over(self) -> None:
        """Make the next generation, which gets what is written by the name from now on."""
        number = len(self.generations) + 1
        self.generations.append(f"{'.ds-news' if self.is_stream else 'news'}-{number:06}")
        self.engine.perform(CreateIndex(self.generations[-1], {"mappings": self._mappings}))

    def perform(self, operation: Operation[Result]) -> Result:
        result: Any
        if isinstance(operation, GetInfo):
            result = EngineInfo("opensearch", (3,))
        elif isinstance(operation, Bulk):
            result = [self._do(action, action.index or operation.index) for action in operation.actions]
        elif isinstance(operation, GetMappings) and operation.index == "news":
            result = {name: self.engine.perform(GetMappings(name))[name] for name in self.generations}
        elif getattr(operation, "index", "") == "news":
            result = self.engine.perform(replace(operation, index=",".join(self.generations)))  # type: ignore[call-arg]
        else:
            result = self.engine.perform(operation)
        done: Result = result
        return done

    def _do(self, action: Action, name: str) -> ActionResult:
        is_named, is_versioned = name == "news", "if_seq_no" in (action.metadata or {})
        if self.is_stream and (action.op_type != "create" if is_named else action.op_type == "create"):
            return ActionResult(str(action.id), 400, "only write ops with an op_type of create are allowed.")
        if self.is_stream and action.op_type == "index" and not is_versioned:
            return ActionResult(str(action.id), 400, "no if_seq_no is set.")
        index = self.generations[-1] if is_named else name
        [result] = self.engine.perform(Bulk(index, [replace(action, index=None)]))
        return result

    def places(self) -> dict[str, list[str]]:
        """The generations in which each id is."""
        found: dict[str, list[str]] = {}
        for name in self.generations:
            self.engine.perform(Refresh(name))
            for hit in self.engine.perform(Search(name, {"query": {"match_all": {}}, "size": 100}))["hits"]["hits"]:
                found.setdefault(hit["_id"], []).append(name)
        return found

    def close(self) -> None:
        self.engine.close()


def rolling(folder: Any, mappings: Json, is_stream: bool) -> Rolling:
    """Make one in a folder."""
    return Rolling(EmbeddedEngine(folder), mappings, is_stream)
