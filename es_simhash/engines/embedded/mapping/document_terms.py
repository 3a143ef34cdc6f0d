"""Documents as stored and indexed: their JSON, their values by field, their terms, and partial updates.

``{"a.b": 1}`` and ``{"a": {"b": 1}}`` are the same field.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, TypeAlias

from es_simhash._core.json_codec import Json, dumps
from es_simhash.engines.embedded.mapping import values
from es_simhash.engines.embedded.mapping.analyzers import ANALYZERS
from es_simhash.engines.embedded.mapping.index_mapping import Field, IndexMapping

# The path of a value, and the value, which is neither null nor an array.
Leaf: TypeAlias = tuple[str, Any]


class RejectedError(Exception):
    """A document or action refused with this status in a bulk result."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


def encode(document: Json) -> bytes:
    """Return the JSON of a document."""
    try:
        return dumps(document, _strictly)
    except (TypeError, ValueError) as error:
        raise RejectedError(400, f"The document is not JSON: {error}. Use JSON values only.") from None


def _strictly(document: Json) -> bytes:
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def version_of(source: bytes) -> dict[str, int]:
    """Return the version of a document that conditional writes name.

    There is no counter of changes, so it is a hash of the source: the condition holds while the document is the same.
    It has 53 bits, which every JSON reader keeps.
    """
    return {"_seq_no": int.from_bytes(sha256(source).digest()[:7], "big") >> 3, "_primary_term": 1}


def updated(document: Json, part: Mapping[str, Any]) -> Json:
    """Return a document with a part replaced: objects are merged, all other values are replaced."""
    result = dict(document)
    for name, value in part.items():
        there = result.get(name)
        if isinstance(there, dict) and isinstance(value, dict):
            result[name] = updated(there, value)
        else:
            result[name] = value
    return result


def leaves(document: Any) -> list[Leaf]:
    """Return the values in a document with their paths, elements of arrays one by one; none if it is not an object."""
    found: list[Leaf] = []
    if isinstance(document, dict):
        _add_leaves(document, "", found)
    return found


def _add_leaves(values: Json, above: str, found: list[Leaf]) -> None:
    for name, value in values.items():
        path = f"{above}{name}"
        if isinstance(value, str):  # most are
            found.append((path, value))
        else:
            _add_leaves_of(value, path, found)


def _add_leaves_of(value: Any, path: str, found: list[Leaf]) -> None:
    if isinstance(value, dict):
        _add_leaves(value, path + ".", found)
    elif isinstance(value, list | tuple):
        for inner in value:
            _add_leaves_of(inner, path, found)
    elif value is not None:
        found.append((path, value))


@dataclass(frozen=True)
class Terms:
    """The terms of a document: those of exact values and of present fields, and the words, separated by spaces."""

    exact: list[str]
    words: list[str]


def terms(document_leaves: list[Leaf], mapping: IndexMapping) -> Terms:
    """Return the terms of a document whose mapped fields are all in the mapping."""
    exact: list[str] = []
    words: list[str] = []
    present: set[str] = set()
    for path, value in document_leaves:
        if field := mapping.fields.get(path):
            for each in field.with_subfields:
                if _add_terms(each, value, exact, words):
                    present.add(each.presence)
        elif path in mapping.objects:
            raise RejectedError(
                400, f"The field {path!r} is an object, but has the value {value!r:.80}. Give an object."
            )
    exact += present
    return Terms(exact, words)


def _add_terms(field: Field, value: Any, exact: list[str], words: list[str]) -> bool:
    """Add the terms of a value; return False for a keyword longer than ``ignore_above``, which does not count."""
    if field.opaque:
        return True
    try:
        term = field.write(value)
    except (ValueError, OverflowError) as error:
        raise RejectedError(
            400, f"The field {field.path!r} is of type {field.kind}, but {error}. Correct it."
        ) from None
    if field.ignore_above is not None and len(term) > field.ignore_above:
        return False
    if field.indexed and field.analyzer:
        if found := ANALYZERS[field.analyzer](term):
            words.append(field.term_prefix + found.replace(" ", " " + field.term_prefix))
    elif field.indexed:
        _check_length(field, term)
        exact.append(field.term_prefix + term)
    return True


def _check_length(field: Field, term: str) -> None:
    if len(term) * 4 > values.MAX_KEYWORD_BYTES and len(term.encode()) > values.MAX_KEYWORD_BYTES:
        raise RejectedError(
            400,
            f"The field {field.path!r} has a keyword of more than {values.MAX_KEYWORD_BYTES} bytes. "
            "Map it as text, or with ignore_above.",
        )
