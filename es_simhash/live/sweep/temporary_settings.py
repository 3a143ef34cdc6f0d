"""Settings of an index that are changed while a job runs.

The mapping's ``_meta`` keeps the former values, so that a run that is killed cannot lose them: the next run,
on any machine, restores them first.
"""

from __future__ import annotations

from collections.abc import Iterable

from es_simhash._core.json_codec import Json
from es_simhash.plans.open_index import note, noted
from es_simhash.plans.operations import GetMappings, GetSettings, Plan, PutSettings

_KEPT = "_settings_before_backfill"


def change(index: str, settings: Json) -> Plan[None]:
    """Change settings of an index, and note their former values."""
    present = (yield GetSettings(index))[index]
    yield from note(index, _KEPT, {name: present.get(name) for name in settings})
    yield PutSettings(index, settings)


def are_changed(mapping: Json) -> bool:
    """Return whether an index with this mapping has settings to set back."""
    return bool(noted(mapping, _KEPT))


def set_back(index: str) -> Plan[Json | None]:
    """Set the settings of an index back to the noted values, and return these; None if there are none."""
    before: Json | None = noted((yield GetMappings(index))[index], _KEPT)
    if before:
        yield PutSettings(index, before)
        yield from note(index, _KEPT, None)
    return before


def all_set_back(indices: Iterable[str]) -> Plan[None]:
    """Set the settings of several indices back."""
    for index in indices:
        yield from set_back(index)
