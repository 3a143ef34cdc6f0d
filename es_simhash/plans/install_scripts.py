"""The stored scripts and search templates of an index: installed on a server, and removed again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from es_simhash.documents.painless.stored_scripts import StoredScript
from es_simhash.errors import EngineError, IndexStateError, ScriptError
from es_simhash.plans.operations import DeleteResource, GetResource, Plan, PutResource, is_server


@dataclass(frozen=True)
class InstalledScripts:
    """The names installed, and the templates ``left_out`` because the server runs none."""

    names: list[str]
    left_out: list[str]


def install_scripts(wanted: Sequence[StoredScript]) -> Plan[InstalledScripts]:
    """Install all scripts; raise before the first if the server has a different script under one of their names."""
    yield from _check_engine()
    for each in wanted:
        yield from _check_free(each)
    installed = InstalledScripts([], [])
    for each in wanted:
        try:
            yield PutResource(_compiled_path(each), each.body)
        except ScriptError:
            if not each.is_template:
                raise
            installed.left_out.append(each.name)
        else:
            installed.names.append(each.name)
    return installed


def remove_scripts(wanted: Sequence[StoredScript]) -> Plan[list[str]]:
    """Remove the scripts that the server has, whatever their contents; return their names."""
    yield from _check_engine()
    removed = []
    for each in wanted:
        if (yield GetResource(each.path, each.name)).get("found"):
            yield DeleteResource(each.path)
            removed.append(each.name)
    return removed


def _check_engine() -> Plan[None]:
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


def _compiled_path(each: StoredScript) -> str:
    """Return the path at which the server compiles a script before it stores it."""
    return f"{each.path}/{each.context}" if each.context else each.path
