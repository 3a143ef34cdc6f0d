"""Checks of the form of replies, so that a stranger's answer is not taken for the engine's.

A malformed reply raises a TypeError, or whatever else Python raises on reading it.
"""

from __future__ import annotations

from collections.abc import Sized
from typing import Any, TypeVar

from es_simhash._core.json_codec import Json

Kind = TypeVar("Kind")


def typed(value: object, kind: type[Kind]) -> Kind:
    """Return the value; raise unless it is of this kind."""
    if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
        raise TypeError(f"{value!r:.80} instead of {_NAMES[kind]}")
    return value


_NAMES: dict[type, str] = {str: "a text", int: "a number", bool: "true or false", list: "a list", dict: "an object"}

_NO_SOURCE: Json = {}


def as_many(values: object, asked: Sized) -> list[Any]:
    """Return a list of answers; raise unless there is one for each question."""
    answers = typed(values, list)
    if len(answers) != len(asked):
        raise TypeError(f"{len(answers)} answers, where {len(asked)} were asked for")
    return answers


def hits_of(reply: Json) -> list[Any]:
    """Return the hits of a search; raise unless each names a document."""
    return [document(hit) for hit in typed(reply["hits"]["hits"], list)]


def document(found: Json) -> Json:
    """Return a document that was found; raise unless it has an index, an id and, if requested, a source."""
    index, id_, source = found["_index"], found["_id"], found.get("_source", _NO_SOURCE)
    # Of a search for a hundred documents, calls of `typed` would take a tenth of the time.
    if not type(index) is type(id_) is str or type(source) is not dict:
        typed(index, str)
        typed(id_, str)
        typed(source, dict)
    return found


def of_id(found: Json, id_: str | None) -> Json:
    """Return an answer about a document; raise unless it is about the requested id (None: any)."""
    if typed(found["_id"], str) != (id_ or found["_id"]):
        raise TypeError(f"the id {found['_id']!r:.80} instead of {id_!r}")
    return found
