"""What runs note in an index's mapping, beside the schemes in its ``_meta``: it outlives whoever wrote it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from es_simhash._core.json_paths import Json
from es_simhash.errors import AccessError, EngineError, IndexStateError
from es_simhash.plans.operations import GetMappings, GetResource, Plan, PutMapping
from es_simhash.scheme.mapping import META


def noted(mapping: Json, name: str) -> Any:
    """What is noted in a mapping under a name; None if nothing is.

    Names begin with an underscore: no prefix of fields does, so that they stand beside them.
    """
    return ((mapping.get("_meta") or {}).get(META) or {}).get(name)


def note(index: str, name: str, value: Any) -> Plan[None]:
    """Note something in the mapping of an index, unless it is noted already; None takes it out."""
    meta: Json = (yield GetMappings(index))[index].get("_meta") or {}
    if (new := with_note(meta, name, value)) != meta:
        yield PutMapping(index, {"_meta": new})


def note_where_allowed(index: str, name: str, value: Any) -> Plan[None]:
    """The same; a login that may not change the mapping does without."""
    if (yield from _may_change_mapping(index)):
        with suppress(AccessError, IndexStateError):
            yield from note(index, name, value)


def _may_change_mapping(index: str) -> Plan[bool]:
    """Whether the login may; also True where that is not told.

    Elasticsearch still lets the privilege to write do so, but warns each time that this will end.
    """
    question = {"index": [{"names": [index], "privileges": ["indices:admin/mapping/put"]}]}
    try:
        reply = yield GetResource("/_security/user/_has_privileges", index, question)
    except EngineError:  # there are no logins, or the server has no such question
        return True
    return bool(reply.get("has_all_requested", True))


def with_note(meta: Json, name: str, value: Any) -> Json:
    """A ``_meta`` with something noted in it, or with None without that."""
    own = {other: there for other, there in (meta.get(META) or {}).items() if other != name}
    if value is not None:
        own[name] = value
    kept = {other: there for other, there in meta.items() if other != META}
    return {**kept, META: own} if own else kept
