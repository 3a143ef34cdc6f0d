"""The survey before a long job: which indices it will go through, which it leaves out, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from es_simhash._core.json_paths import Json
from es_simhash.live.doctor.finding import Finding, refusal
from es_simhash.live.sweep.changes import make_visible
from es_simhash.plans.operations import Count, Plan


@dataclass(frozen=True)
class Part:
    """One concrete index: ``due`` documents to look at, of ``documents``, and the safe changes of its shards so far.

    ``is_begun`` if runs that have not ended left a note in it.
    """

    JSON = ("index", "due", "documents", "is_begun")

    index: str
    due: int
    documents: int
    changes: list[int] | None
    is_begun: bool = False


@dataclass(frozen=True)
class Survey:
    """The ``parts`` to go through, the names of the indices that are ``left_out``, and the findings that say why."""

    JSON = ("index", "parts", "left_out", "findings")

    index: str
    parts: list[Part]
    left_out: list[str]
    findings: list[Finding]

    def check(self) -> None:
        """Raise the findings if they leave nothing to do."""
        if self.left_out and not self.parts:
            raise refusal(self.index, self.findings)


def part_of(index: str, query: Json) -> Plan[Part]:
    """Count the documents of one concrete index that a query finds, and all of them."""
    # Documents written a moment ago count as well.
    changes = yield from make_visible(index, 0)
    due = yield Count(index, query)
    total = yield Count(index, {"match_all": {}})
    return Part(index, due, total, changes.safe if changes else None)


def changed_after(changes: Sequence[int]) -> Json:
    """Return the query for documents changed after these changes of shards."""
    return {"range": {"_seq_no": {"gt": min(changes)}}}
