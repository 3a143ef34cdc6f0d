"""The survey before a backfill, and the diagnosis of the doctor."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.errors import (
    AccessError,
    EngineError,
    IndexStateError,
    MappingError,
    MissingError,
    SchemeMismatchError,
)
from es_simhash.live.backfill.options import BackfillOptions, due_query
from es_simhash.live.doctor.examine import examine
from es_simhash.live.doctor.facts import Part
from es_simhash.live.doctor.finding import Finding, accepting, of_error, stopped
from es_simhash.live.sweep.reading import Survey, part_of
from es_simhash.plans.open_index import closed_ones, no_fields, note, note_where_allowed, noted
from es_simhash.plans.operations import Count, GetMappings, Plan, Refresh
from es_simhash.scheme.mapping import entries


def survey(index: str, documents: Documents, options: BackfillOptions, brings_fields: bool = False) -> Plan[Survey]:
    """Count the documents that are due, and examine the indices that have some.

    An index without our fields is left out, unless the caller ``brings_fields``.
    """
    parts, unreadable = yield from _count(index, documents, options, brings_fields)
    due = [part for part in parts if part.due or part.index in unreadable]
    if not due:
        return Survey(index, parts, [], [])
    findings = yield from _examine(index, documents, due, unreadable, options)
    left_out = stopped([each.index for each in due], findings)
    return Survey(index, [part for part in parts if part.index not in left_out], left_out, findings)


def diagnose(
    index: str,
    opening: Generator[Any, Any, Documents],
    options: BackfillOptions | None = None,
    brings_fields: bool = False,
) -> Plan[list[Finding]]:
    """Examine what would go wrong with a backfill, whether or not anything is due; ``opening`` gives the documents."""
    options = options or BackfillOptions()
    try:
        documents = yield from opening
    except (MappingError, SchemeMismatchError, IndexStateError) as error:
        due = [Part(name, 0, 0) for name in sorted((yield from _mappings(index)))]
        found = yield from examine(index, None, due, bool(options.settings))
        if not isinstance(error, IndexStateError):  # that an index is closed has been found already
            found.append(of_error(_code_of(error), error, index))
        return accepting(found, options.accept)
    parts, unreadable = yield from _count(index, documents, options, brings_fields)
    return (yield from _examine(index, documents, parts, unreadable, options))


def _count(
    index: str, documents: Documents, options: BackfillOptions, brings_fields: bool
) -> Plan[tuple[list[Part], dict[str, EngineError]]]:
    """Count what is due in each index behind a name; the errors say why some cannot be counted."""
    query = due_query(documents, options)
    mappings = yield from _mappings(index)
    known = entries(mappings, documents.prefix)
    parts, unreadable = list[Part](), dict[str, EngineError]()
    for name, there in sorted(mappings.items()):
        try:
            part = yield from part_of(name, query)
            if known[name] is None and not brings_fields:
                raise no_fields(name, documents.prefix, there)
            parts.append(replace(part, is_begun=begun(there, documents) is not None))
        except (IndexStateError, AccessError, MappingError) as error:
            unreadable[name] = error
            parts.append(Part(name, 0, 0))
    return parts, unreadable


def _mappings(index: str) -> Plan[dict[str, Json]]:
    """Get the mappings of all indices behind a name; closed ones, which a pattern leaves out, have none."""
    closed: dict[str, Json] = {name: {} for name in (yield from closed_ones(index))}
    try:
        return {**closed, **(yield GetMappings(index))}
    except MissingError:
        if closed:
            return closed
        raise


def _examine(
    index: str, documents: Documents, due: list[Part], unreadable: dict[str, EngineError], options: BackfillOptions
) -> Plan[list[Finding]]:
    found = yield from examine(index, documents, due, bool(options.settings))
    reported = {finding.index for finding in found if finding.level == "stop"}
    others = [of_error(_code_of(error), error, name) for name, error in unreadable.items() if name not in reported]
    # What cannot even be counted cannot be accepted.
    return [*accepting(found, set(options.accept) - set(map(_code_of, unreadable.values()))), *others]


def _code_of(error: EngineError) -> str:
    match error:
        case AccessError():
            return "privileges"
        case MappingError():
            return "no-fields"
        case SchemeMismatchError():
            return "scheme-mismatch"
    return "read-only"


@dataclass(frozen=True)
class Begun:
    """The state that runs with a scheme have certainly seen: safe changes of each shard, number of fingerprints."""

    scheme: str
    changes: list[int]
    fingerprints: int


def begun(mapping: Json, documents: Documents) -> Begun | None:
    """Return the note of runs that have not ended, or None."""
    found = noted(mapping, _name(documents))
    return Begun(**found) if found and found["scheme"] == documents.scheme.id else None


def begin(index: str, documents: Documents, changes: list[int], made: int | None = None) -> Plan[None]:
    """Note that all changes up to these were seen, and no later ones, if the login may change the mapping.

    There were as many fingerprints then as were ``made``; without it, as there are now.
    """
    beginning = Begun(
        documents.scheme.id, changes, (yield from fingerprints(index, documents)) if made is None else made
    )
    yield from note_where_allowed(index, _name(documents), asdict(beginning))


def end(index: str, documents: Documents) -> Plan[None]:
    """Remove the note."""
    with suppress(AccessError, IndexStateError):
        yield from note(index, _name(documents), None)


def fingerprints(index: str, documents: Documents) -> Plan[int]:
    """Count the documents with a fingerprint of the scheme."""
    yield Refresh(index)
    return (yield Count(index, {"term": {f"{documents.prefix}.scheme": documents.scheme.id}}))


def _name(documents: Documents) -> str:
    return f"_backfill_begun_{documents.prefix}"
