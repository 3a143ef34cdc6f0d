"""Preparing an index: mapping, scripts and the ingest pipeline."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from es_simhash._core.humanize import counted
from es_simhash._core.json_codec import Json, is_false, splits
from es_simhash._core.rows import Result, Shown
from es_simhash.documents.documents import Documents
from es_simhash.documents.stored_scripts import StoredScript, description, is_ours, name_of, pipeline
from es_simhash.errors import AccessError, EngineError, IndexStateError, MappingError, MissingError, ScriptError
from es_simhash.plans.open_index import OpenedIndex, check_open, fingerprinted, noted_rarity
from es_simhash.plans.operations import (
    Count,
    CreateIndex,
    DeleteResource,
    GetInfo,
    GetMappings,
    GetResource,
    GetSettings,
    Plan,
    PutMapping,
    PutResource,
    PutSettings,
    is_server,
    is_several,
)
from es_simhash.plans.scope_filters import check_scope
from es_simhash.plans.text_fields import check_text_fields, derived_errors, derived_fields, field_at, refuse_foreign
from es_simhash.scheme import mapping
from es_simhash.scheme.fingerprinting import STATUSES
from es_simhash.scheme.learnt_rarity import LearntRarity
from es_simhash.scheme.own_fields import DEFERRED
from es_simhash.scheme.scope import Policy
from es_simhash.scheme.verifier import table_for

# How often to add the fields to a mapping that others change at the same time. Each program that adds a prefix
# in the meantime can cost an attempt, and the last writer must still bring the copies of all notes into ``_meta``.
_ATTEMPTS = 16


@dataclass(frozen=True)
class Initialised:
    """What `init` did: it ``created`` the index, or ``added`` fields to each existing one, by name.

    ``bodies`` holds the requests sent, or with ``dry_run`` those that would be: the whole of a new index, else the
    change of the mapping.
    """

    created: bool
    added: dict[str, list[str]]
    bodies: dict[str, Json]


def init(
    index: str,
    documents: Documents,
    create: Json | None = None,
    dry_run: bool = False,
    policy: Policy | None = None,
) -> Plan[Initialised]:
    """Add the fields to the mapping of every index that the name stands for, or create an index with them.

    ``create`` holds settings and further mappings of a new index. Nothing changes if one index cannot take the fields,
    or if the named fields cannot hold texts. A ``policy`` replaces the one that is there.
    """
    wanted = documents.scheme.mapping(documents.prefix, documents.fields)
    if policy is not None:
        wanted = mapping.with_policy(wanted, policy)
    try:
        present = yield GetMappings(index)
    except MissingError:
        body = new_index(index, wanted, create or {})
        _check_policy({index: body["mappings"]}, policy)
        for error in derived_errors(index, derived_fields(body["mappings"], documents.fields, documents.fields)):
            raise error from None
        made_by_others = None if dry_run else (yield from make_index(index, body))
        if made_by_others is None:
            return Initialised(True, {index: list(mapping.leaf_paths(wanted["properties"]))}, {index: body})
        present = made_by_others
    yield from check_open(index)
    _check_policy(present, policy)
    changes = {name: mapping.merge(name, there, wanted) for name, there in present.items()}
    bodies = {name: change.body for name, change in changes.items() if change.body}
    yield from check_text_fields(present, documents)
    for name in bodies:
        yield from refuse_foreign(name, documents)
    if not dry_run:
        for name in bodies:
            yield from bring(name, wanted)
    return Initialised(False, {name: change.added for name, change in changes.items()}, bodies)


def _check_policy(mappings: Mapping[str, Json], policy: Policy | None) -> None:
    """Refuse a policy whose fields cannot be read from documents."""
    if policy and policy.scope:
        check_scope(mappings, policy.scope)


def make_index(index: str, body: Json) -> Plan[dict[str, Json] | None]:
    """Create an index; return its mapping, instead of an error, if somebody else has just created it."""
    try:
        yield CreateIndex(index, body)
    except IndexStateError as error:
        try:
            present: dict[str, Json] = yield GetMappings(index)
        except MissingError:
            raise error from None
        return present
    return None


def bring(index: str, wanted: Json) -> Plan[None]:
    """Add what the mapping of one index lacks, and look again until it is complete.

    Others may give it another scheme or policy at the same time; they cannot erase our note by writing their own (see
    `es_simhash.scheme.mapping`).
    """
    there = (yield GetMappings(index))[index]
    for _ in range(_ATTEMPTS):
        change = mapping.merge(index, there, wanted)
        if change.body is None:
            return
        before = there
        try:
            yield PutMapping(index, change.body)
            there = (yield GetMappings(index))[index]
        except (AccessError, IndexStateError):
            if change.is_needed:
                raise
            return
        except MappingError:
            # Somebody has just claimed the prefix for something else, or the mapping cannot take the fields.
            there = (yield GetMappings(index))[index]
            if there == before:
                raise
    if mapping.merge(index, there, wanted).is_needed:
        raise IndexStateError(
            f"Others changed the mapping of the index {index!r} each time the fields were added. "
            "Find the other programs that run init, then run it again."
        )


def new_index(index: str, wanted: Json, create: Json) -> Json:
    """Return the request that creates an index with the fields and with further settings and mappings."""
    mappings: Json = dict(create.get("mappings") or {})
    change = mapping.merge(index, mappings, wanted)
    return {**create, "mappings": with_properties(mappings, change.body or {})}


def with_properties(mappings: Json, change: Json) -> Json:
    """Return the mapping of a new index with a change: fields are added to its objects, and ``_meta`` is replaced."""
    properties: Json = dict(mappings.get("properties") or {})
    for name, added in change["properties"].items():
        there: Json = properties.get(name) or {}
        inner = (there.get("properties") or {}) | added["properties"]
        properties[name] = {**there, **added, "properties": inner}
    return {**mappings, **change, "properties": properties}


@dataclass(frozen=True, repr=False)
class Info(Result):
    """An index: its engine, its scheme and its policy, and the number of its fingerprints by status.

    ``without_fields`` lists the indices behind the name that have no fields: none of their documents has a fingerprint.
    ``rarity`` is how rare features are, if that was learnt; ``table`` is the id of what texts are compared by.
    ``unscoped`` counts the documents without a value in a field of the policy's scope; None without a scope, or if the
    engine does not know which documents have the field.
    """

    engine: str
    indices: list[str]
    without_fields: list[str]
    scheme: str
    preset: str
    fields: list[str]
    prefix: str
    documents: int
    fingerprinted: int
    statuses: dict[str, int]
    rarity: LearntRarity | None
    policy: Policy
    unscoped: int | None
    table: str | None

    @property
    def without(self) -> int:
        """Number of documents without a fingerprint of the scheme."""
        return self.documents - self.fingerprinted

    def shown(self) -> Shown:
        """Return what the index has, for people."""
        heading = (
            f"{', '.join(self.indices)}: {counted(self.documents, 'document')}, {self.without:,} without fingerprint"
        )
        rows = [
            ("engine", self.engine),
            ("indices", ", ".join(self.indices)),
            *([("without fields", ", ".join(self.without_fields))] if self.without_fields else []),
            ("preset", self.preset),
            ("text fields", ", ".join(self.fields)),
            *([("policy", str(self.policy))] if self.policy.to_json() else []),
            ("documents", f"{self.documents:,}"),
            *([("in no scope", f"{self.unscoped:,}")] if self.unscoped else []),
            ("with fingerprints", f"{self.fingerprinted:,}"),
            *([("without", f"{self.without:,}")] if self.without else []),
            *(
                (f"status {status}", f"{count:,}")
                for status, count in self.statuses.items()
                if count and status != "ok"
            ),
        ]
        return Shown(heading, ("property", ""), rows, len(rows))


def describe(index: str, opened: OpenedIndex) -> Plan[Info]:
    """Count the documents of an index by their fingerprint fields."""
    engine = yield GetInfo()
    mappings = yield GetMappings(index)
    documents = opened.documents
    scheme, prefix = documents.scheme, documents.prefix
    total = yield Count(index, {"match_all": {}})
    made = yield from fingerprinted(index, documents)
    learnt = noted_rarity(mappings, documents)
    table = table_for(scheme, scheme.verification, learnt.rarity if learnt else None)
    statuses = {}
    for status in (*STATUSES, DEFERRED):
        statuses[status] = yield Count(index, {"term": {f"{prefix}.status": status}})
    return Info(
        " ".join([engine.distribution, *([".".join(map(str, engine.version))] if engine.version else [])]),
        sorted(mappings),
        opened.without_fields,
        scheme.id,
        scheme.name,
        list(documents.fields),
        prefix,
        total,
        made,
        statuses,
        learnt,
        documents.policy,
        (yield from _unscoped(index, opened, mappings)),
        table.id if table else None,
    )


def _unscoped(index: str, opened: OpenedIndex, mappings: Mapping[str, Json]) -> Plan[int | None]:
    scope = opened.documents.policy.scope
    if scope is None or not all(_is_searched(each, path) for each in mappings.values() for path in scope.paths):
        return None
    have = {"bool": {"filter": [{"exists": {"field": path}} for path in scope.paths]}}
    without: int = yield Count(index, {"bool": {"must_not": [have]}})
    return without


def _is_searched(mapping: Json, path: str) -> bool:
    """Return whether the engine knows which documents have a field: it may leave what is new unmapped."""
    if kind := field_at(mapping, path).get("type"):
        # Of a constant, documents may or may not have a value.
        return bool(kind != "constant_keyword")
    above = [mapping, *(field_at(mapping, name) for name, _ in splits(path))]
    return not any(is_false(each.get(setting)) for each in above for setting in ("dynamic", "enabled"))


_DEFAULT = "index.default_pipeline"
_FINAL = "index.final_pipeline"
# Values of a setting that mean no pipeline.
_NONE = (None, "_none")


@dataclass(frozen=True)
class IngestPipeline:
    """An ingest pipeline: whether it is ``installed``, and the indices that have it as their default."""

    name: str
    installed: bool
    default_of: list[str]
    body: Json = field(repr=False)


@dataclass(frozen=True)
class PipelineRemoved:
    """A removed pipeline: whether it existed at all, and the indices that had it as their default."""

    name: str
    removed: bool
    default_of: list[str]


def show_pipeline(index: str, documents: Documents) -> Plan[IngestPipeline]:
    """Return the pipeline without installing it."""
    yield from _check_engine(index)
    return IngestPipeline(name_of(index, documents.prefix), False, [], pipeline(index, documents))


def install_pipeline(index: str, documents: Documents, default: bool) -> Plan[IngestPipeline]:
    """Install the pipeline; with ``default``, make it the default of each index behind the name."""
    shown = yield from show_pipeline(index, documents)
    yield from _is_there(index, documents.prefix)
    yield from refuse_foreign(index, documents)
    settings: dict[str, Json] = {}
    if default:
        settings = yield GetSettings(index)
        yield from _check_defaults(settings, shown.name, documents.prefix)
    yield PutResource(path_of_pipeline(shown.name), shown.body)
    for each in settings:
        yield PutSettings(each, {_DEFAULT: shown.name})
    return IngestPipeline(shown.name, True, sorted(settings), shown.body)


def remove_pipeline(index: str, prefix: str) -> Plan[PipelineRemoved]:
    """Remove the pipeline, first as the default of each index behind the name."""
    yield from _check_engine(index)
    name = name_of(index, prefix)
    there = yield from _is_there(index, prefix)
    try:
        settings = yield GetSettings(index)
    except MissingError:  # the index is deleted already
        settings = {}
    everywhere = yield from _pipelines_in_use()
    others = {other: found for other, found in everywhere.items() if other not in settings}
    _check_unused(others, name, (_DEFAULT, _FINAL))
    _check_unused(settings, name, (_FINAL,))
    defaults = sorted(each for each, found in settings.items() if found.get(_DEFAULT) == name)
    for each in defaults:
        yield PutSettings(each, {_DEFAULT: None})
    if there:
        yield DeleteResource(path_of_pipeline(name))
    return PipelineRemoved(name, there, defaults)


def _pipelines_in_use() -> Plan[dict[str, Json]]:
    """Return the pipelines in the settings of all indices, including closed ones and those that hide their settings."""
    kinds = ",".join(f"metadata.indices.*.settings.{kind}" for kind in (_DEFAULT, _FINAL))
    state = yield GetResource(f"/_cluster/state/metadata?filter_path={kinds}")
    indices = state.get("metadata", {}).get("indices", {})
    return {
        index: {f"index.{kind}": name for kind, name in found["settings"]["index"].items()}
        for index, found in indices.items()
    }


def _check_engine(index: str) -> Plan[None]:
    if not (yield from is_server()):
        raise EngineError(
            "The embedded engine has no ingest pipelines: all that is written to it goes through es_simhash, which "
            "makes the fingerprints itself. Use a server, or leave the pipeline out."
        )
    if is_several(index):
        raise IndexStateError(
            f"A pipeline belongs to one index, and {index!r} may be several. Name one index, or an alias."
        )


def _is_there(index: str, prefix: str) -> Plan[bool]:
    """Return whether the server has the pipeline; raise if another pipeline has its name."""
    name = name_of(index, prefix)
    there: Json | None = (yield GetResource(path_of_pipeline(name))).get(name)
    if there and there.get("description") != description(index, prefix):
        raise IndexStateError(
            f"The server has a pipeline {name!r} that does not belong to {index!r} under {prefix!r}. "
            f"Rename or delete it (DELETE {path_of_pipeline(name)}), or choose another prefix."
        )
    return there is not None


def _check_defaults(settings: dict[str, Json], name: str, prefix: str) -> Plan[None]:
    """Raise if an index has another default pipeline, unless that is ours of an index this one was copied from."""
    for index, found in settings.items():
        other = found.get(_DEFAULT)
        if other in (*_NONE, name):
            continue
        there = (yield GetResource(path_of_pipeline(other))).get(other) or {}
        if not is_ours(there.get("description"), prefix):
            call = json.dumps({"pipeline": {"name": name}})
            raise IndexStateError(
                f"The index {index!r} has the default pipeline {other!r} already. Install ours without making it the "
                f"default, and add as the last processor of {other!r}: {call}"
            )


def _check_unused(settings: dict[str, Json], name: str, kinds: tuple[str, ...]) -> None:
    """Raise if writes would fail without the pipeline."""
    for index, found in settings.items():
        for kind in kinds:
            if found.get(kind) == name:
                raise IndexStateError(
                    f"The pipeline {name!r} is the {kind} of {index!r} too. Change that setting first, "
                    "since nothing could be written there without the pipeline."
                )


def path_of_pipeline(name: str) -> str:
    """Return the path of a pipeline on a server."""
    return f"/_ingest/pipeline/{quote(name, safe='')}"


@dataclass(frozen=True)
class InstalledScripts:
    """The names installed, and the templates ``left_out`` because the server runs none."""

    names: list[str]
    left_out: list[str]


def install_scripts(wanted: Sequence[StoredScript]) -> Plan[InstalledScripts]:
    """Install all scripts; raise before the first if the server has a different script under one of their names."""
    yield from _check_scripts_engine()
    for each in wanted:
        yield from _check_free(each)
    installed = InstalledScripts([], [])
    for each in wanted:
        try:
            # The server compiles a script at this path before it stores it.
            yield PutResource(f"{each.path}/{each.context}" if each.context else each.path, each.body)
        except ScriptError:
            if not each.is_template:
                raise
            installed.left_out.append(each.name)
        else:
            installed.names.append(each.name)
    return installed


def remove_scripts(wanted: Sequence[StoredScript]) -> Plan[list[str]]:
    """Remove the scripts that the server has, whatever their contents; return their names."""
    yield from _check_scripts_engine()
    removed = []
    for each in wanted:
        if (yield GetResource(each.path, each.name)).get("found"):
            yield DeleteResource(each.path)
            removed.append(each.name)
    return removed


def _check_scripts_engine() -> Plan[None]:
    if not (yield from is_server()):
        raise EngineError(
            "The embedded engine runs no scripts: es_simhash itself compares what it finds. "
            "Use a server, or leave the scripts out."
        )


def _check_free(wanted: StoredScript) -> Plan[None]:
    there = yield GetResource(wanted.path, wanted.name)
    if there.get("found") and there["script"]["source"] != wanted.source:
        raise IndexStateError(
            f"The server has another script {wanted.name!r} already: of an index with other fields, or of another "
            "release. Remove it first (--remove), or choose another name for these."
        )
