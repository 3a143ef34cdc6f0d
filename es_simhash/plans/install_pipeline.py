"""The ingest pipeline of an index: shown, installed, made the index's default, and removed again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.documents.painless.ingest_pipeline import description, is_ours, name_of, pipeline
from es_simhash.documents.painless.stored_scripts import StoredScript
from es_simhash.errors import EngineError, IndexStateError, MissingError, ScriptError
from es_simhash.plans.operations import (
    DeleteResource,
    GetResource,
    GetSettings,
    Plan,
    PutResource,
    PutSettings,
    is_server,
    is_several,
)
from es_simhash.plans.text_fields import refuse_foreign

_DEFAULT = "index.default_pipeline"
_FINAL = "index.final_pipeline"
# Values of a setting that mean no pipeline.
_NONE = (None, "_none")


@dataclass(frozen=True)
class IngestPipeline:
    """An ingest pipeline: whether it is ``installed``, and the indices that have it as their default."""

    name: str
    installed: bool
    default_of: list[str]
    body: Json = field(repr=False)


@dataclass(frozen=True)
class PipelineRemoved:
    """A removed pipeline: whether it existed at all, and the indices that had it as their default."""

    name: str
    removed: bool
    default_of: list[str]


def show_pipeline(index: str, documents: Documents) -> Plan[IngestPipeline]:
    """Return the pipeline without installing it."""
    yield from _check_engine(index)
    return IngestPipeline(name_of(index, documents.prefix), False, [], pipeline(index, documents))


def install_pipeline(index: str, documents: Documents, default: bool) -> Plan[IngestPipeline]:
    """Install the pipeline; with ``default``, make it the default of each index behind the name."""
    shown = yield from show_pipeline(index, documents)
    yield from _is_there(index, documents.prefix)
    yield from refuse_foreign(index, documents)
    settings: dict[str, Json] = {}
    if default:
        settings = yield GetSettings(index)
        yield from _check_defaults(settings, shown.name, documents.prefix)
    yield PutResource(path_of_pipeline(shown.name), shown.body)
    for each in settings:
        yield PutSettings(each, {_DEFAULT: shown.name})
    return IngestPipeline(shown.name, True, sorted(settings), shown.body)


def remove_pipeline(index: str, prefix: str) -> Plan[PipelineRemoved]:
    """Remove the pipeline, first as the default of each index behind the name."""
    yield from _check_engine(index)
    name = name_of(index, prefix)
    there = yield from _is_there(index, prefix)
    try:
        settings = yield GetSettings(index)
    except MissingError:  # the index is deleted already
        settings = {}
    everywhere = yield from _pipelines_in_use()
    others = {other: found for other, found in everywhere.items() if other not in settings}
    _check_unused(others, name, (_DEFAULT, _FINAL))
    _check_unused(settings, name, (_FINAL,))
    defaults = sorted(each for each, found in settings.items() if found.get(_DEFAULT) == name)
    for each in defaults:
        yield PutSettings(each, {_DEFAULT: None})
    if there:
        yield DeleteResource(path_of_pipeline(name))
    return PipelineRemoved(name, there, defaults)


def _pipelines_in_use() -> Plan[dict[str, Json]]:
    """Return the pipelines in the settings of all indices, including closed ones and those that hide their settings."""
    kinds = ",".join(f"metadata.indices.*.settings.{kind}" for kind in (_DEFAULT, _FINAL))
    state = yield GetResource(f"/_cluster/state/metadata?filter_path={kinds}")
    indices = state.get("metadata", {}).get("indices", {})
    return {
        index: {f"index.{kind}": name for kind, name in found["settings"]["index"].items()}
        for index, found in indices.items()
    }


def _check_engine(index: str) -> Plan[None]:
    if not (yield from is_server()):
        raise EngineError(
            "The embedded engine has no ingest pipelines: all that is written to it goes through es_simhash, which "
            "makes the fingerprints itself. Use a server, or leave the pipeline out."
        )
    if is_several(index):
        raise IndexStateError(
            f"A pipeline belongs to one index, and {index!r} may be several. Name one index, or an alias."
        )


def _is_there(index: str, prefix: str) -> Plan[bool]:
    """Return whether the server has the pipeline; raise if another pipeline has its name."""
    name = name_of(index, prefix)
    there: Json | None = (yield GetResource(path_of_pipeline(name))).get(name)
    if there and there.get("description") != description(index, prefix):
        raise IndexStateError(
            f"The server has a pipeline {name!r} that does not belong to {index!r} under {prefix!r}. "
            f"Rename or delete it (DELETE {path_of_pipeline(name)}), or choose another prefix."
        )
    return there is not None


def _check_defaults(settings: dict[str, Json], name: str, prefix: str) -> Plan[None]:
    """Raise if an index has another default pipeline, unless that is ours of an index this one was copied from."""
    for index, found in settings.items():
        other = found.get(_DEFAULT)
        if other in (*_NONE, name):
            continue
        there = (yield GetResource(path_of_pipeline(other))).get(other) or {}
        if not is_ours(there.get("description"), prefix):
            call = json.dumps({"pipeline": {"name": name}})
            raise IndexStateError(
                f"The index {index!r} has the default pipeline {other!r} already. Install ours without making it the "
                f"default, and add as the last processor of {other!r}: {call}"
            )


def _check_unused(settings: dict[str, Json], name: str, kinds: tuple[str, ...]) -> None:
    """Raise if writes would fail without the pipeline."""
    for index, found in settings.items():
        for kind in kinds:
            if found.get(kind) == name:
                raise IndexStateError(
                    f"The pipeline {name!r} is the {kind} of {index!r} too. Change that setting first, "
                    "since nothing could be written there without the pipeline."
                )


def path_of_pipeline(name: str) -> str:
    """Return the path of a pipeline on a server."""
    return f"/_ingest/pipeline/{quote(name, safe='')}"


@dataclass(frozen=True)
class InstalledScripts:
    """The names installed, and the templates ``left_out`` because the server runs none."""

    names: list[str]
    left_out: list[str]


def install_scripts(wanted: Sequence[StoredScript]) -> Plan[InstalledScripts]:
    """Install all scripts; raise before the first if the server has a different script under one of their names."""
    yield from _check_scripts_engine()
    for each in wanted:
        yield from _check_free(each)
    installed = InstalledScripts([], [])
    for each in wanted:
        try:
            # The server compiles a script at this path before it stores it.
            yield PutResource(f"{each.path}/{each.context}" if each.context else each.path, each.body)
        except ScriptError:
            if not each.is_template:
                raise
            installed.left_out.append(each.name)
        else:
            installed.names.append(each.name)
    return installed


def remove_scripts(wanted: Sequence[StoredScript]) -> Plan[list[str]]:
    """Remove the scripts that the server has, whatever their contents; return their names."""
    yield from _check_scripts_engine()
    removed = []
    for each in wanted:
        if (yield GetResource(each.path, each.name)).get("found"):
            yield DeleteResource(each.path)
            removed.append(each.name)
    return removed


def _check_scripts_engine() -> Plan[None]:
    if not (yield from is_server()):
        raise EngineError(
            "The embedded engine runs no scripts: es_simhash itself compares what it finds. "
            "Use a server, or leave the scripts out."
        )


def _check_free(wanted: StoredScript) -> Plan[None]:
    there = yield GetResource(wanted.path, wanted.name)
    if there.get("found") and there["script"]["source"] != wanted.source:
        raise IndexStateError(
            f"The server has another script {wanted.name!r} already: of an index with other fields, or of another "
            "release. Remove it first (--remove), or choose another name for these."
        )
