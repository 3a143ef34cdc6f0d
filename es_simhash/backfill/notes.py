"""What runs note in an index's mapping, beside the schemes in its ``_meta``: it outlives whoever wrote it."""

from __future__ import annotations

from typing import Any

from es_simhash.fields import Json
from es_simhash.mapping import META
from es_simhash.operations import GetMappings, Plan, PutMapping


def noted(mapping: Json, name: str) -> Any:
    """What is noted in a mapping under a name; None if nothing is.

    Names begin with an underscore: no prefix of fields does, so that they stand beside them.
    """
    return ((mapping.get("_meta") or {}).get(META) or {}).get(name)


def note(index: str, name: str, value: Any) -> Plan[None]:
    """Note something in the mapping of an index; None takes it out."""
    meta: Json = (yield GetMappings(index))[index].get("_meta") or {}
    yield PutMapping(index, {"_meta": with_note(meta, name, value)})


def with_note(meta: Json, name: str, value: Any) -> Json:
    """A ``_meta`` with something noted in it, or with None without that."""
    own = {other: there for other, there in (meta.get(META) or {}).items() if other != name}
    if value is not None:
        own[name] = value
    kept = {other: there for other, there in meta.items() if other != META}
    return {**kept, META: own} if own else kept
