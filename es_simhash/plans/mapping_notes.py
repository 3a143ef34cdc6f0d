"""Notes of jobs in an index's mapping, beside the schemes in its ``_meta``; they outlive the job."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from es_simhash._core.json_paths import Json
from es_simhash.errors import AccessError, EngineError, IndexStateError
from es_simhash.plans.operations import GetMappings, GetResource, Plan, PutMapping
from es_simhash.scheme.mapping import META


def noted(mapping: Json, name: str) -> Any:
    """Return the note of a name in a mapping, or None.

    Names begin with an underscore. Prefixes of fields, which share the object, never do.
    """
    return ((mapping.get("_meta") or {}).get(META) or {}).get(name)


def note(index: str, name: str, value: Any) -> Plan[None]:
    """Write a note into the mapping of an index, unless it is there; None removes it."""
    meta: Json = (yield GetMappings(index))[index].get("_meta") or {}
    if (new := with_note(meta, name, value)) != meta:
        yield PutMapping(index, {"_meta": new})


def note_where_allowed(index: str, name: str, value: Any) -> Plan[None]:
    """Write a note if the login may change the mapping."""
    if (yield from _may_change_mapping(index)):
        with suppress(AccessError, IndexStateError):
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


def with_note(meta: Json, name: str, value: Any) -> Json:
    """Return a ``_meta`` with a note, or, with None, without it."""
    own = {other: there for other, there in (meta.get(META) or {}).items() if other != name}
    if value is not None:
        own[name] = value
    kept = {other: there for other, there in meta.items() if other != META}
    return {**kept, META: own} if own else kept
