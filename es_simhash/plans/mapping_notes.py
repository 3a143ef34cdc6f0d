"""Notes of jobs in an index's mapping, which outlive the job (`es_simhash.scheme.notes` says where they stand)."""

from __future__ import annotations

from contextlib import suppress

from es_simhash._core.json_paths import Json
from es_simhash.errors import AccessError, EngineError, IndexStateError, MappingError
from es_simhash.plans.operations import GetMappings, GetResource, Plan, PutMapping
from es_simhash.scheme import notes

# How often to write a note into ``_meta`` that others replace at the same time.
_ATTEMPTS = 8


def noted(mapping: Json, name: str) -> Json | None:
    """Return the note of a name in a mapping, or None.

    Names begin with an underscore. Prefixes of fields, which have notes too, never do.
    """
    found = notes.note(mapping, name)
    return found if isinstance(found, dict) else None


def note(index: str, name: str, value: Json | None) -> Plan[None]:
    """Write a note into the mapping of an index, unless it is there; None removes it."""
    there = (yield GetMappings(index))[index]
    if properties := notes.change(there, name, value):
        yield PutMapping(index, {"properties": properties})


def forget_prefix(index: str, prefix: str) -> Plan[None]:
    """Remove the note about the fields under a prefix, and its copy."""
    there = (yield GetMappings(index))[index]
    if properties := notes.change(there, prefix, None):
        yield PutMapping(index, {"properties": properties, "_meta": notes.copies(there, {prefix: None})})


def note_in_meta(index: str, name: str, value: Json | None) -> Plan[None]:
    """Write a note that is too long for fields into ``_meta``, again until it is there; None removes it.

    Others who replace ``_meta`` at the same moment may take it away later, so it must be one that can be made again.
    """
    for _ in range(_ATTEMPTS):
        there = (yield GetMappings(index))[index]
        if notes.in_meta(there, name) == value:
            return
        yield PutMapping(index, {"_meta": notes.copies(there, {name: value})})
    raise IndexStateError(
        f"Others replaced the _meta of the index {index!r} each time a note was written there. "
        "Find out who else changes its mapping, then run it again."
    )


def note_where_allowed(index: str, name: str, value: Json) -> Plan[None]:
    """Write a note if the login may change the mapping, and the mapping can take its fields."""
    if (yield from _may_change_mapping(index)):
        with suppress(AccessError, IndexStateError, MappingError):
            yield from note(index, name, value)


def check_may_note(index: str) -> Plan[None]:
    """Raise if the login may not change the mapping of an index, or a block keeps it from being changed."""
    if not (yield from _may_change_mapping(index)):
        raise AccessError(
            f"The login may not change the mapping of {index!r}. Give it the privilege manage on the index."
        )
    yield PutMapping(index, {"properties": {}})


def _may_change_mapping(index: str) -> Plan[bool]:
    """Return whether the login may change the mapping; also True if the engine does not show it.

    Elasticsearch still allows this with the privilege to write, but warns each time that this will end.
    """
    question = {"index": [{"names": [index], "privileges": ["indices:admin/mapping/put"]}]}
    try:
        reply = yield GetResource("/_security/user/_has_privileges", index, question)
    except EngineError:  # there are no logins, or the server cannot be asked
        return True
    return bool(reply.get("has_all_requested", True))
