"""Putting a copy in the place of its source behind aliases."""

from __future__ import annotations

from collections.abc import Sequence

from es_simhash._core.json_paths import Json
from es_simhash.errors import InputError, MissingError
from es_simhash.plans.operations import GetAliases, GetInfo, Plan


def alias_changes(source: str, destination: str, aliases: Sequence[str]) -> Plan[list[Json]]:
    """What takes the source out of aliases and puts the destination in, each with what it says there."""
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
                f"{alias!r} is an index, and no alias can have its name while it is there. Choose another alias."
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
