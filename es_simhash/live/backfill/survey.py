"""What a backfill has before it: which indices can be done, which cannot, and what the doctor says of them."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.errors import (
    AccessError,
    EngineError,
    IndexStateError,
    MappingError,
    MissingError,
    SchemeMismatchError,
)
from es_simhash.live.backfill.begun import begun
from es_simhash.live.backfill.scope import BackfillOptions, Part, due_query, part_of
from es_simhash.live.doctor.examine import examine
from es_simhash.live.doctor.facts import Due
from es_simhash.live.doctor.finding import Finding, accepting, of_error, refusal, stopped
from es_simhash.plans.closed_indices import closed_ones
from es_simhash.plans.open_index import no_fields
from es_simhash.plans.operations import GetMappings, Plan
from es_simhash.scheme.mapping import entries


@dataclass(frozen=True)
class Survey:
    """The ``parts`` that can be done, the names of the indices that are ``left_out``, and the findings that say why."""

    index: str
    parts: list[Part]
    left_out: list[str]
    findings: list[Finding]

    def check(self) -> None:
        """Raise if nothing can be done, with what stops it."""
        if self.left_out and not self.parts:
            raise refusal(self.index, self.findings)


def survey(index: str, documents: Documents, options: BackfillOptions, brings_fields: bool = False) -> Plan[Survey]:
    """Count what is due; if anything is, examine the indices that it is in.

    An index without our fields is left out, unless the caller ``brings_fields``.
    """
    parts, unreadable = yield from _count(index, documents, options, brings_fields)
    due = [Due(part.index, part.due, part.documents) for part in parts if part.due or part.index in unreadable]
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
    """What would go wrong with a backfill, whether or not anything is due; ``opening`` tells how to fingerprint."""
    options = options or BackfillOptions()
    try:
        documents = yield from opening
    except (MappingError, SchemeMismatchError, IndexStateError) as error:
        due = [Due(name, 0, 0) for name in sorted((yield from _mappings(index)))]
        found = yield from examine(index, None, due, bool(options.settings))
        if not isinstance(error, IndexStateError):  # that an index is closed has been found already
            found.append(of_error(_code_of(error), error, index))
        return accepting(found, options.accept)
    parts, unreadable = yield from _count(index, documents, options, brings_fields)
    due = [Due(part.index, part.due, part.documents) for part in parts]
    return (yield from _examine(index, documents, due, unreadable, options))


def _count(
    index: str, documents: Documents, options: BackfillOptions, brings_fields: bool
) -> Plan[tuple[list[Part], dict[str, EngineError]]]:
    """All indices behind a name, with what is due in each, and why some are not counted: closed, refused, not ours."""
    query = due_query(documents, options)
    mappings = yield from _mappings(index)
    known = entries(mappings, documents.prefix)
    parts, unreadable = list[Part](), dict[str, EngineError]()
    for name, there in sorted(mappings.items()):
        try:
            part = yield from part_of(name, query)
            if known[name] is None and not brings_fields:
                raise no_fields(name, documents.prefix)
            parts.append(replace(part, begun=begun(there, documents)))
        except (IndexStateError, AccessError, MappingError) as error:
            unreadable[name] = error
            parts.append(Part(name, 0, 0, None))
    return parts, unreadable


def _mappings(index: str) -> Plan[dict[str, Json]]:
    """The mappings of all indices behind a name; of closed ones, which a pattern leaves out, nothing."""
    closed: dict[str, Json] = {name: {} for name in (yield from closed_ones(index))}
    try:
        return {**closed, **(yield GetMappings(index))}
    except MissingError:
        if closed:
            return closed
        raise


def _examine(
    index: str, documents: Documents, due: list[Due], unreadable: dict[str, EngineError], options: BackfillOptions
) -> Plan[list[Finding]]:
    found = yield from examine(index, documents, due, bool(options.settings))
    told = {finding.index for finding in found if finding.level == "stop"}
    others = [of_error(_code_of(error), error, name) for name, error in unreadable.items() if name not in told]
    # What cannot even be counted cannot be accepted.
    return [*accepting(found, options.accept - set(map(_code_of, unreadable.values()))), *others]


def _code_of(error: EngineError) -> str:
    match error:
        case AccessError():
            return "privileges"
        case MappingError():
            return "no-fields"
        case SchemeMismatchError():
            return "scheme-mismatch"
    return "read-only"
