"""Actions whose reply was lost, on an alias or a data stream, which may have rolled over since.

Such a name stands for another index then: the same action, sent again, would write its document a second time. Servers
take an id as unique within one index only. So before such an action is sent again, the documents with its id are looked
up in all indices behind the name:

- There is none: nothing was done, and the action is sent again as it is.
- One has all that an ``index`` or a ``create`` gives: that is done.
- There is one that differs: an ``index`` or an ``update`` is sent to its index, where it replaces or changes that one
  document, however often. A ``create`` is refused, as by that index.
- There are several, or they cannot be looked up: nobody knows. The action is refused, with all that is known.

A ``delete`` does no harm when it is sent again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from es_simhash._core.json_paths import Json
from es_simhash.errors import EngineError, UnavailableError, UnreachableError
from es_simhash.plans.hits_by_id import hits_by_id
from es_simhash.plans.operations import Action, ActionResult, Plan

DOUBT = "An earlier attempt, whose reply was lost, may have done it: look at the document."


def look_up(index: str, actions: Mapping[int, Action]) -> Plan[dict[int, Action | ActionResult]]:
    """Return what may be sent of actions that are known by their places, and the results of the others.

    An engine that is away or overloaded raises.
    """
    by_name: dict[str, dict[int, Action]] = defaultdict(dict)
    for place, action in actions.items():
        by_name[action.index or index][place] = action
    found: dict[int, Action | ActionResult] = {}
    for name, some in by_name.items():
        try:
            hits = yield from hits_by_id(name, (str(action.id) for action in some.values()), None, refresh=True)
        except (UnreachableError, UnavailableError):
            raise
        except EngineError as error:
            found |= {place: _refused(action, f"{error} {DOUBT}") for place, action in some.items()}
        else:
            found |= {place: _judged(action, hits.get(str(action.id), ())) for place, action in some.items()}
    return found


def holds(there: Any, given: Any) -> bool:
    """Return whether a stored value has all that was given; a pipeline of the server may have added to it."""
    if isinstance(given, Mapping):
        return isinstance(there, Mapping) and all(
            name in there and holds(there[name], value) for name, value in given.items()
        )
    if isinstance(given, list | tuple):
        return isinstance(there, list) and len(there) == len(given) and all(map(holds, there, given))
    return bool(there == given)


def _judged(action: Action, hits: Sequence[Json]) -> Action | ActionResult:
    """Return the action as it may be sent, or its result."""
    if not hits or action.op_type == "delete":
        return action
    if action.op_type != "update" and any(holds(hit.get("_source"), action.body) for hit in hits):
        return ActionResult(str(action.id), HTTPStatus.OK)
    if len(hits) > 1 or action.op_type == "create":
        there = " and in ".join(repr(hit["_index"]) for hit in hits)
        return _refused(action, f"there is another document with this id in {there}. {DOUBT}")
    metadata = {name: value for name, value in (action.metadata or {}).items() if name != "require_alias"}
    return replace(action, index=hits[0]["_index"], metadata=metadata or None)


def _refused(action: Action, reason: str) -> ActionResult:
    return ActionResult(str(action.id), HTTPStatus.CONFLICT, reason)
