"""Settings of an index that are changed for the time of a run.

What they were is kept in the mapping's ``_meta`` meanwhile, so that a run which is killed cannot lose it: the next run,
on whatever machine, sets them back first.
"""

from __future__ import annotations

from collections.abc import Iterable

from es_simhash._core.json_paths import Json
from es_simhash.live.sweep.notes import note, noted
from es_simhash.plans.operations import GetMappings, GetSettings, Plan, PutSettings

_KEPT = "_settings_before_backfill"


def change(index: str, settings: Json) -> Plan[None]:
    """Change settings of an index, and keep what they were."""
    present = (yield GetSettings(index))[index]
    yield from note(index, _KEPT, {name: present.get(name) for name in settings})
    yield PutSettings(index, settings)


def are_changed(mapping: Json) -> bool:
    """Whether an index with this mapping has settings that are still to be set back."""
    return bool(noted(mapping, _KEPT))


def set_back(index: str) -> Plan[Json | None]:
    """Set the settings of an index back to what was kept, and return that; None if nothing was."""
    before: Json | None = noted((yield GetMappings(index))[index], _KEPT)
    if before:
        yield PutSettings(index, before)
        yield from note(index, _KEPT, None)
    return before


def all_set_back(indices: Iterable[str]) -> Plan[None]:
    """The same for several indices."""
    for index in indices:
        yield from set_back(index)
