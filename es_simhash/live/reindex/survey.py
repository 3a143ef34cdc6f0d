"""The survey before a reindexing, by which it can be shown, or refused, before anything is done."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from es_simhash._core.json_codec import Json, is_false
from es_simhash.documents.decisions import decisions_note
from es_simhash.documents.documents import Documents, prepared
from es_simhash.documents.rejected import Rejected
from es_simhash.errors import IndexStateError, InputError, MappingError, MissingError
from es_simhash.live.doctor.engine import check_rights_in_new
from es_simhash.live.reindex.options import ReindexOptions
from es_simhash.live.sweep.reading import DocumentRef, changed_after
from es_simhash.live.sweep.writing import Prepared, Update, read_again
from es_simhash.plans.init import new_index, with_properties
from es_simhash.plans.open_index import grouping_noted, groups_note, noted, noted_rarity
from es_simhash.plans.operations import Action, Count, GetAliases, GetInfo, GetMappings, GetSettings, Plan, Refresh
from es_simhash.plans.text_fields import (
    check_text_fields,
    fields_in_no_document,
    foreign_in,
    has_these_fields,
    no_text,
    refuse_foreign,
    texts_there,
)
from es_simhash.scheme import mapping, notes
from es_simhash.scheme.scope import Policy
from es_simhash.scheme.verdict.learnt import LearntRarity

# The note in a copy that names its source.
ORIGIN = "_copied_from"


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
