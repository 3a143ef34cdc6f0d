"""Documents as clients send them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from es_simhash._core.json_paths import Json
from es_simhash.documents.actions import id_of

_ROUTING = "_routing"
# A server refuses a whole request, with the documents of others, for the sake of one longer id.
_MOST_BYTES = 512


def identified(document: Any, id_: str, index: str) -> Json | str:
    """Return a document as an action with an id, which is ``id_`` if it has none; or why it cannot be one.

    A document has its fields beside ``_id`` and ``_routing``, or in ``_source``.
    """
    if not isinstance(document, Mapping):
        return f"A document is an object, not {type(document).__name__}. Send the fields of one."
    if document.get("_op_type", "index") != "index":
        return "A gate takes whole documents, and no updates or deletes. Leave _op_type out."
    if document.get("_index", index) != index:
        return f"This is the gate of {index!r}, not of {document['_index']!r:.80}. Leave _index out."
    named, body = id_of(document), document.get("_source")
    if named is not None and not 0 < len(named.encode(errors="replace")) <= _MOST_BYTES:
        return f"An id has 1 to {_MOST_BYTES} bytes, not {len(named.encode(errors='replace')):,}. Send a shorter one."
    if body is None:
        body = {name: value for name, value in document.items() if name not in ("_id", "_index", "_op_type", _ROUTING)}
    elif not isinstance(body, Mapping):
        return f"The fields of a document are an object, not {type(body).__name__}. Send them in _source."
    routed = {} if document.get(_ROUTING) is None else {_ROUTING: document[_ROUTING]}
    return {"_id": id_ if named is None else named, **routed, "_source": body}
