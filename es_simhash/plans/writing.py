"""Writing documents to an index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from es_simhash.bulk_actions import Document
from es_simhash.documents import Documents, Rejected
from es_simhash.operations import Action, Bulk, Plan

# The names that helpers.bulk reads from beside a document's fields, and what they are called in a bulk request.
_METADATA = {
    name: name.removeprefix("_")
    for name in (
        "_routing",
        "routing",
        "pipeline",
        "_if_seq_no",
        "if_seq_no",
        "_if_primary_term",
        "if_primary_term",
        "_retry_on_conflict",
        "retry_on_conflict",
        "_version",
        "version",
        "_version_type",
        "version_type",
        "require_alias",
        "dynamic_templates",
    )
}
_MAX_ACTIONS = 500
_MAX_LENGTH = 8 << 20


@dataclass
class Written:
    """How many actions were done and how many ``refused``, and of these which and why."""

    done: int = 0
    refused: int = 0
    rejected: list[Rejected] = field(default_factory=list)

    def add(self, batch: Written, on_written: OnWritten | None) -> None:
        """Count what became of a batch; without ``on_written`` to tell them to, keep what was rejected."""
        self.done += batch.done
        self.refused += batch.refused
        if on_written is None:
            self.rejected += batch.rejected
        else:
            on_written(batch)


OnWritten: TypeAlias = Callable[[Written], object]


def write(index: str, documents: Documents, actions: Sequence[Document], first: int, refresh: bool) -> Plan[Written]:
    """Carry out actions in the form of ``helpers.bulk``, with the fields; ``first`` is the place of the first."""
    written = Written()
    rejected: dict[int, Rejected] = {}

    def reject(one: Rejected) -> None:
        rejected[one.position] = Rejected(one.id, one.position + first, one.reason)

    parsed = [_action(action) for action in documents.actions(actions, reject)]
    positions = [position for position in range(len(actions)) if position not in rejected]
    for start, batch in _batches(parsed):
        results = yield Bulk(index, batch, refresh)
        if results[0].index_error and all(result.index_error for result in results):
            raise results[0].index_error
        for position, result in zip(positions[start : start + len(batch)], results, strict=True):
            if result.error is None:
                written.done += 1
            else:
                rejected[position] = Rejected(result.id, position + first, result.error)
    written.refused = len(rejected)
    written.rejected += [rejected[position] for position in sorted(rejected)]
    return written


def _action(action: Mapping[str, Any]) -> Action:
    """An action as an engine takes it."""
    rest = dict(action)
    op_type = rest.pop("_op_type", "index")
    id_, index = rest.pop("_id", None), rest.pop("_index", None)
    metadata = {inner: rest.pop(outer) for outer, inner in _METADATA.items() if outer in rest}
    if op_type == "update" and not isinstance(rest.get("_source", {}), Mapping):
        metadata["_source"] = rest.pop("_source")
    body = None if op_type == "delete" else rest.get("_source", rest)
    return Action(op_type, None if id_ is None else str(id_), body, index, metadata or None)


def _batches(actions: Sequence[Action]) -> Iterator[tuple[int, list[Action]]]:
    """Batches of bounded count and length, each with the place of its first action."""
    batch: list[Action] = []
    first = length = 0
    for i, action in enumerate(actions):
        own = len(repr(action.body))
        if batch and (length + own > _MAX_LENGTH or len(batch) == _MAX_ACTIONS):
            yield first, batch
            batch, first, length = [], i, 0
        batch.append(action)
        length += own
    if batch:
        yield first, batch
