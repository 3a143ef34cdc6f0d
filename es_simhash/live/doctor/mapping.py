"""Checks of the mapping: whether it can take our fields, and whether it has the source fields."""

from __future__ import annotations

from collections.abc import Iterator

from es_simhash._core.json_codec import Json, is_false
from es_simhash.documents.documents import Documents
from es_simhash.errors import EngineError, SchemeMismatchError
from es_simhash.live.doctor.facts import Facts, IndexFacts
from es_simhash.live.doctor.finding import Finding, of_error
from es_simhash.plans.text_fields import derived_errors, field_at, no_text, texts_there
from es_simhash.scheme import notes
from es_simhash.scheme.mapping import number_of_fields

_LIMIT = "index.mapping.total_fields.limit"
_DEFAULT_LIMIT = 1000
# A mapping that grows by itself needs some room: warn when less than this part of the limit is left.
_LITTLE = 0.05


def check_mapping(there: IndexFacts, documents: Documents) -> Iterator[Finding]:
    """Check that the mapping has the fields, or can take them, and that no document has something else there."""
    if there.foreign:
        yield of_error("foreign-values", there.foreign, there.name)
    if is_false(there.mapping.get("subobjects")):
        yield Finding(
            "subobjects",
            "stop",
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
    if not change.added and _has_lost_note(there.mapping, documents.prefix):
        yield Finding(
            "mapping",
            "warning",
            f"The mapping of {there.name!r} has the fields under {documents.prefix!r}, but no note of how they were "
            "made: another program has replaced its _meta.",
            "Run es-simhash init, with the scheme and the source fields that the fingerprints were made by.",
            there.name,
        )
        yield from _total_fields(there, change.body)
        return
    can = f"can take the {len(change.added)} fields" if change.added else "has the fields"
    message = f"The mapping of {there.name!r} {can} under {documents.prefix!r}."
    yield Finding("mapping", "ok", message, index=there.name)
    yield from _total_fields(there, change.body)


def _has_lost_note(mapping: Json, prefix: str) -> bool:
    """Return whether fields have no note; one that was removed with the fingerprints is not lost."""
    return notes.note(mapping, prefix) is None and prefix not in notes.in_fields(mapping)


def _total_fields(there: IndexFacts, added: Json | None) -> Iterator[Finding]:
    limit = int(there.settings.get(_LIMIT, _DEFAULT_LIMIT))
    present, new = number_of_fields(there.mapping), _new_fields(there.mapping, added or {})
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


def _new_fields(present: Json, added: Json) -> int:
    """Count the fields that a change adds; the object of a new prefix counts as one."""
    objects_there = set(added.get("properties") or {}) & set(present.get("properties") or {})
    return number_of_fields(added) - len(objects_there)


def check_dynamic(there: IndexFacts) -> Iterator[Finding]:
    """Check whether fields that are not mapped are refused, or not indexed."""
    dynamic = str(there.mapping.get("dynamic")).lower()
    if dynamic in ("strict", "false"):
        does = "refuses documents with" if dynamic == "strict" else "does not index"
        yield Finding(
            "dynamic",
            "note",
            f"The index {there.name!r} {does} fields that are not mapped (dynamic: {dynamic}).",
            "Nothing to do: our fields are added to the mapping before any document is written.",
            there.name,
        )


def check_nested(there: IndexFacts) -> Iterator[Finding]:
    """Check what nested documents add to the cost of an update."""
    paths = list(_nested(there.mapping))
    if not paths:
        return
    all_documents = sum(copy.documents for copy in there.copies or [] if copy.is_primary)
    cost = f"{all_documents / there.documents - 1:,.1f} on average" if there.documents and all_documents else "some"
    yield Finding(
        "nested",
        "warning",
        f"The index {there.name!r} has nested documents ({', '.join(paths)}): with each document that is updated, "
        f"those within it, {cost}, are written again.",
        "Run it when the cluster has time, with --max-rate.",
        there.name,
    )


def _nested(mapping: Json, prefix: str = "") -> Iterator[str]:
    for name, field in (mapping.get("properties") or {}).items():
        if field.get("type") == "nested":
            yield prefix + name
        yield from _nested(field, f"{prefix}{name}.")


def check_texts(facts: Facts, documents: Documents) -> Iterator[Finding]:
    """Check whether documents have text in the source fields."""
    found = [finding for there in facts.indices for finding in _texts_of(there, documents)]
    found += [_misspelt(facts, path) for path in documents.fields if _is_misspelt(facts, documents, path)]
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


def _misspelt(facts: Facts, path: str) -> Finding:
    message = f"No mapping has the source field {path!r}, nor has any document text in it."
    remedy = texts_there({there.name: there.mapping for there in facts.indices}, [path])
    return Finding("text-fields", "warning", message, remedy)
