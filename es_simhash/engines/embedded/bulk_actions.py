"""The actions of a bulk request, performed one by one."""

from __future__ import annotations

from collections.abc import Mapping
from secrets import token_urlsafe
from typing import Any

from es_simhash._core.json_paths import Json
from es_simhash.engines.embedded.index import EmbeddedIndex
from es_simhash.engines.embedded.mapping.document_terms import RejectedError, updated, version_of
from es_simhash.plans.operations import MOST_ID_BYTES, Action, ActionResult

# With one shard, any routing leads to it; with one writer, there are no conflicts to retry.
_METADATA = ("routing", "retry_on_conflict", "if_seq_no", "if_primary_term")
_UPDATE = ("doc", "doc_as_upsert", "upsert", "detect_noop")


def carry_out(action: Action, index: EmbeddedIndex) -> ActionResult:
    """Perform an action on an index, and return its result."""
    id_ = token_urlsafe(15) if action.id is None else action.id
    try:
        _check(action)
        # First, so that the action sees what other processes have written.
        index.acquire()
        _check_unchanged(action, index, id_)
        status = _DO[action.op_type](index, action, id_)
    except RejectedError as error:
        return ActionResult(id_, error.status, error.reason)
    except RecursionError:
        return ActionResult(id_, 400, "The document is nested too deeply. Flatten it.")
    return ActionResult(id_, status)


def _check(action: Action) -> None:
    if action.op_type not in _DO:
        raise RejectedError(400, f"There is no action {action.op_type!r}. Choose from: {', '.join(_DO)}.")
    if action.metadata and (unknown := sorted(set(action.metadata) - set(_METADATA))):
        raise RejectedError(400, f"{', '.join(unknown)}: not supported by the embedded engine. Leave it out.")
    # Without effect, but what no server takes is not taken here.
    routing = (action.metadata or {}).get("routing")
    if isinstance(routing, str) and routing and not _length(routing):
        raise RejectedError(
            400, f"The routing {routing!r:.80} is not Unicode text. Decode it again, with the right encoding."
        )
    if action.id is None:
        if action.op_type in ("update", "delete"):
            raise RejectedError(400, f"There is no id to {action.op_type}. Give the id of the document.")
        return
    if not 0 < _length(action.id) <= MOST_ID_BYTES:
        raise RejectedError(
            400, f"An id has 1 to {MOST_ID_BYTES} bytes of UTF-8; {action.id!r:.80} does not. Shorten it."
        )


def _length(text: str) -> int:
    """Return the length of a text in UTF-8; 0 for halves of surrogate pairs, which it cannot hold."""
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        return 0


def _check_unchanged(action: Action, index: EmbeddedIndex, id_: str) -> None:
    """Raise unless the document is still the one that the action's condition names (see `version_of`)."""
    if not action.metadata:
        return
    condition = {name: value for name, value in action.metadata.items() if name.startswith("if_")}
    if not condition:
        return
    present = index.store.get(id_)
    if present is None and action.op_type == "update":
        return  # refused later, as there is nothing to update
    if present is None or condition != {f"if{name}": number for name, number in version_of(present).items()}:
        raise RejectedError(409, f"The document {id_!r} was changed since it was read. Read it again.")


def _index(index: EmbeddedIndex, action: Action, id_: str) -> int:
    replaces = action.id is not None and index.store.exists(id_)
    index.put(id_, _document(action.body), replaces)
    return 200 if replaces else 201


def _create(index: EmbeddedIndex, action: Action, id_: str) -> int:
    if action.id is not None and index.store.exists(id_):
        raise RejectedError(409, f"There is already a document {id_!r}. Choose another id, or index it to replace it.")
    index.put(id_, _document(action.body), replaces=False)
    return 201


def _update(index: EmbeddedIndex, action: Action, id_: str) -> int:
    body = _document(action.body)
    if "script" in body:
        raise RejectedError(400, "The embedded engine runs no scripts. Update by a partial document in 'doc'.")
    if unknown := sorted(set(body) - set(_UPDATE)):
        raise RejectedError(400, f"An update has {unknown!r}, not supported by the embedded engine. Leave it out.")
    if not isinstance(part := body.get("doc"), Mapping):
        raise RejectedError(400, "An update has no 'doc'. Give the fields to change in it.")
    present = index.document(id_)
    if present is None:
        upsert = part if body.get("doc_as_upsert") else body.get("upsert")
        if upsert is None:
            raise RejectedError(404, f"There is no document {id_!r} to update. Index it, or give an upsert.")
        index.put(id_, _document(upsert), replaces=False)
        return 201
    changed = updated(present, part)
    if changed != present:
        index.put(id_, changed, replaces=True)
    return 200


def _delete(index: EmbeddedIndex, action: Action, id_: str) -> int:
    if not index.store.exists(id_):
        raise RejectedError(404, f"There is no document {id_!r} to delete. Check the id.")
    index.delete(id_)
    return 200


def _document(body: Any) -> Json:
    if not isinstance(body, Mapping):
        raise RejectedError(400, f"The body is {body!r:.80}, not an object. Give a dict.")
    return dict(body)


_DO = {"index": _index, "create": _create, "update": _update, "delete": _delete}
