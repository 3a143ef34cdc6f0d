"""Copying an index to a new one with fingerprints: a survey, the copy, and its aliases.

Each document is written with its version in the source, so that a copy never replaces a newer one, and a run can be
stopped anywhere and begun again. Nothing is deleted.

Servers number the changes of each shard. A refresh makes everything up to a certain number searchable, so later passes
read only documents with higher numbers, and a few more, since one number, the lowest, must do for all shards.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from es_simhash._core.batches import OnProgress, Stop, counted_each, counting, stage
from es_simhash._core.json_codec import Json, is_false
from es_simhash.documents.decisions import decisions_note
from es_simhash.documents.documents import Documents, prepared
from es_simhash.documents.sources import OnReject, Rejected
from es_simhash.engines.base import Engine, run
from es_simhash.errors import EngineError, IndexStateError, InputError, MappingError, MissingError, UnreachableError
from es_simhash.live.doctor.engine import check_rights_in_new
from es_simhash.live.learning import learn_once, now
from es_simhash.live.sweep.reading import DocumentRef, Reading, RunOptions, changed_after, changes_of
from es_simhash.live.sweep.writing import (
    Job,
    Pass,
    Prepared,
    Progress,
    Update,
    are_changed,
    change,
    read_again,
    set_back,
)
from es_simhash.plans.init import bring, make_index, new_index, with_properties
from es_simhash.plans.open_index import grouping_noted, groups_note, note, note_rarity, noted, noted_rarity
from es_simhash.plans.operations import (
    Action,
    Count,
    DeleteIndex,
    GetAliases,
    GetInfo,
    GetMappings,
    GetSettings,
    Plan,
    Refresh,
    Search,
    Slice,
    UpdateAliases,
    retry,
    retry_each,
)
from es_simhash.plans.reply_size import documents_by_id
from es_simhash.plans.text_fields import (
    check_text_fields,
    fields_in_no_document,
    foreign_in,
    has_these_fields,
    no_text,
    refuse_foreign,
    texts_there,
)
from es_simhash.scheme import mapping
from es_simhash.scheme import mapping as notes
from es_simhash.scheme.learnt_rarity import LearntRarity
from es_simhash.scheme.mapping import merge
from es_simhash.scheme.scope import Policy


@dataclass(frozen=True)
class ReindexOptions(RunOptions):
    """The options of a reindexing, in addition to those of `RunOptions`.

    In the end, each of ``aliases`` is moved from the source to the destination, or created. ``fast`` turns refreshes
    and replicas of the destination off during the run. ``sample`` documents are compared in the end.

    >>> index.reindex("articles-2", sample=10).progress.written
    3
    """

    aliases: Sequence[str] = ()
    fast: bool = False
    sample: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sample < 0:
            raise InputError(f"{self.sample} documents cannot be compared. Choose 0 or more.")


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


@dataclass(frozen=True)
class ReindexSurvey:
    """The survey: of ``documents`` documents in the source, ``due`` must be copied to the destination.

    The destination is created with ``create``, or it exists, and gets ``mapping``, as ``wanted``. ``since`` has,
    for each shard of the source, the changes up to which it was copied before. ``interim`` has the settings during
    the run. ``left_out`` names settings that the copy does not get. ``aliases`` has the actions on aliases. ``learnt``
    is how rare features are in the source.
    """

    JSON = ("source", "destination", "documents", "due", "create", "mapping", "interim", "left_out", "aliases")

    source: str
    destination: str
    documents: int
    due: int
    copying: Copying
    origin: Json
    create: Json | None
    mapping: Json | None
    wanted: Json
    since: list[int] | None
    interim: Json
    left_out: list[str]
    aliases: list[Json]
    learnt: LearntRarity | None


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


# The note in a copy that names its source.
ORIGIN = "_copied_from"


def survey(
    source: str, destination: str, documents_of: Plan[Documents], options: ReindexOptions
) -> Plan[ReindexSurvey]:
    """Survey a reindexing, and refuse one that cannot be done."""
    documents = yield from documents_of
    name, there = yield from _source(source)
    present = (yield GetSettings(name))[name]
    copying = Copying(documents, destination, _old_names(there, documents))
    origin = {"index": name, "uuid": present.get("index.uuid")}
    wanted = documents.scheme.mapping(documents.prefix, documents.fields)
    if documents.policy != Policy():
        wanted = mapping.with_policy(wanted, documents.policy)
    aliases = yield from alias_changes(name, destination, options.aliases)
    copy = yield from _mappings_of(destination)
    create = change = since = None
    if copy is None:
        yield from check_rights_in_new(destination)
        mappings = _without_ours(there, documents.prefix)
        # The copy is grouped as its source was, and has its decisions.
        decided = decisions_note(documents.prefix)
        kept = {
            ORIGIN: origin,
            groups_note(documents): grouping_noted(there, documents),
            decided: noted(there, decided),
        }
        for note, value in kept.items():
            mappings = with_properties(mappings, {"properties": notes.change(mappings, note, value) if value else {}})
        create = new_index(name, wanted, {"settings": copied_settings(present), "mappings": mappings})
        of_copy = create["settings"]
    else:
        since = yield from check_copy(destination, copy, origin)
        change = mapping.merge(destination, copy[destination], wanted).body
        of_copy = (yield GetSettings(destination))[destination]
    yield Refresh(name)
    yield from refuse_foreign(name, documents)
    count = yield Count(name, {"match_all": {}})
    yield from _check_texts(name, there, documents, count)
    due = yield Count(name, due_query(since))
    return ReindexSurvey(
        name,
        destination,
        count,
        due,
        copying,
        origin,
        create,
        change,
        wanted,
        since,
        interim_settings(of_copy, options.fast),
        settings_left_out(present) if create else [],
        aliases,
        noted_rarity({name: there}, documents),
    )


def _check_texts(source: str, there: Json, documents: Documents, count: int) -> Plan[None]:
    """Refuse fields in which no document has text, unless the source's own note names them."""
    yield from check_text_fields({source: there}, documents)
    if not count or has_these_fields(source, there, documents):
        return
    missing = yield from fields_in_no_document(source, documents.fields)
    if len(missing) == len(documents.fields):
        raise MappingError(f"{no_text(source, missing)}. {texts_there({source: there}, missing)}")


def due_query(since: list[int] | None) -> Json:
    """Return the query for documents changed after these changes; with None, for all."""
    return {"match_all": {}} if since is None else {"bool": {"filter": [changed_after(since)]}}


def _source(source: str) -> Plan[tuple[str, Json]]:
    """Return the name and the mapping of the only index behind a name."""
    mappings = yield GetMappings(source)
    if len(mappings) > 1:
        raise IndexStateError(
            f"{source!r} stands for {', '.join(sorted(mappings))}, and one index is copied at a time. "
            "Copy each of them in turn."
        )
    [(name, there)] = mappings.items()
    kept = there.get("_source") or {}
    if is_false(kept.get("enabled")) or kept.get("includes") or kept.get("excludes"):
        raise MappingError(
            f"The index {name!r} does not keep whole documents (_source in its mapping), so no copy is complete. "
            "Load the documents from their origin."
        )
    return name, there


def _mappings_of(destination: str) -> Plan[dict[str, Json] | None]:
    """Return the mappings behind the destination's name, or None if it does not exist."""
    try:
        mappings: dict[str, Json] = yield GetMappings(destination)
    except MissingError:
        return None
    return mappings


def check_copy(destination: str, mappings: dict[str, Json], origin: Json) -> Plan[list[int] | None]:
    """Refuse an index that is not a copy of the source, or in use; return the changes up to which it was copied."""
    if list(mappings) != [destination]:
        raise IndexStateError(
            f"{destination!r} stands for {', '.join(sorted(mappings))}. Name an index to copy to, or a new one."
        )
    there = mappings[destination]
    if origin["index"] == destination:
        raise IndexStateError(f"{destination!r} is the index that is to be copied. Choose another name for the copy.")
    noted_origin: Json | None = noted(there, ORIGIN)
    if noted_origin is None:
        yield from _check_made_by_others(destination)
        return None
    if {name: noted_origin.get(name) for name in origin} != origin:
        raise IndexStateError(
            f"The index {destination!r} is a copy of {noted_origin['index']!r}, or of an earlier index of this name. "
            "Choose another name for the copy."
        )
    if aliases := (yield GetAliases(destination))[destination]:
        raise IndexStateError(
            f"The index {destination!r} is already in use, as {', '.join(sorted(aliases))}: older documents could "
            "replace newer ones. Choose another name for the copy, or take the alias off."
        )
    changes: list[int] | None = noted_origin.get("changes")
    return changes


def _check_made_by_others(destination: str) -> Plan[None]:
    yield Refresh(destination)
    if count := (yield Count(destination, {"match_all": {}})):
        raise IndexStateError(
            f"The index {destination!r} already holds {count:,} documents, which cannot be distinguished from copies. "
            "Choose an empty index."
        )


def _without_ours(there: Json, prefix: str) -> Json:
    """Return the source's mapping without fields of another scheme, and without notes of jobs."""
    ours = notes.names(there)
    kept = {name for name in ours if name != prefix and notes.is_prefix(name)}
    properties = notes.only(there, kept)
    if prefix in ours:
        properties = {name: field for name, field in properties.items() if name != prefix}
    return {**there, "properties": properties, "_meta": notes.copies(there, dict.fromkeys(ours - kept))}


def _old_names(there: Json, documents: Documents) -> frozenset[str]:
    """Return the names of our fields that documents of the source may have."""
    mapped: Json = (there.get("properties") or {}).get(documents.prefix) or {}
    if documents.prefix not in notes.names(there):
        return frozenset()
    return frozenset(mapped.get("properties") or {})


def alias_changes(source: str, destination: str, aliases: Sequence[str]) -> Plan[list[Json]]:
    """Return the actions that move aliases from the source to the destination, with their definitions."""
    changes: list[Json] = []
    if aliases and (yield GetInfo()).distribution == "embedded":
        raise InputError("The embedded engine has no aliases. Leave them out, and open the copy by its own name.")
    for alias in aliases:
        try:
            behind = yield GetAliases(alias)
        except MissingError:
            behind = {}
        if alias in behind or alias == destination:
            raise InputError(
                f"{alias!r} is an index, and an alias cannot have the name of an existing index. Choose another alias."
            )
        if behind and source not in behind:
            raise InputError(
                f"The alias {alias!r} stands for {', '.join(sorted(behind))}, not for {source!r}. Choose another alias."
            )
        says = behind[source][alias] if behind else {}
        if behind:
            changes.append({"remove": {"index": source, "alias": alias}})
        changes.append({"add": {"index": destination, "alias": alias, **says}})
    return changes


@dataclass(frozen=True)
class Copying:
    """Write each document to ``destination`` with its id, its routing value and its version.

    A document whose text cannot be fingerprinted is copied without a fingerprint, and reported. ``old`` names the
    fields of another scheme that documents may have under the same prefix; the copies do not get them.
    """

    documents: Documents
    destination: str
    old: frozenset[str] = frozenset()

    @property
    def source(self) -> bool:
        """The whole document."""
        return True

    def prepare(self, hits: Sequence[Json]) -> Prepared:
        """Make the copies of the documents of hits."""
        bodies, unfit = self.bodies(hits)
        updates = [
            (DocumentRef.of(hit), self._action(hit, body, _version(hit)))
            for hit, body in zip(hits, bodies, strict=True)
        ]
        return Prepared(updates=updates, unfit=unfit)

    def bodies(self, hits: Sequence[Json]) -> tuple[list[Json], list[Rejected]]:
        """Make the documents of the destination; also return those that get no fingerprint."""
        # Those keep what others have written where our fields belong.
        foreign = {i: found for i, hit in enumerate(hits) if (found := foreign_in(self.documents, hit["_source"]))}
        unfit = {i: f"Document {hits[i]['_id']!r} {found}" for i, found in foreign.items()}
        bodies = [hit["_source"] if i in unfit else self._without_ours(hit["_source"]) for i, hit in enumerate(hits)]
        due = [i for i in range(len(hits)) if i not in unfit]
        sources = ({"_id": hits[i]["_id"], "_source": bodies[i]} for i in due)
        made = iter(list(prepared(self.documents, sources, lambda one: unfit.update({due[one.position]: one.reason}))))
        bodies = [body if i in unfit else next(made)["_source"] for i, body in enumerate(bodies)]
        unfingerprinted = [
            Rejected(index=hits[i]["_index"], id=hits[i]["_id"], reason=f"Copied without a fingerprint: {reason}")
            for i, reason in sorted(unfit.items())
        ]
        return bodies, unfingerprinted

    def _without_ours(self, source: Json) -> Json:
        prefix = self.documents.prefix
        own = source.get(prefix)
        if not isinstance(own, dict) or not self._names & own.keys():
            return source
        kept = {name: value for name, value in own.items() if name not in self._names}
        rest = {name: value for name, value in source.items() if name != prefix}
        return {**rest, prefix: kept} if kept else rest

    @cached_property
    def _names(self) -> frozenset[str]:
        return self.old.union(self.documents.names)

    def _action(self, hit: Json, body: Json, condition: Json) -> Action:
        return Action(
            "index", hit["_id"], body, self.destination, {**condition, **DocumentRef.of(hit).routing_metadata} or None
        )

    def settle(self, conflicts: Sequence[Update], patience: float) -> Plan[Prepared]:
        """Compare copies in the same or a newer version, and overwrite them if they are different.

        The versions of a document that was deleted and written again start from 1.
        """
        copies = yield from read_again(self.destination, conflicts, True, patience)
        pairs = zip(conflicts, copies, strict=True)
        differing = [(update, copy) for update, copy in pairs if copy.get("_source") != update[1].body]
        prepared = Prepared(current=len(conflicts) - len(differing))
        if differing:
            yield from self._settle_differing(differing, prepared, patience)
        return prepared

    def _settle_differing(
        self, differing: Sequence[tuple[Update, Json]], prepared: Prepared, patience: float
    ) -> Plan[None]:
        """Compare copies with the documents as they are now."""
        updates = [update for update, _ in differing]
        now = yield from read_again(updates[0][0].index, updates, True, patience)
        found = [(hit, copy) for hit, (_, copy) in zip(now, differing, strict=True) if hit["found"]]
        prepared.gone += len(now) - len(found)
        bodies, prepared.unfit = self.bodies([hit for hit, _ in found])
        for (hit, copy), body in zip(found, bodies, strict=True):
            if copy.get("_source") == body:
                prepared.current += 1
            else:
                unless_changed = DocumentRef.of(copy).version if copy["found"] else {}
                prepared.updates.append((DocumentRef.of(hit), self._action(hit, body, unless_changed)))


def _version(hit: Json) -> Json:
    """Return the condition that the copy is older than the document, if the engine has versions."""
    return {"version": hit["_version"], "version_type": "external"} if "_version" in hit else {}


# ---- settings that a copy gets, and those that wait until all documents are copied

# Settings made by the server, or about the origin of the index.
_OF_THE_SERVER = re.compile(
    r"index\.(uuid|creation_date(_string)?|provided_name|verified_before_close|(version|history|resize|shrink|split|clone"
    r"|remote_store|store\.snapshot|routing\.allocation\.initial_recovery)(\..*)?)"
)
# Settings that would harm the copy: a block keeps documents out, a policy may roll the index over or delete it.
_OF_THE_INDEX_ALONE = re.compile(
    r"index\.(frozen|(blocks|lifecycle|plugins\.index_state_management|opendistro\.index_state_management)(\..*)?)"
)
# The pipeline has already processed each document in the source.
_PIPELINES = ("index.default_pipeline", "index.final_pipeline")
_NO_PIPELINE = "_none"


def copied_settings(settings: Json) -> Json:
    """Return the settings with which a copy of an index is created."""
    return {
        name: value
        for name, value in settings.items()
        if not _OF_THE_SERVER.fullmatch(name)
        and not _OF_THE_INDEX_ALONE.fullmatch(name)
        and (name, value) != ("index.store.type", "snapshot")
    }


def settings_left_out(settings: Json) -> list[str]:
    """Name the settings chosen by a person that the copy does not get."""
    return sorted(name for name in settings if _OF_THE_INDEX_ALONE.fullmatch(name))


def interim_settings(settings: Json, fast: bool) -> Json:
    """Return the settings during the run: no pipelines, and with ``fast`` no refreshes and no replicas."""
    pipelines = {name: _NO_PIPELINE for name in _PIPELINES if settings.get(name, _NO_PIPELINE) != _NO_PIPELINE}
    return pipelines | ({"index.refresh_interval": "-1", "index.number_of_replicas": "0"} if fast else {})
