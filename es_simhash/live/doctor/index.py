"""Checks of an index: what keeps it from being written to, its settings and statistics, and its mapping."""

from __future__ import annotations

from collections.abc import Iterator

from es_simhash._core.humanize import counted
from es_simhash._core.json_codec import Json, is_false
from es_simhash.documents.documents import Documents
from es_simhash.errors import EngineError, SchemeMismatchError
from es_simhash.live.doctor.facts import Facts, IndexFacts
from es_simhash.live.doctor.finding import Finding, of_error
from es_simhash.plans.open_index import CLOSED
from es_simhash.plans.text_fields import derived_errors, field_at, mapped_fields, no_text, texts_there
from es_simhash.scheme import notes
from es_simhash.scheme.mapping import number_of_fields

_BLOCKS = ("read_only", "read_only_allow_delete", "write", "metadata", "read")
# `index.store.type` of Elasticsearch and of OpenSearch.
_SNAPSHOTS = ("snapshot", "remote_snapshot")


def check_index(there: IndexFacts) -> Iterator[Finding]:
    """Check whether an index can be written to."""
    found = list(_reasons(there))
    yield from found or [Finding("writable", "ok", f"The index {there.name!r} can be written to.", index=there.name)]


def _reasons(there: IndexFacts) -> Iterator[Finding]:
    name = there.name
    if there.is_set(CLOSED):
        remedy = f"Open it with POST {name}/_open, or leave it out."
        yield Finding.of("closed", f"The index {name!r} is closed.", remedy, name)
    if there.settings.get("index.store.type") in _SNAPSHOTS or there.is_set("index.frozen"):
        yield Finding.of(
            "searchable-snapshot",
            f"The index {name!r} is a searchable snapshot, or frozen, and is never written to.",
            "Leave it out, or restore the snapshot as a plain index and name that.",
            name,
        )
        return  # its blocks come with that
    for block in _BLOCKS:
        if there.is_set(f"index.blocks.{block}"):
            why, remedy = "", "Ask the person who set the block to remove it, or leave the index out."
            if block == "read_only_allow_delete":
                why, remedy = ": its disk is nearly full", "Make room; the engine then removes the block itself."
            yield Finding.of("read-only", f"The index {name!r} is set to index.blocks.{block}{why}.", remedy, name)


# ---- settings and statistics

# The number of documents from which it pays to change settings during the run.
_MANY = 100_000


def check_pipelines(there: IndexFacts) -> Iterator[Finding]:
    """Check whether whole documents go through a pipeline."""
    settings = {kind: there.settings.get(f"index.{kind}") for kind in ("default_pipeline", "final_pipeline")}
    named = [f"{kind} {name!r}" for kind, name in settings.items() if name and name != "_none"]
    if named:
        yield Finding.of(
            "pipeline",
            f"The index {there.name!r} has the {' and the '.join(named)}, which our partial updates do not run.",
            "Nothing to do, unless it changes the text fields of documents that were written before it.",
            there.name,
        )


def check_changes(facts: Facts, there: IndexFacts) -> Iterator[Finding]:
    """Check whether changes by others can be noticed."""
    if there.copies is None and facts.engine.distribution != "embedded":
        yield Finding.of(
            "changes-unknown",
            f"This login cannot see the statistics of the index {there.name!r}, so texts that others change during "
            "the backfill go unnoticed.",
            "Have the privilege monitor granted, or run it with --refresh-stale afterwards.",
            there.name,
        )


def check_speed(there: IndexFacts) -> Iterator[Finding]:
    """Check whether the backfill of a large index would be faster without refreshes."""
    if there.due < _MANY or not there.settings:
        return
    refreshes = there.settings.get("index.refresh_interval", "1s")
    if not refreshes.startswith("-"):
        yield Finding.of(
            "speed",
            f"{counted(there.due, 'document')} will be written in the index {there.name!r}.",
            f"It refreshes every {refreshes}. Add --no-refresh if searches need not see anything new during the run.",
            there.name,
        )


# ---- mapping

_LIMIT = "index.mapping.total_fields.limit"
_DEFAULT_LIMIT = 1000
# A mapping that grows by itself needs some room: warn when less than this part of the limit is left.
_LITTLE = 0.05


def check_mapping(there: IndexFacts, documents: Documents) -> Iterator[Finding]:
    """Check that the mapping has the fields, or can take them, and that no document has something else there."""
    if there.foreign:
        yield of_error("foreign-values", there.foreign, there.name)
    if is_false(there.mapping.get("subobjects")):
        yield Finding.of(
            "subobjects",
            f"The index {there.name!r} is mapped with subobjects: false, so it cannot hold the object "
            f"{documents.prefix!r}.",
            "Reindex into an index with sub-objects.",
            there.name,
        )
        return
    change = there.change(documents)
    if isinstance(change, EngineError):
        code = "scheme-mismatch" if isinstance(change, SchemeMismatchError) else "mapping-conflict"
        yield of_error(code, change, there.name)
        return
    # A note that was removed with the fingerprints is not lost.
    has_note = notes.note(there.mapping, documents.prefix) is not None
    has_note = has_note or documents.prefix in notes.in_fields(there.mapping)
    if not change.added and not has_note:
        yield Finding(
            "mapping",
            "warning",
            f"The mapping of {there.name!r} has the fields under {documents.prefix!r}, but no note of how they were "
            "made: another program has replaced its _meta.",
            "Run es-simhash init, with the scheme and the source fields that the fingerprints were made by.",
            there.name,
        )
    else:
        can = f"can take the {len(change.added)} fields" if change.added else "has the fields"
        message = f"The mapping of {there.name!r} {can} under {documents.prefix!r}."
        yield Finding("mapping", "ok", message, index=there.name)
    yield from _total_fields(there, change.body or {})


def _total_fields(there: IndexFacts, added: Json) -> Iterator[Finding]:
    limit = int(there.settings.get(_LIMIT, _DEFAULT_LIMIT))
    # The object of a new prefix counts as one.
    objects_there = set(added.get("properties") or {}) & set(there.mapping.get("properties") or {})
    present, new = number_of_fields(there.mapping), number_of_fields(added) - len(objects_there)
    left = limit - present - new
    counts = f"The index {there.name!r} has {present:,} of at most {limit:,} fields"
    remedy = f"Raise its setting {_LIMIT}."
    if new and left < 0:
        message = f"{counts}, so {new} more do not fit."
        yield Finding("total-fields", "stop", message, remedy, there.name)
    elif left < _LITTLE * limit:
        message = f"{counts}{f', and gets {new} more' if new else ''}: {max(left, 0):,} are left for others."
        yield Finding("total-fields", "warning", message, remedy, there.name)
    else:
        yield Finding("total-fields", "ok", f"{counts}{f', and gets {new} more' if new else ''}.", index=there.name)


def check_dynamic(there: IndexFacts) -> Iterator[Finding]:
    """Check whether fields that are not mapped are refused, or not indexed."""
    dynamic = str(there.mapping.get("dynamic")).lower()
    if dynamic in ("strict", "false"):
        does = "refuses documents with" if dynamic == "strict" else "does not index"
        yield Finding.of(
            "dynamic",
            f"The index {there.name!r} {does} fields that are not mapped (dynamic: {dynamic}).",
            "Nothing to do: our fields are added to the mapping before any document is written.",
            there.name,
        )


def check_nested(there: IndexFacts) -> Iterator[Finding]:
    """Check what nested documents add to the cost of an update."""
    paths = [path for path, field in mapped_fields(there.mapping) if field.get("type") == "nested"]
    if not paths:
        return
    all_documents = sum(copy.documents for copy in there.copies or [] if copy.is_primary)
    cost = f"{all_documents / there.documents - 1:,.1f} on average" if there.documents and all_documents else "some"
    yield Finding.of(
        "nested",
        f"The index {there.name!r} has nested documents ({', '.join(paths)}): with each document that is updated, "
        f"those within it, {cost}, are written again.",
        "Run it when the cluster has time, with --max-rate.",
        there.name,
    )


def check_texts(facts: Facts, documents: Documents) -> Iterator[Finding]:
    """Check whether documents have text in the source fields."""
    found = [finding for there in facts.indices for finding in _texts_of(there, documents)]
    mappings = {there.name: there.mapping for there in facts.indices}
    for path in documents.fields:
        if _is_misspelt(facts, documents, path):
            message = f"No mapping has the source field {path!r}, nor has any document text in it."
            found.append(Finding("text-fields", "warning", message, texts_there(mappings, [path])))
    yield from found or [Finding("text-fields", "ok", f"The texts are in {', '.join(documents.fields)}.")]


def _texts_of(there: IndexFacts, documents: Documents) -> Iterator[Finding]:
    for error in derived_errors(there.name, there.derived):
        yield of_error("derived-field", error, there.name)
    if _has_none(there, documents) and not there.derived:
        message = f"{no_text(there.name, documents.fields)}, so all would be marked as empty."
        remedy = texts_there({there.name: there.mapping}, documents.fields)
        yield Finding("text-fields", "stop", message, remedy, there.name)
    for path in documents.fields:
        if "properties" in field_at(there.mapping, path):
            message = f"The source field {path!r} is an object in the index {there.name!r}, so documents are rejected."
            yield Finding("text-fields", "warning", message, "Name the fields within it that hold text.", there.name)


def _has_none(there: IndexFacts, documents: Documents) -> bool:
    return set(there.unseen) == set(documents.fields)


def _is_misspelt(facts: Facts, documents: Documents, path: str) -> bool:
    """Return whether a field is unmapped and has no text in any document, while another field has some."""
    filled = [there for there in facts.indices if there.documents]
    is_nowhere = all(path in there.unseen and not field_at(there.mapping, path) for there in filled)
    is_one_of_several = not all(_has_none(there, documents) for there in filled)
    return is_nowhere and is_one_of_several and not any(path in there.derived for there in filled)
