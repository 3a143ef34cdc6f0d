"""The settings of an index that its copy gets, and those that wait until all documents are copied."""

from __future__ import annotations

import re

from es_simhash._core.json_codec import Json

# Settings made by the server, or about the origin of the index.
_OF_THE_SERVER = re.compile(
    r"index\.(uuid|creation_date(_string)?|provided_name|verified_before_close|(version|history|resize|shrink|split|clone"
    r"|remote_store|store\.snapshot|routing\.allocation\.initial_recovery)(\..*)?)"
)
# Settings that would harm the copy: a block keeps documents out, a policy may roll the index over or delete it.
_OF_THE_INDEX_ALONE = re.compile(
    r"index\.(frozen|(blocks|lifecycle|plugins\.index_state_management|opendistro\.index_state_management)(\..*)?)"
)
# The pipeline has already processed each document in the source.
_PIPELINES = ("index.default_pipeline", "index.final_pipeline")
_NO_PIPELINE = "_none"


def copied(settings: Json) -> Json:
    """Return the settings with which a copy of an index is created."""
    return {
        name: value
        for name, value in settings.items()
        if not _OF_THE_SERVER.fullmatch(name)
        and not _OF_THE_INDEX_ALONE.fullmatch(name)
        and (name, value) != ("index.store.type", "snapshot")
    }


def left_out(settings: Json) -> list[str]:
    """Name the settings chosen by a person that the copy does not get."""
    return sorted(name for name in settings if _OF_THE_INDEX_ALONE.fullmatch(name))


def interim(settings: Json, fast: bool) -> Json:
    """Return the settings during the run: no pipelines, and with ``fast`` no refreshes and no replicas."""
    pipelines = {name: _NO_PIPELINE for name in _PIPELINES if settings.get(name, _NO_PIPELINE) != _NO_PIPELINE}
    return pipelines | ({"index.refresh_interval": "-1", "index.number_of_replicas": "0"} if fast else {})
