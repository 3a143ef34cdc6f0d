"""The form of replies: what something else answered in the engine's place must not pass for a result.

What is not as it should be is a TypeError, or whatever else Python raises when it looks into the reply.
"""

from __future__ import annotations

from collections.abc import Sized
from typing import Any, TypeVar

from es_simhash._core.json_paths import Json

Kind = TypeVar("Kind")


def typed(value: object, kind: type[Kind]) -> Kind:
    """The value, which must be of this kind."""
    if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
        raise TypeError(f"{value!r:.80} in place of {_NAMES[kind]}")
    return value


_NAMES: dict[type, str] = {str: "a text", int: "a number", bool: "true or false", list: "a list", dict: "an object"}


def as_many(values: object, asked: Sized) -> list[Any]:
    """A list of as many answers as were asked for."""
    answers = typed(values, list)
    if len(answers) != len(asked):
        raise TypeError(f"{len(answers)} answers, where {len(asked)} were asked for")
    return answers


def hits_of(reply: Json) -> list[Json]:
    """The hits of a search, each of which names a document."""
    return [document(hit) for hit in typed(reply["hits"]["hits"], list)]


def document(found: Json) -> Json:
    """A document that was found, with its index, its id and, where it was asked for, its source."""
    typed(found["_index"], str)
    typed(found["_id"], str)
    typed(found.get("_source", {}), dict)
    return found


def of_id(found: Json, id_: str | None) -> Json:
    """What was answered about a document, which must be the one that was asked for (None: any)."""
    if typed(found["_id"], str) != (id_ or found["_id"]):
        raise TypeError(f"the id {found['_id']!r:.80} in place of {id_!r}")
    return found
