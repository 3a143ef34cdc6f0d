"""Documents as clients send them: what a gate takes of them, and how it asks for an index."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from secrets import token_urlsafe
from typing import Any

from es_simhash._core.json_codec import Json
from es_simhash.documents.actions import checked_id, id_of
from es_simhash.errors import DocumentError
from es_simhash.gate import limits
from es_simhash.plans.operations import MOST_ID_BYTES

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

    A document has its fields next to ``_id`` and ``_routing``, or in ``_source``.
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


# Bytes of a routing: what servers take.
MOST_OF_ROUTING = 32_766


def check_sendable(action: Json) -> None:
    """Raise unless any request can hold an action: its ``_id``, its ``_routing`` and its ``_source``."""
    _check_name("An id", action["_id"], 1, MOST_ID_BYTES)
    routing = action.get("_routing")
    if isinstance(routing, str):
        _check_name("A routing", routing, 0, MOST_OF_ROUTING)
    elif routing is not None and not isinstance(routing, int | float):
        raise DocumentError(f"A routing is a string, not {type(routing).__name__}. Send a string in _routing.")
    try:
        # What only Python has, such as a date, is for the engine's client to encode, or to refuse.
        json.dumps(action, ensure_ascii=False, allow_nan=False, default=_as_text).encode()
        is_deep = _is_deep(action["_source"])
    except RecursionError:
        is_deep = True
    except (ValueError, TypeError) as error:
        raise DocumentError(next(_problems(action), f"The document is not JSON: {error}. Correct it.")) from None
    if is_deep:
        raise DocumentError(f"The document has more than {limits.DEPTH} levels of objects and lists. Flatten it.")


def _as_text(value: Any) -> str:
    try:
        return str(value)
    except Exception as error:  # of somebody else's class
        raise TypeError("") from error


def _check_name(what: str, name: str, least: int, most: int) -> None:
    if problem := _half(name):
        raise DocumentError(f"{what} {problem}")
    if not least <= (length := len(name.encode())) <= most:
        raise DocumentError(f"{what} has {least} to {most:,} bytes, not {length:,}. Send a shorter one.")


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(limits.DEPTH):
        inner = (each for one in level for each in (one.values() if isinstance(one, dict) else one))
        level = [each for each in inner if isinstance(each, dict | list | tuple)]
        if not level:
            return False
    return True


def _problems(action: Json) -> Iterator[str]:
    """Yield what no JSON has, and in which field."""
    waiting: list[tuple[str, Any]] = [(name, action[name]) for name in ("_routing", "_source") if name in action]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str) and (problem := _half(value)):
            yield f"The field {path!r:.80} {problem}"
        elif isinstance(value, float) and not math.isfinite(value):
            problem = f"has the number {value}, which JSON does not allow"
            yield f"The field {path!r:.80} {problem}. Leave it out, or send null."
        elif isinstance(value, dict):
            for name, inner in value.items():
                if problem := _half(str(name)):
                    yield f"The name of the field {name!r:.80} {problem}"
                waiting.append((f"{path}.{name}".removeprefix("_source."), inner))
        elif isinstance(value, list | tuple):
            waiting += [(path, inner) for inner in value]


def _half(text: str) -> str | None:
    """Return what is wrong with a text that is not Unicode."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = f"half of a surrogate pair (U+{ord(text[error.start]):04X})"
        return f"has {half}, so it is not Unicode text. Decode it again, with the right encoding."
    return None
