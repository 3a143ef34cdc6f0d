"""The report on an erasure: what was deleted and what was left, by hashes, never with the erased text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from es_simhash._core.humanize import counted
from es_simhash._core.rows import Result
from es_simhash.live.erase.copies import Copy, Source
from es_simhash.live.erase.options import EraseOptions

# Why a document is left: the reviewer dropped it; it appeared after the review, or changed, and nobody has confirmed
# its text; it has changed, and is no copy any more; the engine refused to delete it; others write copies faster than
# these can be deleted.
Reason: TypeAlias = Literal["dropped", "appeared", "changed", "no copy now", "refused", "too many rounds"]


@dataclass(frozen=True)
class Deleted:
    """A copy that was deleted, when, and in which round; it ``appeared`` if no review or earlier round had it."""

    copy: Copy
    round: int
    time: str
    appeared: bool


@dataclass(frozen=True)
class Left:
    """A document that was not deleted, and why; ``detail`` is what the engine said."""

    copy: Copy
    reason: Reason
    detail: str = ""


@dataclass
class Erased(Result):
    """The result of an erasure: the documents deleted and left, and the login that did it.

    ``gone`` confirmed documents were deleted by others. ``incomplete`` says where copies may have been missed. Until
    the erasure is over, ``finished`` is None.
    """

    JSON = ("*", "is_complete")

    index: str
    by: str
    started: str
    sources: Sequence[Source]
    options: EraseOptions
    within: Sequence[str] = ()
    finished: str | None = None
    rounds: int = 0
    deleted: list[Deleted] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    gone: int = 0
    conflicts: int = 0
    incomplete: list[str] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether no copies are left, apart from those that the reviewer dropped, and none may have been missed."""
        is_over = self.finished is not None and not self.incomplete
        return is_over and all(each.reason == "dropped" for each in self.left)

    def to_text(self) -> str:
        """Return the report for people."""
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"Erasure in {self.index}, by {self.by}"
        yield f"Started {self.started}, {'finished ' + self.finished if self.finished else 'not finished'}"
        criteria = f"Jaccard similarity from {self.options.similarity}, or containment from {self.options.containment}"
        yield f"{counted(self.rounds, 'round')}; copies by {criteria}"
        for source in self.sources:
            yield f"Copies of {source.name}, SHA-256 {source.sha256}"
        yield f"{counted(len(self.deleted), 'document')} deleted, {len(self.left)} left, {self.gone} gone before"
        for deleted in self.deleted:
            when = f"round {deleted.round}, {deleted.time}{', appeared meanwhile' if deleted.appeared else ''}"
            yield f"  deleted  {_line(deleted.copy)}, {when}"
        for left in self.left:
            detail = f": {left.detail}" if left.detail else ""
            yield f"  left     {_line(left.copy)}, {left.reason}{detail}"
        for where in self.incomplete:
            yield f"Copies may have been missed: {where}"


def _line(copy: Copy) -> str:
    shares = f"similarity {copy.similarity:.3f}, containment {copy.containment:.3f}"
    version = f"sequence number {copy.seq_no}, term {copy.primary_term}"
    return f"{copy.index} {copy.id!r}: {copy.kind}, {shares}, {version}, SHA-256 {copy.sha256}"
