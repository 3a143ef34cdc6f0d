"""Documents as clients send them."""

from __future__ import annotations

from collections.abc import Mapping
from secrets import token_urlsafe
from typing import Any

from es_simhash._core.json_paths import Json
from es_simhash.documents.actions import checked_id, id_of
from es_simhash.errors import DocumentError
from es_simhash.gate.sendable import check_sendable

_ROUTING = "_routing"
# Bytes of a random id.
_ID_BYTES = 15


class NoDocument:
    """What stands for a document that could not be read; it is rejected in its turn."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


def identified(document: Any, id_: str | None, index: str) -> Json:
    """Return a document as an action with an id; raise if it cannot be one.

    The id of a document that has none is ``id_``, or a random one.

    A document has its fields beside ``_id`` and ``_routing``, or in ``_source``.
    """
    if isinstance(document, NoDocument):
        raise DocumentError(document.reason)
    if not isinstance(document, Mapping):
        raise DocumentError(f"A document is an object, not {type(document).__name__}. Send the fields of one.")
    if document.get("_op_type", "index") != "index":
        raise DocumentError("A gate takes whole documents, and no updates or deletes. Leave _op_type out.")
    if document.get("_index", index) != index:
        raise DocumentError(f"This is the gate of {index!r}, not of {document['_index']!r:.80}. Leave _index out.")
    try:
        named = checked_id(document)
    except DocumentError as error:
        raise DocumentError(f"The document {error.problem}") from None
    body = document.get("_source")
    if body is None:
        body = {name: value for name, value in document.items() if name not in ("_id", "_index", "_op_type", _ROUTING)}
    elif not isinstance(body, Mapping):
        raise DocumentError(f"The fields of a document are an object, not {type(body).__name__}. Send them in _source.")
    routed = {} if document.get(_ROUTING) is None else {_ROUTING: document[_ROUTING]}
    if named is None:
        named = token_urlsafe(_ID_BYTES) if id_ is None else id_
    action = {"_id": named, **routed, "_source": body}
    check_sendable(action)
    return action


def has_id(document: Any, id_: str | None) -> bool:
    """Return whether a client has named a document, so that it may ask again."""
    return id_ is not None or id_of(document) is not None
