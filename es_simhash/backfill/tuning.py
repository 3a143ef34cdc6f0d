"""Settings of an index that are changed for the time of a backfill.

What they were is kept in the mapping's ``_meta`` meanwhile, so that a run which is killed cannot lose it: the next run,
on whatever machine, sets them back first.
"""

from __future__ import annotations

from es_simhash.fields import Json
from es_simhash.mapping import META
from es_simhash.operations import GetMappings, GetSettings, Plan, PutMapping, PutSettings

# No prefix of fields begins with an underscore, so this stands beside them.
_KEPT = "_settings_before_backfill"


def change(index: str, settings: Json) -> Plan[None]:
    """Change settings of an index, and keep what they were."""
    present = (yield GetSettings(index))[index]
    before = {name: present.get(name) for name in settings}
    yield from _keep(index, before)
    yield PutSettings(index, settings)


def set_back(index: str) -> Plan[Json | None]:
    """Set the settings of an index back to what was kept, and return that; None if nothing was."""
    before = _kept((yield GetMappings(index))[index])
    if before:
        yield PutSettings(index, before)
        yield from _keep(index, None)
    return before


def _kept(mapping: Json) -> Json | None:
    kept: Json | None = ((mapping.get("_meta") or {}).get(META) or {}).get(_KEPT)
    return kept


def _keep(index: str, before: Json | None) -> Plan[None]:
    """Write what the settings were into the mapping, or take it out."""
    meta: Json = (yield GetMappings(index))[index].get("_meta") or {}
    own = {name: value for name, value in (meta.get(META) or {}).items() if name != _KEPT}
    yield PutMapping(index, {"_meta": {**meta, META: own if before is None else {**own, _KEPT: before}}})
