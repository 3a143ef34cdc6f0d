"""Documents as they come over a wire, and answers as they go back, each as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from es_simhash._core.harmless import json_text
from es_simhash._core.json_paths import Json, values_at
from es_simhash._core.rows import as_json
from es_simhash.documents.actions import checked_id
from es_simhash.errors import DocumentError, EngineError
from es_simhash.gate import limits
from es_simhash.gate.gate import Asked
from es_simhash.gate.incoming import NoDocument
from es_simhash.gate.shapes import Shape, shape_of
from es_simhash.gate.verdict import Verdict

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
