"""Which settings of an index its copy gets, and which of them only once all documents are there."""

from __future__ import annotations

import re

from es_simhash._core.json_paths import Json

# What a server sets itself, or notes about how the index came to be.
_OF_THE_SERVER = re.compile(
    r"index\.(uuid|creation_date(_string)?|provided_name|verified_before_close|(version|history|resize|shrink|split|clone"
    r"|remote_store|store\.snapshot|routing\.allocation\.initial_recovery)(\..*)?)"
)
# What would act on the copy as on the index: a block keeps documents out, a policy may roll it over or delete it.
_OF_THE_INDEX_ALONE = re.compile(
    r"index\.(frozen|(blocks|lifecycle|plugins\.index_state_management|opendistro\.index_state_management)(\..*)?)"
)
# A pipeline has dealt with each document when it came into the source.
_PIPELINES = ("index.default_pipeline", "index.final_pipeline")
_NO_PIPELINE = "_none"


def copied(settings: Json) -> Json:
    """The settings that a copy of an index is made with."""
    return {
        name: value
        for name, value in settings.items()
        if not _OF_THE_SERVER.fullmatch(name)
        and not _OF_THE_INDEX_ALONE.fullmatch(name)
        and (name, value) != ("index.store.type", "snapshot")
    }


def left_out(settings: Json) -> list[str]:
    """The names of those that somebody has chosen, and that the copy does not get all the same."""
    return sorted(name for name in settings if _OF_THE_INDEX_ALONE.fullmatch(name))


def meanwhile(settings: Json, fast: bool) -> Json:
    """The settings while documents are copied: no pipelines, and with ``fast`` no refreshes and no replicas."""
    pipelines = {name: _NO_PIPELINE for name in _PIPELINES if settings.get(name, _NO_PIPELINE) != _NO_PIPELINE}
    return pipelines | ({"index.refresh_interval": "-1", "index.number_of_replicas": "0"} if fast else {})
