"""Checks of the login's privileges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from es_simhash._core.json_codec import Json
from es_simhash.errors import AccessError
from es_simhash.live.doctor.facts import Facts, IndexFacts, rights_in
from es_simhash.live.doctor.finding import Finding
from es_simhash.plans.operations import GetInfo, Plan
from es_simhash.scheme.mapping import Change

# How OpenSearch's security plugin refuses updates by somebody who sees parts only.
_HIDDEN_PARTS = "FLS or DLS or Fieldmasking"
# The privileges that every backfill needs, and the purpose of each.
_ALWAYS = {
    "read": "read documents",
    "view_index_metadata": "read mappings and settings",
    "index": "update documents (index, or write)",
    "maintenance": "refresh (maintenance, or manage)",
}


def check_rights(facts: Facts) -> Iterator[Finding]:
    """Check which privileges the login lacks, and whether it sees whole documents."""
    if facts.hides_rights:
        yield Finding(
            "privileges-unknown",
            "note",
            "This engine does not show what a login may do with an index.",
            "Check that it may read, write (also bulk requests), refresh, and change the mapping.",
        )
    yield from _refused(facts.refused_updates)
    if facts.rights is None:
        return
    found = [finding for there in facts.indices for finding in _of_index(facts, there, facts.rights)]
    yield from found or [Finding("privileges", "ok", "The login may do all that a backfill does.")]


def _of_index(facts: Facts, there: IndexFacts, rights: Mapping[str, Mapping[str, bool]]) -> Iterator[Finding]:
    has = rights.get(there.name, {})
    needed = {**_ALWAYS, **({"manage": "change the mapping or settings"} if _needs_manage(facts, there) else {})}
    if missing := _missing(has, needed, there.name):
        yield missing
    yield from _hidden(there.name, facts.roles)


def _refused(updates: Mapping[str, str]) -> Iterator[Finding]:
    for index, reason in updates.items():
        if _HIDDEN_PARTS in reason:
            yield Finding(
                "hidden-parts",
                "stop",
                f"The login sees the index {index!r} in part, or masked, and the engine then refuses updates.",
                "Use a login without restrictions of documents and fields, and without masks.",
                index,
            )
        else:
            problem, _, remedy = reason.partition(". ")
            yield Finding("privileges", "stop", f"{problem}.", remedy or "Have the privilege granted.", index)


def _missing(has: Mapping[str, bool], needed: Mapping[str, str], index: str) -> Finding | None:
    missing = {name: what for name, what in needed.items() if not has.get(name)}
    if not missing:
        return None
    problem = f"The login may not {', '.join(missing.values())} in the index {index!r}."
    return Finding("privileges", "stop", problem, f"Have these privileges granted: {', '.join(missing)}.", index)


def check_rights_in_new(index: str) -> Plan[None]:
    """Refuse to create an index that the login may not fill, if the server shows its privileges."""
    if (yield GetInfo()).distribution != "elasticsearch":
        return
    rights = yield from rights_in([index])
    if rights and (missing := _missing(rights.get(index, {}), _ALWAYS, index)):
        raise AccessError(f"{missing.message} {missing.remedy}")


def _needs_manage(facts: Facts, there: IndexFacts) -> bool:
    change = facts.documents and there.change(facts.documents)
    return facts.changes_settings or bool(isinstance(change, Change) and change.body)


def _hidden(index: str, roles: Sequence[Json]) -> Iterator[Finding]:
    """Check whether roles hide parts of an index; one role without restrictions shows everything."""
    grants = [role for role in roles if any(fnmatchcase(index, pattern) for pattern in role["names"])]
    for key, what in (("field_security", "fields"), ("query", "documents")):
        if grants and all(role.get(key) for role in grants):
            yield Finding(
                "hidden-parts",
                "stop",
                f"The login does not see all {what} of the index {index!r}, and the engine then refuses updates.",
                f"Use a login without restrictions of {what}.",
                index,
            )
