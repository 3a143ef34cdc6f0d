"""The plan of a backfill: in which order indices are gone through, and how often."""

from __future__ import annotations

from dataclasses import dataclass, replace

from es_simhash.backfill.begun import begin, end, fingerprints
from es_simhash.backfill.patience import patiently
from es_simhash.backfill.progress import Progress
from es_simhash.backfill.scope import BackfillOptions, Part, changed_query, changes_of, due_query
from es_simhash.backfill.tuning import change, set_back
from es_simhash.documents import Documents
from es_simhash.fields import Json
from es_simhash.operations import Count, Operation, Plan, Refresh

# How often an index is gone through for what is left or was changed meanwhile; the rest is for the next run. One of
# several machines cannot tell the changes of the others from those of strangers.
_MOST, _MOST_SHARED = 5, 1


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
        if part.due or part.begun:
            yield from _begun_and_ended(part, documents, options, progress)


def _begun_and_ended(part: Part, documents: Documents, options: BackfillOptions, progress: Progress) -> Plan[None]:
    """All of one index, with a note of what it was like before, for the case that this run does not end."""
    own = 0
    if part.changes and part.begun:
        own = (yield from fingerprints(part.index, documents)) - part.begun.fingerprints
        part = replace(part, changes=part.begun.changes)
    elif part.changes:
        yield from begin(part.index, documents, part.changes)
    yield from _whole(part, own, documents, options, progress)
    if part.changes and options.is_alone and not (part.begun and options.filters):
        yield from end(part.index, documents)


def _whole(part: Part, own: int, documents: Documents, options: BackfillOptions, progress: Progress) -> Plan[None]:
    """All of one index, of whose changes since those of ``part`` so many are our ``own``."""
    changes = part.changes
    written, rejected = progress.written - own, progress.rejected
    query = due_query(documents, options)
    yield Pass(part.index, query)
    for _ in range(_MOST if options.is_alone else _MOST_SHARED):
        yield from patiently(Refresh(part.index), options.patience)
        if changes and (now := (yield from changes_of(part.index, options.patience))):
            by_others = sum(now) - sum(changes) - (progress.written - written)
            since, changes, written = changes, now, progress.written
            if by_others > 0:
                # A text may have changed after its fingerprint was made.
                yield Pass(part.index, changed_query(options, since), again=True)
                continue
        if options.stale or not options.is_alone:
            return
        left = yield from patiently(Count(part.index, query), options.patience)
        if left <= progress.rejected - rejected:
            return
        # New documents, or some that a lost reader left out.
        yield Pass(part.index, query, again=True)
