"""The plan of a reindexing: create the copy, fill it, bring it up to date, verify it, and move aliases to it.

Servers number the changes of each shard. A refresh makes everything up to a certain number searchable, so later passes
read only documents with higher numbers, and a few more, since one number, the lowest, must do for all shards.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from es_simhash._core.json_codec import Json
from es_simhash._core.prefetch import Stop
from es_simhash._core.stages import OnProgress, counted_each, counting, stage
from es_simhash.documents.documents import Documents
from es_simhash.documents.rejected import OnReject, Rejected
from es_simhash.engines.base import Engine, run
from es_simhash.errors import EngineError, IndexStateError, UnreachableError
from es_simhash.live.learning import learn_once, now
from es_simhash.live.reindex.options import ReindexOptions
from es_simhash.live.reindex.survey import ORIGIN, Copying, ReindexSurvey, alias_changes, check_copy, due_query, survey
from es_simhash.live.sweep.reading import Reading, changes_of
from es_simhash.live.sweep.runner import Job, Pass, are_changed, change, set_back
from es_simhash.live.sweep.writing import Progress
from es_simhash.plans.init import bring, make_index
from es_simhash.plans.open_index import note, note_rarity, noted, noted_rarity
from es_simhash.plans.operation_retry import retry, retry_each
from es_simhash.plans.operations import (
    Count,
    DeleteIndex,
    GetAliases,
    GetInfo,
    GetMappings,
    Plan,
    Refresh,
    Search,
    Slice,
    UpdateAliases,
)
from es_simhash.plans.reply_size import documents_by_id
from es_simhash.scheme.mapping import merge

# The most passes over the source for documents changed in the meantime, and the most comparisons with the copy.
_MOST_PASSES, _MOST_LOOKS = 5, 3


@dataclass
class Verified:
    """The comparison: the ``documents`` of the source, the ``copies`` in the destination, the number ``compared``.

    ``different`` documents have no correct copy; ``extra`` copies are of documents no longer in the source.
    """

    JSON = ("*", "missing")

    documents: int = 0
    copies: int = 0
    compared: int = 0
    different: list[Rejected] = field(default_factory=list)
    extra: int = 0

    @property
    def missing(self) -> int:
        """The number of documents without a copy."""
        return max(0, self.documents - (self.copies - self.extra))

    @property
    def is_whole(self) -> bool:
        """Whether the comparison found nothing wrong."""
        return self.documents == self.copies and not self.different


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
    is_made = bool(survey.create) and (yield from retry_each(_make(survey), patience))
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
        for each in done.verified.different:
            on_reject(each)
        copies = done.verified.copies
        if done.verified.documents != copies:
            done.verified.extra = yield from find_extra(source, destination, copies, patience, on_reject)
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


def _make(survey: ReindexSurvey) -> Plan[bool]:
    """Create the destination; return False if a parallel run was faster and has created it."""
    assert survey.create
    made_by_others = yield from make_index(survey.destination, survey.create)
    if made_by_others is None:
        return True
    yield from check_copy(survey.destination, made_by_others, survey.origin)
    if noted(made_by_others[survey.destination], ORIGIN) is None:
        raise IndexStateError(
            f"Another program made the index {survey.destination!r} just now. Run the command again to copy into it."
        )
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


class Reindexing(Job[ReindexSurvey, ReindexOptions]):
    """One run of a reindexing; ``documents`` is the plan that returns the scheme and the fields of the copy."""

    def __init__(
        self,
        engine: Engine,
        source: str,
        destination: str,
        documents: Plan[Documents],
        options: ReindexOptions | None = None,
        stop: Stop | None = None,
    ) -> None:
        options = options or ReindexOptions()
        super().__init__(engine, survey(source, destination, documents, options), options, stop)
        self.progress = Progress(self.survey.source, self.survey.due)

    def run(self, on_progress: OnProgress[Progress] | None = None, on_reject: OnReject | None = None) -> Reindexed:
        """Do it, and return what became of it; documents that cannot be copied are handed to ``on_reject``."""
        runner = self._runner(self.survey.copying, self.progress, on_progress, on_reject)
        return run(reindex(self.survey, self._options, self.progress, on_reject or (lambda _: None)), runner)


# ---- verifying

_EVERYTHING: Json = {"match_all": {}}
_AT_A_TIME = 50
# The most documents that one search finds (index.max_result_window).
_MOST_FOUND = 10_000


def verify(source: str, copying: Copying, sample: int, patience: float) -> Plan[Verified]:
    """Compare an index with its copy."""
    verified = Verified()
    for index in (source, copying.destination):
        yield from retry(Refresh(index), patience)
    verified.documents = yield from retry(Count(source, _EVERYTHING), patience)
    verified.copies = yield from retry(Count(copying.destination, _EVERYTHING), patience)
    chosen = yield from _sample(source, min(sample, verified.documents), verified.documents, patience)
    verified.compared = len(chosen)
    verified.different = yield from differences(source, copying, chosen, patience)
    return verified


def _sample(index: str, size: int, documents: int, patience: float) -> Plan[list[Json]]:
    """Draw documents of an index at random, without their source."""
    if not size:
        return []
    if (yield from retry(GetInfo(), patience)).distribution == "embedded":
        return (yield from _sample_by_share(index, size, documents, patience))
    drawn = {"random_score": {"seed": random.getrandbits(31), "field": "_seq_no"}}
    query = {"function_score": {"query": _EVERYTHING, **drawn}}
    body = {"query": query, "size": min(size, _MOST_FOUND), "_source": False}
    reply = yield from retry(Search(index, body), patience)
    hits: list[Json] = reply["hits"]["hits"]
    return hits


def _sample_by_share(index: str, size: int, documents: int, patience: float) -> Plan[list[Json]]:
    """Draw documents from an engine without random scores: a random slice of about ``size`` documents."""
    count = max(1, documents // size)
    reading = Reading(index, _EVERYTHING, False, Slice(random.randrange(count), count), patience)
    chosen: list[Json] = []
    while len(chosen) < size and (hits := (yield from reading.next())):
        chosen += hits
    yield from reading.close()
    return chosen[:size]


def differences(source: str, copying: Copying, chosen: Sequence[Json], patience: float) -> Plan[list[Rejected]]:
    """Find the documents whose copies differ from copies made now."""
    different: list[Rejected] = []
    starts = range(0, len(chosen), _AT_A_TIME)
    for start in counted_each("Verifying", starts, len(starts), "parts"):
        found = yield from _documents(source, chosen[start : start + _AT_A_TIME], None, patience)
        hits = [hit for hit in found if hit["found"]]
        copies = yield from _documents(copying.destination, hits, None, patience)
        bodies, _ = copying.bodies(hits)
        for hit, copy, body in zip(hits, copies, bodies, strict=True):
            if copy.get("_source") != body:
                how = "is another document" if copy["found"] else "is missing"
                reason = f"The copy of it in {copying.destination!r} {how}. Run the reindexing again."
                different.append(Rejected(index=hit["_index"], id=hit["_id"], reason=reason))
    return different


def find_extra(source: str, destination: str, copies: int, patience: float, on_reject: OnReject) -> Plan[int]:
    """Count and report the documents, among about this many ``copies``, that were deleted in the source."""
    extra: set[tuple[str, str | None]] = set()
    reading, done = Reading(destination, _EVERYTHING, False, None, patience), 0
    with counting("Looking for deleted documents", copies) as advance:
        while hits := (yield from reading.next()):
            found = yield from _documents(source, hits, [], patience)
            for hit, there in zip(hits, found, strict=True):
                if not there["found"] and (key := (hit["_id"], hit.get("_routing"))) not in extra:
                    extra.add(key)
                    reason = f"It is no longer in {source!r}. Delete this copy of it, then run the reindexing again."
                    on_reject(Rejected(index=destination, id=hit["_id"], reason=reason))
            done += len(hits)
            advance(done)
    return len(extra)


def _documents(index: str, hits: Sequence[Json], source: Sequence[str] | None, patience: float) -> Plan[list[Json]]:
    """Read the documents of hits from an index."""
    ids, routings = [hit["_id"] for hit in hits], [hit.get("_routing") for hit in hits]
    return (yield from documents_by_id(index, ids, source, routings, patience=patience))
