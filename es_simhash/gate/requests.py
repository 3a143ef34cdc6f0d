"""Documents as they come over a wire, with what a gate takes of them, and answers as they go back."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from secrets import token_urlsafe
from typing import Any, TypeAlias

import numpy as np

from es_simhash._core.harmless import json_text
from es_simhash._core.json_codec import Json, values_at
from es_simhash._core.rows import as_json
from es_simhash.documents.documents import Document, checked_id, id_of
from es_simhash.errors import DocumentError, EngineError
from es_simhash.gate import limits
from es_simhash.gate.verdict import Verdict
from es_simhash.plans.operations import MOST_ID_BYTES

# Bytes that are looked at together.
_CHUNK = 1 << 16
# Bytes that Python takes for a value, which may be a field with its name, and for a list or an object beyond that.
_OF_VALUE, _OF_CONTAINER = 100, 150
# In UTF-8, what begins the characters that take four bytes, and what continues any.
_WIDE, _CONTINUING = re.compile(rb"[\xf0-\xff]"), bytes(range(0x80, 0xC0))

_STEPS = np.zeros(256, np.int8)
_STEPS[list(b"[{")], _STEPS[list(b"]}")] = 1, -1
_QUOTE, _COMMA = b'",'


@dataclass(frozen=True)
class Shape:
    """Numbers of values, of documents in a list, and of containers, and how deep they nest; or upper bounds of them."""

    values: int = 0
    documents: int = 1
    containers: int = 0
    depth: int = 0

    @property
    def problem(self) -> str | None:
        """What exceeds a limit, and what to do."""
        if self.documents > limits.DOCUMENTS:
            return (
                f"A list has at most {limits.DOCUMENTS:,} documents. Send shorter lists, or a document a line to /bulk."
            )
        if self.depth > limits.DEPTH:
            return f"It is nested deeper than {limits.DEPTH:,} levels. Send flatter documents."
        if self.values > limits.VALUES:
            return (
                f"It has more than {limits.VALUES:,} values, all lists and objects in it together. "
                "Send fewer documents at once, without fields that the index does not need."
            )
        return None


def shape_of(raw: bytes) -> Shape:
    """Return the shape of a body; what exceeds a limit is counted no further."""
    containers = raw.count(b"[") + raw.count(b"{")
    values = containers + raw.count(b",")
    is_list = raw.lstrip()[:1] == b"["
    if containers <= limits.DEPTH and values < limits.DOCUMENTS:
        # Whatever of this stands in strings, it is within the limits.
        return Shape(values, values + 1 if is_list else 1, containers, containers)
    return _counted(raw, is_list)


def memory_of(raw: bytes, shape: Shape) -> int:
    """Return the bytes that Python takes for a body of this shape when it is parsed, at most."""
    if b"\\u" in raw:
        text = 4 * len(raw)
    elif raw.isascii():
        text = len(raw)
    else:
        text = (4 if _WIDE.search(raw) else 2) * len(raw.translate(None, _CONTINUING))
    return text + _OF_VALUE * shape.values + _OF_CONTAINER * shape.containers


def _counted(raw: bytes, is_list: bool) -> Shape:
    if b"\\" in raw:
        # Then each quote begins or ends a string.
        raw = raw.replace(b"\\\\", b"  ").replace(b'\\"', b"  ")
    found, quotes, level = Shape(), 0, 0
    for start in range(0, len(raw), _CHUNK):
        part = np.frombuffer(raw, np.uint8, min(_CHUNK, len(raw) - start), start)
        ends = np.cumsum(part == _QUOTE, dtype=np.int32) + quotes
        quotes = int(ends[-1]) & 1
        outside = part[ends & 1 == 0]
        steps = _STEPS[outside]
        levels = np.cumsum(steps, dtype=np.int32) + level
        level = int(levels[-1]) if len(levels) else level
        commas, opened = outside == _COMMA, int(np.count_nonzero(steps == 1))
        found = Shape(
            found.values + opened + int(np.count_nonzero(commas)),
            found.documents + (int(np.count_nonzero(commas & (levels == 1))) if is_list else 0),
            found.containers + opened,
            max(found.depth, int(levels.max(initial=0))),
        )
        if found.problem:
            break
    return found


Answer: TypeAlias = Verdict | EngineError

# Documents that are judged together.
BATCH = 100
# The field with the id of a document that has no _id.
ID_FIELD = "id"
_HALVES = re.compile("[\ud800-\udfff]")


def parsed(raw: bytes, shape: Shape | None = None) -> Any:
    """Parse JSON within the limits of a gate; a `NoDocument` has the reason why it cannot be."""
    if problem := (shape or shape_of(raw)).problem:
        return NoDocument(problem)
    try:
        return _DECODER.decode(raw.decode("utf-8-sig"))
    except ValueError as error:
        return NoDocument(f"It is not JSON: {error}. Send a JSON object.")


def _integer(digits: str) -> int:
    # More than Python's own limit, where it has one, take it seconds.
    if len(digits) > limits.DIGITS:
        raise ValueError(f"an integer of {len(digits):,} digits, where {limits.DIGITS:,} are the most")
    return int(digits)


def _constant(name: str) -> None:
    raise ValueError(f"{name} is not in it")


_DECODER = json.JSONDecoder(parse_int=_integer, parse_constant=_constant)


def asked_of(document: Any, writes: bool, id_field: str = ID_FIELD, key: str | None = None) -> Asked:
    """Return a document to ask about; without an ``_id`` its id is in a field, or else it is ``key``."""
    named = key
    if isinstance(document, Mapping) and document.get("_id") is None:
        body = document.get("_source")
        found = list(values_at(body if isinstance(body, Mapping) else document, id_field))
        if len(found) == 1 and isinstance(found[0], str | int) and not isinstance(found[0], bool):
            try:
                named = checked_id({"_id": found[0]})
            except DocumentError as error:
                return Asked(NoDocument(f"The document {error.problem}"), writes)
    return Asked(document, writes, named)


def answers_as_json(asked: Sequence[Asked], answers: Sequence[Answer], index: str) -> list[Json]:
    """Return answers as JSON; an error is that it is unknown what became of the document."""
    verdicts = (
        answer if isinstance(answer, Verdict) else _unknown(each, answer)
        for each, answer in zip(asked, answers, strict=True)
    )
    forms: list[Json] = list(map(as_json, verdicts))
    for match in (match for form in forms for match in form["duplicates"]):
        # One that was accepted, and that the index does not show yet, has no index.
        match["index"] = match["index"] or index
    return forms


def _unknown(asked: Asked, error: EngineError) -> Verdict:
    named = asked.document.get("_id", asked.id) if isinstance(asked.document, Mapping) else asked.id
    reason = f"It is not known whether the document was written: {error} Ask again with the same id."
    return Verdict(None if named is None else str(named), "unknown", reason=reason)


def encoded(form: Any) -> bytes:
    """Return an answer as JSON that any client reads: halves of surrogate pairs, as in a rejected id, are U+FFFD."""
    return _HALVES.sub("\ufffd", json_text(form, separators=(",", ":"))).encode()


def lines_of(asked: Sequence[Asked], answers: Sequence[Answer], index: str) -> bytes:
    """Return answers as NDJSON."""
    return b"".join(encoded(form) + b"\n" for form in answers_as_json(asked, answers, index))


# ---- what a gate takes

_ROUTING = "_routing"
# Bytes of a random id.
_ID_BYTES = 15


class NoDocument:
    """What stands for a document that could not be read; it is rejected in its turn."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


@dataclass(frozen=True)
class Asked:
    """A document that is asked about, and to be written if the answer allows it; ``id`` is for one that has none."""

    document: Document | NoDocument
    writes: bool = False
    id: str | None = None


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
