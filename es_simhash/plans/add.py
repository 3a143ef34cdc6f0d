"""Writing documents to an index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from es_simhash._core.json_paths import Json
from es_simhash._core.stages import OnProgress
from es_simhash.documents.actions import Document, checked_id
from es_simhash.documents.documents import Documents, kept, prepared, results, tasks_of
from es_simhash.documents.rejected import OnReject, Rejected
from es_simhash.plans.bulk import RequestSize, send
from es_simhash.plans.online_groups import give_groups
from es_simhash.plans.operation_retry import retry, retry_all
from es_simhash.plans.operations import Action, ActionResult, Bulk, Plan, Refresh
from es_simhash.plans.search_terms import SearchTerms

# The metadata that helpers.bulk reads from a document, and their names in a bulk request.
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

# What the names of the indices behind a data stream begin with, and no other.
_BACKING = ".ds-"


@dataclass
class Written:
    """The number of actions done and ``refused``, with the reason for each refusal."""

    done: int = 0
    refused: int = 0
    rejected: list[Rejected] = field(default_factory=list)

    def add(self, batch: Written, on_progress: OnProgress[Written] | None, on_reject: OnReject | None) -> None:
        """Add the counts of a batch; keep its rejected documents unless ``on_reject`` takes them."""
        self.done += batch.done
        self.refused += batch.refused
        batch.rejected.sort(key=lambda one: one.position)
        if on_reject is None:
            self.rejected += batch.rejected
        else:
            for one in batch.rejected:
                on_reject(one)
        if on_progress:
            on_progress(self)

    def reject(self, one: Rejected) -> None:
        """Count an action that was not done."""
        self.refused += 1
        self.rejected.append(one)


@dataclass
class Writer:
    """A writer to an index, which waits up to ``patience`` seconds for an engine that is away or overloaded.

    With ``grouping``, by which near-duplicates are found, documents get their groups as well. Of the ``indices`` behind
    the name, each stands for itself. If what is written is to ``refresh``, `show` has to end the writing.
    """

    index: str
    documents: Documents
    refresh: bool
    patience: float
    grouping: SearchTerms | None = None
    indices: frozenset[str] = frozenset()
    _pressure: RequestSize = field(default_factory=RequestSize)
    # The names that were written to, and are still to be refreshed.
    _hidden: dict[str, None] = field(default_factory=dict)

    @property
    def rolls(self) -> bool:
        """Whether the name is that of an alias or a data stream, which may stand for another index the next time."""
        return self.index not in self.indices

    @property
    def is_stream(self) -> bool:
        """Whether the name is that of a data stream, which takes nothing but ``create``."""
        return any(name.startswith(_BACKING) for name in self.indices)

    def write(self, actions: Sequence[Document], first: int, written: Written, *, is_all: bool = False) -> Plan[None]:
        """Perform actions in the form of ``helpers.bulk``, with the fields; ``first`` is the position of the first.

        ``written`` receives each result as soon as it is known, even if this raises. Actions that are known to be all
        (``is_all``) are refreshed by their own request, if one takes them.
        """
        rejected: set[int] = set()

        def reject(one: Rejected) -> None:
            rejected.add(one.position)
            written.reject(replace(one, position=one.position + first))

        parsed = [_action(action) for action in (yield from self._made(actions, reject))]
        positions = [position + first for position in range(len(actions)) if position not in rejected]

        def take(places: Sequence[int], answers: Sequence[ActionResult]) -> None:
            if answers[0].index_error and all(answer.index_error for answer in answers):
                raise answers[0].index_error
            for place, result in zip(places, answers, strict=True):
                if result.error is None:
                    written.done += 1
                    if self.refresh and not (is_all and len(answers) == len(parsed)):
                        self._hidden[parsed[place].index or self.index] = None
                else:
                    reason, place_given, may_pass = result.error, positions[place], result.may_pass
                    written.reject(Rejected(id=result.id, position=place_given, reason=reason, may_pass=may_pass))

        rolls = any((action.index or self.index) not in self.indices for action in parsed)
        yield from send(Bulk(self.index, parsed, self.refresh and is_all, rolls), take, self._pressure, self.patience)

    def show(self, patience: float) -> Plan[None]:
        """Make all that was written visible to searches: once for each name, however many documents were written."""
        while self._hidden:
            index, _ = self._hidden.popitem()
            yield from retry(Refresh(index), patience)

    def _made(self, actions: Sequence[Document], reject: OnReject) -> Plan[Iterator[Json]]:
        """Return the actions with the fields."""
        terms = self.grouping
        if terms is None:
            return prepared(self.documents, actions, reject)
        tasks = tasks_of(self.documents, actions)
        yield from retry_all(lambda: give_groups(terms, tasks), self.patience)
        return kept(results(tasks), reject)


def _action(action: Mapping[str, Any]) -> Action:
    """Return an action in the form that engines take."""
    rest = dict(action)
    op_type = rest.pop("_op_type", "index")
    id_, index = checked_id(action), rest.pop("_index", None)
    rest.pop("_id", None)
    metadata = {inner: rest.pop(outer) for outer, inner in _METADATA.items() if outer in rest}
    if op_type == "update" and not isinstance(rest.get("_source", {}), Mapping):
        metadata["_source"] = rest.pop("_source")
    body = None if op_type == "delete" else rest.get("_source", rest)
    return Action(op_type, id_, body, index, metadata or None)
