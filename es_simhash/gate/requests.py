"""Documents as they come over a wire, and answers as they go back, each as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from es_simhash._core.harmless import json_text
from es_simhash._core.json_codec import Json, values_at
from es_simhash._core.rows import as_json
from es_simhash.documents.actions import checked_id
from es_simhash.errors import DocumentError, EngineError
from es_simhash.gate import limits
from es_simhash.gate.gate import Asked
from es_simhash.gate.incoming import NoDocument
from es_simhash.gate.verdict import Verdict

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
    """Return answers as JSON."""
    return [_as_json(each, answer, index) for each, answer in zip(asked, answers, strict=True)]


def _as_json(asked: Asked, answer: Answer, index: str) -> Json:
    if isinstance(answer, Verdict):
        return _verdict_as_json(answer, index)
    document = asked.document
    named = document.get("_id", asked.id) if isinstance(document, Mapping) else asked.id
    reason = f"It is not known whether the document was written: {answer} Ask again with the same id."
    return _verdict_as_json(Verdict(None if named is None else str(named), "unknown", reason=reason), index)


def _verdict_as_json(verdict: Verdict, index: str) -> Json:
    form: Json = as_json(verdict)
    for match in form["duplicates"]:
        # One that was accepted, and that the index does not show yet, has no index.
        match["index"] = match["index"] or index
    return form


def encoded(form: Any) -> bytes:
    """Return an answer as JSON that any client reads: halves of surrogate pairs, as in a rejected id, are U+FFFD."""
    return _HALVES.sub("\ufffd", json_text(form, separators=(",", ":"))).encode()


def line_of(form: Json) -> bytes:
    """Return a line of NDJSON."""
    return encoded(form) + b"\n"
