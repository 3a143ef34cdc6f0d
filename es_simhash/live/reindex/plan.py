"""The plan of a reindexing: create the copy, fill it, bring it up to date, verify it, and move aliases to it.

Servers number the changes of each shard. A refresh makes everything up to a certain number searchable, so later passes
read only documents with higher numbers, and a few more, since one number, the lowest, must do for all shards.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from es_simhash._core.stages import stage
from es_simhash.documents.rejected import OnReject, Rejected
from es_simhash.errors import EngineError, UnreachableError
from es_simhash.live.learning import learn_once, now
from es_simhash.live.reindex.options import ReindexOptions
from es_simhash.live.reindex.survey import ORIGIN, ReindexSurvey, alias_changes, check_copy, due_query
from es_simhash.live.reindex.verifying import Verified, differences, find_extra, verify
from es_simhash.live.sweep.progress import Progress
from es_simhash.live.sweep.reading import Reading, changes_of
from es_simhash.live.sweep.runner import Pass
from es_simhash.live.sweep.temporary_settings import are_changed, change, set_back
from es_simhash.plans.init import bring, make_index
from es_simhash.plans.open_index import note, note_rarity, noted_rarity
from es_simhash.plans.operation_retry import retry, retry_each
from es_simhash.plans.operations import Count, DeleteIndex, GetAliases, GetMappings, Plan, Refresh, UpdateAliases
from es_simhash.scheme.mapping import merge

# The most passes over the source for documents changed in the meantime, and the most comparisons with the copy.
_MOST_PASSES, _MOST_LOOKS = 5, 3


@dataclass
class Reindexed:
    """The result of a reindexing; ``aliases`` now stand for the copy.

    ``late`` documents were changed in the source after the last look and before an alias was moved.
    """

    JSON = ("verified", "is_whole", "aliases", "late")

    progress: Progress
    verified: Verified = field(default_factory=Verified)
    aliases: list[str] = field(default_factory=list)
    late: int = 0

    @property
    def is_verified(self) -> bool:
        """Whether the comparison found nothing wrong with the copy."""
        return self.verified.is_whole and not self.progress.rejected

    @property
    def is_whole(self) -> bool:
        """Whether the copy is complete and correct."""
        return self.is_verified and not self.late


def reindex(survey: ReindexSurvey, options: ReindexOptions, progress: Progress, on_reject: OnReject) -> Plan[Reindexed]:
    """Do the whole reindexing, and hand documents without a correct copy to ``on_reject``."""
    done = Reindexed(progress)
    source, destination, patience = survey.source, survey.destination, options.patience
    is_made = bool(survey.create) and (yield from retry_each(_make(survey, options), patience))
    try:
        yield from retry_each(_begin(survey), patience)
        changes = yield from _copy(survey, patience, survey.since, progress)
    except EngineError as error:
        if is_made and not isinstance(error, UnreachableError):
            yield from _delete_if_empty(destination, error)
        raise
    for _ in range(_MOST_LOOKS):
        with stage("verify"):
            done.verified = yield from verify(source, survey.copying, options.sample, patience)
        if done.verified.is_whole or (yield from _settled(source, patience)) == changes:
            break
        # The source changed during the comparison.
        changes = yield from _copy(survey, patience, changes, progress)
    yield from retry_each(set_back(destination), patience)
    if not done.is_verified:
        # Documents that count as copied may not be: the next run reads all of them.
        yield from retry_each(note(destination, ORIGIN, survey.origin), patience)
        yield from _report_differences(survey, done.verified, patience, on_reject)
        return done
    with stage("learn"):
        progress.learnt = yield from learn_once(destination, survey.copying.documents, now(), patience)
    if options.aliases:
        # Read again: the definitions of aliases may have changed in the meantime.
        yield UpdateAliases((yield from alias_changes(source, destination, options.aliases)))
        done.aliases = list(options.aliases)
        done.late = yield from _report_late(survey, changes, patience, on_reject)
    return done


def _begin(survey: ReindexSurvey) -> Plan[None]:
    """Prepare the destination: its mapping, its note, and its settings during the run."""
    destination = survey.destination
    if survey.create:
        # A template may have added an alias that programs use.
        aliases = (yield GetAliases(destination))[destination]
        if aliases:
            yield UpdateAliases([{"remove": {"index": destination, "alias": alias}} for alias in aliases])
    if survey.mapping:
        yield from bring(destination, survey.wanted)
    if not survey.create and not survey.since:
        yield from note(destination, ORIGIN, survey.origin)
    documents = survey.copying.documents
    if survey.learnt and noted_rarity((yield GetMappings(destination)), documents) is None:
        yield from note_rarity(destination, documents, survey.learnt)
    if survey.interim and not are_changed((yield GetMappings(destination))[destination]):
        yield from change(destination, survey.interim)


def _make(survey: ReindexSurvey, options: ReindexOptions) -> Plan[bool]:
    """Create the destination; return False if a parallel run was faster and has created it."""
    assert survey.create
    made_by_others = yield from make_index(survey.destination, survey.create)
    if made_by_others is None:
        return True
    yield from check_copy(survey.destination, made_by_others, survey.origin, options)
    merge(survey.destination, made_by_others[survey.destination], survey.wanted)
    return False


def _delete_if_empty(destination: str, error: EngineError) -> Plan[None]:
    """Delete a new index that nothing could be written to, and raise the error with what became of the index."""
    try:
        yield Refresh(destination)
        if (yield Count(destination, {"match_all": {}})):
            return
        yield DeleteIndex(destination)
    except EngineError as other:
        raise type(error)(
            f"{error} The index {destination!r} was made for the copy, and could not be deleted again: {other} "
            "If it is empty, delete it, or solve the problem and run the command again, which continues with it."
        ) from error
    raise type(error)(f"{error} The index {destination!r}, made for the copy and empty, was deleted again.") from error


def _copy(
    survey: ReindexSurvey, patience: float, since: list[int] | None, progress: Progress
) -> Plan[list[int] | None]:
    """Copy what was changed since, or everything; return the changes up to which the source is copied."""
    with stage("documents"):
        return (yield from _passes(survey, patience, since, progress))


def _passes(
    survey: ReindexSurvey, patience: float, since: list[int] | None, progress: Progress
) -> Plan[list[int] | None]:
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
            seen = {**survey.origin, "changes": since}
            yield from retry_each(note(survey.destination, ORIGIN, seen), patience)
    return since


def _settled(index: str, patience: float) -> Plan[list[int] | None]:
    """Return, for each shard, the number up to which a refresh makes all changes searchable."""
    changes = yield from changes_of(index, patience)
    return changes.safe if changes else None


def _report_differences(survey: ReindexSurvey, verified: Verified, patience: float, on_reject: OnReject) -> Plan[None]:
    for each in verified.different:
        on_reject(each)
    if verified.documents != verified.copies:
        verified.extra = yield from find_extra(survey.source, survey.destination, verified.copies, patience, on_reject)


def _report_late(survey: ReindexSurvey, since: list[int] | None, patience: float, on_reject: OnReject) -> Plan[int]:
    """Report and count the documents changed in the source while the alias was being moved."""
    if since is None or (yield from _settled(survey.source, patience)) == since:
        return 0
    late: set[str | None] = set()
    yield from retry(Refresh(survey.source), patience)
    reading = Reading(survey.source, due_query(since), False, None, patience)
    while hits := (yield from reading.next()):
        # The lowest number of all shards also finds documents whose copies are right.
        for each in (yield from differences(survey.source, survey.copying, hits, patience)):
            if each.id in late:
                continue
            late.add(each.id)
            reason = "It was changed after the last look. Check it and its copy."
            on_reject(Rejected(index=each.index, id=each.id, reason=reason))
    return len(late)
