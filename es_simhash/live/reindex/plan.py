"""The plan of a reindexing: the copy is made, filled, brought up to date, verified, and put in the place of the source.

Servers number the changes of each shard. Everything up to a certain number is searchable after a refresh, so that later
passes need to read only what has a higher one; and little more, since the lowest of all shards has to do.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from es_simhash.documents.rejected import OnReject, Rejected
from es_simhash.errors import EngineError, UnreachableError
from es_simhash.live.reindex.aliases import alias_changes
from es_simhash.live.reindex.survey import ORIGIN, ReindexOptions, ReindexSurvey, check_copy, due_query
from es_simhash.live.reindex.verifying import Verified, differences, find_extra, verify
from es_simhash.live.sweep.changes import changes_of
from es_simhash.live.sweep.notes import note
from es_simhash.live.sweep.progress import Progress
from es_simhash.live.sweep.reading import Reading
from es_simhash.live.sweep.runner import Pass
from es_simhash.live.sweep.temporary_settings import are_changed, change, set_back
from es_simhash.plans.init import make_index
from es_simhash.plans.operations import (
    Count,
    DeleteIndex,
    GetAliases,
    GetMappings,
    Plan,
    PutMapping,
    Refresh,
    UpdateAliases,
)
from es_simhash.plans.retry import retry
from es_simhash.scheme.mapping import merge

# How often the source is gone through for what was changed meanwhile, and compared with the copy.
_MOST_PASSES, _MOST_LOOKS = 5, 3


@dataclass
class Reindexed:
    """What a reindexing came to; ``aliases`` stand for the copy now.

    ``late`` documents were changed in the source after the last look and before an alias was moved.
    """

    progress: Progress
    verified: Verified = field(default_factory=Verified)
    aliases: list[str] = field(default_factory=list)
    late: int = 0

    @property
    def is_verified(self) -> bool:
        """Whether nothing spoke against the copy when it was compared."""
        return self.verified.is_whole and not self.progress.rejected

    @property
    def is_whole(self) -> bool:
        """Whether the copy is what it should be."""
        return self.is_verified and not self.late


def reindex(survey: ReindexSurvey, options: ReindexOptions, progress: Progress, tell: OnReject) -> Plan[Reindexed]:
    """Do all that is to be done, and tell which copies are not as they should be in the end."""
    done = Reindexed(progress)
    source, destination, patience = survey.source, survey.destination, options.patience
    is_made = bool(survey.create) and (yield from _make(survey, options))
    try:
        yield from _begin(survey)
        changes = yield from _copy(survey, patience, survey.since, progress)
    except EngineError as error:
        if is_made and not isinstance(error, UnreachableError):
            yield from _delete_if_empty(destination, error)
        raise
    for _ in range(_MOST_LOOKS):
        done.verified = yield from verify(source, survey.copying, options.sample, patience)
        if done.verified.is_whole or (yield from _settled(source, patience)) == changes:
            break
        # It was changed while it was compared.
        changes = yield from _copy(survey, patience, changes, progress)
    yield from set_back(destination)
    if not done.is_verified:
        # What was thought to be copied may not be: the next run looks at all of it.
        yield from note(destination, ORIGIN, survey.origin)
        yield from _tell_differences(survey, done.verified, patience, tell)
    elif options.aliases:
        # As they are by now: what they say may have been changed while documents were copied.
        yield UpdateAliases((yield from alias_changes(source, destination, options.aliases)))
        done.aliases = list(options.aliases)
        done.late = yield from _tell_late(survey, changes, patience, tell)
    return done


def _begin(survey: ReindexSurvey) -> Plan[None]:
    """Add to the mapping of the destination, if it was there, and change its settings for the time being."""
    destination = survey.destination
    if survey.create:
        # A template may have put it behind an alias that programs use.
        aliases = (yield GetAliases(destination))[destination]
        if aliases:
            yield UpdateAliases([{"remove": {"index": destination, "alias": alias}} for alias in aliases])
    if survey.mapping:
        yield PutMapping(destination, survey.mapping)
    if not survey.create and not survey.since:
        yield from note(destination, ORIGIN, survey.origin)
    if survey.meanwhile and not are_changed((yield GetMappings(destination))[destination]):
        yield from change(destination, survey.meanwhile)


def _make(survey: ReindexSurvey, options: ReindexOptions) -> Plan[bool]:
    """Make the destination; False if another run of the same, which was quicker, has made the same one."""
    assert survey.create
    made_by_others = yield from make_index(survey.destination, survey.create)
    if made_by_others is None:
        return True
    yield from check_copy(survey.destination, made_by_others, survey.origin, options)
    documents = survey.copying.documents
    wanted = documents.scheme.mapping(documents.prefix, documents.fields)
    merge(survey.destination, made_by_others[survey.destination], wanted)
    return False


def _delete_if_empty(destination: str, error: EngineError) -> Plan[None]:
    """Leave no index behind that was made in vain, since nothing could be written to it; the error says what became."""
    try:
        yield Refresh(destination)
        if (yield Count(destination, {"match_all": {}})):
            return
        yield DeleteIndex(destination)
    except EngineError as other:
        raise type(error)(
            f"{error} The index {destination!r} was made for the copy, and could not be deleted again: {other} "
            "If it is empty, delete it, or run the command again once that is set right: it goes on with it."
        ) from error
    raise type(error)(f"{error} The index {destination!r}, made for the copy and empty, was deleted again.") from error


def _copy(
    survey: ReindexSurvey, patience: float, since: list[int] | None, progress: Progress
) -> Plan[list[int] | None]:
    """Copy what was changed since, or all; the result tells up to where the source is copied then."""
    for _ in range(_MOST_PASSES):
        changes = yield from _settled(survey.source, patience)
        if since is not None and changes == since:
            break
        yield from retry(Refresh(survey.source), patience)
        yield Pass(survey.source, due_query(since), again=since is not survey.since)
        since = changes
        if since is None:
            break
        if not progress.rejected:
            yield from note(survey.destination, ORIGIN, {**survey.origin, "changes": since})
    return since


def _settled(index: str, patience: float) -> Plan[list[int] | None]:
    """The number of each shard up to which a refresh makes all changes searchable."""
    changes = yield from changes_of(index, patience)
    return changes.safe if changes else None


def _tell_differences(survey: ReindexSurvey, verified: Verified, patience: float, tell: OnReject) -> Plan[None]:
    for each in verified.different:
        tell(each)
    if verified.documents != verified.copies:
        verified.extra = yield from find_extra(survey.source, survey.destination, patience, tell)


def _tell_late(survey: ReindexSurvey, since: list[int] | None, patience: float, tell: OnReject) -> Plan[int]:
    """Tell what came into the source too late, while the alias was being moved; the result is how much."""
    if since is None or (yield from _settled(survey.source, patience)) == since:
        return 0
    late: set[str | None] = set()
    yield from retry(Refresh(survey.source), patience)
    reading = Reading(survey.source, due_query(since), False, None, patience)
    while hits := (yield from reading.next()):
        # The numbers of the other shards may have brought some that are as they should be.
        for each in (yield from differences(survey.source, survey.copying, hits, patience)):
            if each.id in late:
                continue
            late.add(each.id)
            reason = "It was changed after the last look. See whether it, or its copy, is as it should be."
            tell(Rejected(index=each.index, id=each.id, reason=reason))
    return len(late)
