"""The plan of a backfill: the passes over each index, until nothing is due and nobody has changed anything."""

from __future__ import annotations

from dataclasses import dataclass, replace

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.live.backfill.options import BackfillOptions, changed_query, due_query
from es_simhash.live.backfill.survey import begin, begun, end, fingerprints
from es_simhash.live.doctor.facts import Part
from es_simhash.live.sweep.reading import Changes, changes_of, make_visible
from es_simhash.live.sweep.runner import Pass, change, set_back
from es_simhash.live.sweep.writing import Progress
from es_simhash.plans.operation_retry import retry, retry_each
from es_simhash.plans.operations import Count, GetMappings, Plan, Refresh

# The most passes over an index for documents left out or changed in the meantime; the rest is for the next run. One of
# several machines cannot distinguish the changes of the other machines from those of strangers.
_MOST, _MOST_SHARED = 5, 1


def settings_for(part: Part, options: BackfillOptions) -> Plan[None]:
    """Set back settings that a killed run has left changed, and change those of this run."""
    yield from retry_each(set_back(part.index), options.patience)
    if part.due and options.settings:
        yield from retry_each(change(part.index, options.settings), options.patience)


def passes(parts: list[Part], documents: Documents, options: BackfillOptions, progress: Progress) -> Plan[None]:
    """Do the whole backfill of these indices."""
    for part in parts:
        if part.due or part.is_begun:
            yield from _begun_and_ended(part, documents, options, progress)


def _begun_and_ended(part: Part, documents: Documents, options: BackfillOptions, progress: Progress) -> Plan[None]:
    """Backfill one index, with a note in it of what was certainly seen, in case this run is killed."""
    if part.changes is None:
        yield from _unwatched(part, documents, options, progress)
        return
    index = part.index
    watch = Watch(index, part.changes, progress, progress.written, options.patience)
    before = begun((yield from retry(GetMappings(index), options.patience))[index], documents)
    if before:
        own = (yield from retry_each(fingerprints(index, documents), options.patience)) - before.fingerprints
        watch = replace(watch, seen=before.changes, made=progress.written - own)
    else:
        yield from retry_each(begin(index, documents, part.changes), options.patience)
    ends = options.is_alone and not (before and options.filters)
    yield from _watched(part, watch, ends, documents, options)
    progress.seen[index] = watch.seen


def _unwatched(part: Part, documents: Documents, options: BackfillOptions, progress: Progress) -> Plan[None]:
    """Backfill one index whose changes have no numbers, so that only documents left out can be noticed."""
    query, rejected = due_query(documents, options), progress.rejected
    yield Pass(part.index, query)
    for _ in range(_most(options)):
        yield from retry(Refresh(part.index), options.patience)
        if not (yield from _are_left(part, query, options, progress.rejected - rejected)):
            return
        yield Pass(part.index, query, again=True)


def _watched(part: Part, watch: Watch, ends: bool, documents: Documents, options: BackfillOptions) -> Plan[None]:
    """Backfill one index, and read again what others change in the meantime, until they change nothing more.

    If the run ``ends`` what was begun, its note is removed. If others still write after the last look, a note stays, so
    that the next run knows where to start.
    """
    index, progress = part.index, watch.progress
    query, rejected, stale = due_query(documents, options), progress.rejected, 0
    yield Pass(index, query)
    for _ in range(_most(options)):
        since = watch.seen
        if (yield from watch.look()):
            written = progress.written
            # A text may have changed after its fingerprint was made.
            yield Pass(index, changed_query(options, since), again=True)
            stale += progress.written - written
        elif (yield from _are_left(part, query, options, progress.rejected - rejected)):
            # New documents, or some that a lost reader left out.
            yield Pass(index, query, again=True)
        elif not ends:
            return
        else:
            yield from retry_each(end(index, documents), options.patience)
            # These were not read yet, so they may be stale.
            if not (unseen := (yield from _noted_again(watch, documents))):
                return
            stale += unseen
    if ends:
        unseen = yield from _noted_again(watch, documents)
        # If no look found anything stale, others write, but not texts.
        progress.unsettled += unseen if stale else 0


def _noted_again(watch: Watch, documents: Documents) -> Plan[int]:
    """Count the changes of others since the last look; if there are any, note where the next run must start."""
    unseen = max(0, (yield from watch.others()))
    if unseen:
        yield from retry_each(begin(watch.index, documents, watch.seen), watch.patience)
    return unseen


def _are_left(part: Part, query: Json, options: BackfillOptions, rejected: int) -> Plan[bool]:
    """Return whether more documents are due than were rejected; one of several machines cannot know that."""
    if options.refresh_stale or not options.is_alone:
        return False
    return (yield from retry(Count(part.index, query), options.patience)) > rejected


def _most(options: BackfillOptions) -> int:
    return _MOST if options.is_alone else _MOST_SHARED


@dataclass
class Watch:
    """A watch for changes by others: the changes ``seen`` so far, and the number of those ``made`` by this job."""

    index: str
    seen: list[int]
    progress: Progress
    made: int
    patience: float

    def look(self) -> Plan[int]:
        """Make all changes visible, and count those of others; all changes before this look now count as seen."""
        changes = yield from make_visible(self.index, self.patience)
        others = self._others(changes)
        if changes:
            self.seen, self.made = changes.safe, self.progress.written
        return others

    def others(self) -> Plan[int]:
        """Count the changes of others not seen yet."""
        return self._others((yield from changes_of(self.index, self.patience)))

    def _others(self, changes: Changes | None) -> int:
        # Our own changes have all been acknowledged, so they are among the last ones. Some that were not safe yet at
        # the last look count twice: then there is one look too many, never one too few.
        return changes.since(self.seen) - (self.progress.written - self.made) if changes else 0
