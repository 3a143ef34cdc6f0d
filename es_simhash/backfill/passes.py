"""The plan of a backfill: in which order indices are gone through, and how often."""

from __future__ import annotations

from dataclasses import dataclass

from es_simhash.backfill.patience import patiently
from es_simhash.backfill.progress import Progress
from es_simhash.backfill.scope import BackfillOptions, Part, changed_query, changes_of, due_query
from es_simhash.backfill.tuning import change, set_back
from es_simhash.documents import Documents
from es_simhash.fields import Json
from es_simhash.operations import Count, Operation, Plan, Refresh

# How often an index is gone through for what is left or was changed meanwhile; the rest is for the next run.
_MOST = 5


@dataclass(frozen=True)
class Pass(Operation[None]):
    """Bring all documents of an index that a query finds up to date. Engines never see this: the runner does it.

    ``again`` says that they may have been counted before.
    """

    index: str
    query: Json
    again: bool = False


def settings_for(part: Part, options: BackfillOptions) -> Plan[None]:
    """Set back what a run that was killed has left of changed settings, and change those that this one is to."""
    yield from set_back(part.index)
    if part.due and options.settings:
        yield from change(part.index, options.settings)


def passes(parts: list[Part], documents: Documents, options: BackfillOptions, progress: Progress) -> Plan[None]:
    """Everything that is to be done in these indices."""
    for part in parts:
        if part.due:
            yield from _whole(part, documents, options, progress)


def _whole(part: Part, documents: Documents, options: BackfillOptions, progress: Progress) -> Plan[None]:
    changes, written = part.changes, progress.written
    query = due_query(documents, options)
    yield Pass(part.index, query)
    for _ in range(_MOST):
        yield from patiently(Refresh(part.index), options.patience)
        if (now := (yield from changes_of(part.index))) and changes:
            by_others = sum(now) - sum(changes) - (progress.written - written)
            changes, since, written = now, changes, progress.written
            if by_others > 0:
                # A text may have changed after its fingerprint was made.
                yield Pass(part.index, changed_query(options, since), again=True)
                continue
        if options.stale or not (yield from _some_left(part.index, query, options, progress)):
            return
        yield Pass(part.index, query, again=True)


def _some_left(index: str, query: Json, options: BackfillOptions, progress: Progress) -> Plan[bool]:
    """Whether there is more to do than what was rejected: new documents, or some that a lost reader left out."""
    if options.share != (0, 1):
        return False  # what is left may be that of the other machines
    left = yield from patiently(Count(index, query), options.patience)
    return left > progress.rejected
