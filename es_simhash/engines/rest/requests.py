"""Requests of the REST interface, and checks of the form of their replies.

A stranger's answer must not be taken for the engine's: a malformed reply raises a TypeError, or whatever else Python
raises on reading it.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sized
from dataclasses import dataclass, field
from functools import lru_cache
from http import HTTPStatus
from typing import Any, TypeAlias, TypeVar
from urllib.parse import quote

from es_simhash._core.json_codec import Json
from es_simhash.errors import EngineError, InputError
from es_simhash.plans.operations import EngineInfo

Result = TypeVar("Result")
Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Request:
    """One HTTP request; a list as the body stands for lines (NDJSON).

    A request that is not ``repeatable`` must be sent once only: a client's own retry could write a document twice, or
    report its own change as a conflict.
    """

    method: str
    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    body: Json | list[Json] | None = None
    repeatable: bool = True


@dataclass(frozen=True)
class Reply:
    """The status of a reply, and its decoded body."""

    status: int
    body: Any


Conversation: TypeAlias = Generator[Request, Json, Result]

# A pattern without a match, or a failed shard, must not look like an empty answer.
SOMETHING = {"allow_no_indices": "false"}
WHOLE_ANSWER = {**SOMETHING, "allow_partial_search_results": "false"}


ABOUT = Request("GET", "/")
# How some servers, and proxies before them, refuse to identify themselves.
_REFUSALS = (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED)


def engine_info() -> Conversation[EngineInfo]:
    """Ask which engine answers."""
    match (yield ABOUT):
        case {"version": {"number": str(number)} as version}:
            numbers = re.findall(r"\d+", number.partition("-")[0])
            return EngineInfo(typed(version.get("distribution", "elasticsearch"), str), tuple(map(int, numbers)))
    raise EngineError("The server does not identify itself. Name it: distribution='elasticsearch' or 'opensearch'.")


def known(request: Request, reply: Reply, distribution: str | None) -> Reply:
    """Return the reply; if it does not identify the engine, one with the known ``distribution`` and no version."""
    if request is not ABOUT or distribution is None:
        return reply
    is_named = isinstance(reply.body, dict) and "version" in reply.body
    if reply.status in _REFUSALS or (reply.status < 300 and not is_named):
        return Reply(HTTPStatus.OK, {"version": {"number": "", "distribution": distribution}})
    return reply


@lru_cache
def path_of(index: str, *endpoint: str) -> str:
    """Return the path of an index's endpoint; raise for names that the server would take for all indices."""
    if index in ("", ".", ".."):
        raise InputError(f"{index!r} is not the name of an index. Name an index, alias or pattern.")
    try:
        return "/".join(["", quote(index, safe="*,"), *endpoint])
    except UnicodeEncodeError:
        raise InputError(f"The index name {index!r} is not valid text. Choose another.") from None


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
