"""Requests of the REST interface: their form, their paths, and errors in their replies."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from http import HTTPStatus
from typing import Any, TypeAlias, TypeVar
from urllib.parse import quote

from es_simhash._core.json_codec import Json
from es_simhash.engines.rest.errors import error_of, incompleteness, is_only_for_now
from es_simhash.engines.rest.reply_checks import typed
from es_simhash.errors import EngineError, IndexStateError, InputError, UnavailableError
from es_simhash.plans.operations import (
    Bulk,
    CheckFiles,
    CloseReader,
    Count,
    CreateIndex,
    DeleteIndex,
    DeleteResource,
    EngineInfo,
    GetAliases,
    GetDocuments,
    GetInfo,
    GetMappings,
    GetResource,
    GetSettings,
    MultiSearch,
    OpenReader,
    Operation,
    PutMapping,
    PutResource,
    PutSettings,
    ReadPage,
    Refresh,
    Sample,
    Search,
    UpdateAliases,
    is_several,
)
from es_simhash.scheme.mapping import number_of_fields

Result = TypeVar("Result")


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


# What they are about need not be there.
_MAY_LACK = (GetResource, CloseReader)


def known(request: Request, reply: Reply, distribution: str | None) -> Reply:
    """Return the reply; if it does not identify the engine, one with the known ``distribution`` and no version."""
    if request is not ABOUT or distribution is None:
        return reply
    is_named = isinstance(reply.body, dict) and "version" in reply.body
    if reply.status in _REFUSALS or (reply.status < 300 and not is_named):
        return Reply(HTTPStatus.OK, {"version": {"number": "", "distribution": distribution}})
    return reply


def checked(operation: Operation[Any], reply: Reply) -> Json:
    """Return the body of a reply; raise if it reports an error or is not a JSON object."""
    if reply.status < 300 and isinstance(reply.body, dict):
        return reply.body
    if isinstance(operation, _MAY_LACK) and reply.status == HTTPStatus.NOT_FOUND and _is_expected(reply.body):
        return dict(reply.body)
    raise error_in(operation, reply.status, reply.body)


def _is_expected(body: Any) -> bool:
    return isinstance(body, dict) and "error" not in body


def doing(operation: Operation[Any]) -> str:
    """Describe an operation and its index, as the beginning of a sentence."""
    body = getattr(operation, "body", {})
    new_fields = number_of_fields(body.get("mappings") if isinstance(operation, CreateIndex) else body)
    names = {
        "index": repr(index_of(operation)),
        "path": getattr(operation, "path", ""),
    }
    return _DOING[type(operation)].format(**names, fields=new_fields)


_DOING: Mapping[type[Operation[Any]], str] = {
    GetInfo: "Asking the engine for its version",
    GetMappings: "Reading the mapping of {index}",
    CreateIndex: "Creating index {index} with {fields} field(s)",
    PutMapping: "Adding {fields} field(s) to the mapping of {index}",
    DeleteIndex: "Deleting index {index}",
    GetDocuments: "Reading documents of {index}",
    Search: "Searching {index}",
    MultiSearch: "Searching {index}",
    Sample: "Sampling {index}",
    Bulk: "Writing to {index}",
    Refresh: "Refreshing {index}",
    Count: "Counting in {index}",
    OpenReader: "Opening a reader of {index}",
    ReadPage: "Reading {index}",
    CloseReader: "Closing a reader of {index}",
    GetSettings: "Reading the settings of {index}",
    PutSettings: "Changing the settings of {index}",
    GetAliases: "Reading the aliases of {index}",
    UpdateAliases: "Changing aliases",
    GetResource: "Reading {path}",
    PutResource: "Storing {path}",
    DeleteResource: "Deleting {path}",
    CheckFiles: "Checking the files of {index}",
}


@lru_cache
def path_of(index: str, *endpoint: str) -> str:
    """Return the path of an index's endpoint; raise for names that the server would take for all indices."""
    if index in ("", ".", ".."):
        raise InputError(f"{index!r} is not the name of an index. Name an index, alias or pattern.")
    try:
        return "/".join(["", quote(index, safe="*,"), *endpoint])
    except UnicodeEncodeError:
        raise InputError(f"The index name {index!r} is not valid text. Choose another.") from None


def one_index(operation: CreateIndex | PutMapping | DeleteIndex | OpenReader) -> str:
    if is_several(operation.index):
        raise IndexStateError(f"{doing(operation)} needs one index, not several. Name each of them in turn.")
    return operation.index


def index_of(operation: Operation[Any]) -> str:
    """Return the name of the index that an operation is about; empty if it is about none."""
    named = operation if hasattr(operation, "index") else getattr(operation, "reader", None)
    index: str = getattr(named, "index", "")
    return index


def error_in(operation: Operation[Any], status: int, body: Any) -> EngineError | InputError:
    return error_of(doing(operation), index_of(operation), status, body)


def whole(operation: Operation[Any], reply: Json) -> Json:
    """Return the reply; raise unless it covers all shards."""
    if lack := incompleteness(reply):
        raise (UnavailableError if is_only_for_now(reply) else EngineError)(
            f"{doing(operation)} gave an incomplete answer: {lack}. "
            "Look at the health of the index (GET _cluster/health), and try again."
        )
    return reply


def acknowledged(operation: Operation[Any], reply: Json) -> None:
    if not reply["acknowledged"]:
        raise UnavailableError(
            f"{doing(operation)} was begun, but not every node has confirmed it in time. "
            "Look at the health of the cluster (GET _cluster/health), then at the index itself."
        )
