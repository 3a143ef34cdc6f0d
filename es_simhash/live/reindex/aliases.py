"""Moving aliases from an index to its copy."""

from __future__ import annotations

from collections.abc import Sequence

from es_simhash._core.json_paths import Json
from es_simhash.errors import InputError, MissingError
from es_simhash.plans.operations import GetAliases, GetInfo, Plan


def alias_changes(source: str, destination: str, aliases: Sequence[str]) -> Plan[list[Json]]:
    """Return the actions that move aliases from the source to the destination, with their definitions."""
    changes: list[Json] = []
    if aliases and (yield GetInfo()).distribution == "embedded":
        raise InputError("The embedded engine has no aliases. Leave them out, and open the copy by its own name.")
    for alias in aliases:
        try:
            behind = yield GetAliases(alias)
        except MissingError:
            behind = {}
        if alias in behind or alias == destination:
            raise InputError(
                f"{alias!r} is an index, and an alias cannot have the name of an existing index. Choose another alias."
            )
        if behind and source not in behind:
            raise InputError(
                f"The alias {alias!r} stands for {', '.join(sorted(behind))}, not for {source!r}. Choose another alias."
            )
        says = behind[source][alias] if behind else {}
        if behind:
            changes.append({"remove": {"index": source, "alias": alias}})
        changes.append({"add": {"index": destination, "alias": alias, **says}})
    return changes
