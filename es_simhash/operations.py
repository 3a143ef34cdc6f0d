"""What an index engine is asked to do, as plain values: the language between plans and engines.

A plan (see `es_simhash.plans`) is a generator that yields operations and is sent their results, so it does no I/O and
serves synchronous and asynchronous engines alike. An engine carries out one operation at a time. Bodies, mappings and
replies have the form that the REST interface of Elasticsearch and OpenSearch gives them; queries keep to the kinds
named in `QUERY_KINDS`, beside whatever the user's own filter holds.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from es_simhash.errors import EngineError

Result = TypeVar("Result")
Json: TypeAlias = dict[str, Any]
OpType: TypeAlias = Literal["index", "create", "update", "delete"]

# The queries that plans are made of; an engine must know these.
QUERY_KINDS = ("bool", "term", "terms", "ids", "exists", "match_all", "constant_score", "more_like_this")


@dataclass(frozen=True)
class Operation(Generic[Result]):
    """One thing to do, with the type of its result."""


# What a plan yields and is sent, and what it returns.
Plan: TypeAlias = Generator[Operation[Any], Any, Result]


@dataclass(frozen=True)
class EngineInfo:
    """What answers: ``elasticsearch``, ``opensearch`` or ``embedded``, and its version as (major, minor, …)."""

    distribution: str
    version: tuple[int, ...]


@dataclass(frozen=True)
class GetInfo(Operation[EngineInfo]):
    """Which engine this is."""


@dataclass(frozen=True)
class GetMappings(Operation[dict[str, Json]]):
    """The mapping of each concrete index that a name, alias, pattern or comma-separated list stands for.

    A name that stands for nothing raises `MissingError`.
    """

    index: str


@dataclass(frozen=True)
class CreateIndex(Operation[None]):
    """A new index with these ``mappings`` and ``settings``."""

    index: str
    body: Json


@dataclass(frozen=True)
class PutMapping(Operation[None]):
    """Add fields to the mapping of one concrete index; ``_meta`` is replaced whole."""

    index: str
    body: Json


@dataclass(frozen=True)
class DeleteIndex(Operation[None]):
    """Remove one concrete index and all its documents."""

    index: str


@dataclass(frozen=True)
class GetDocuments(Operation[list[Json]]):
    """Documents by id, in the order asked for, as soon as they were written (no refresh needed).

    Each result has ``_index``, ``_id`` and ``found``, and where it was found ``_source``, cut down to ``source`` (a
    list of paths, or None for the whole).
    """

    index: str
    ids: Sequence[str]
    source: Sequence[str] | None = None


@dataclass(frozen=True)
class Search(Operation[Json]):
    """One search request; the result is its whole reply."""

    index: str
    body: Json


@dataclass(frozen=True)
class MultiSearch(Operation[list[Json]]):
    """Several search requests at once; the results are their replies, in order."""

    index: str
    bodies: Sequence[Json]


@dataclass(frozen=True)
class Action:
    """One line of a bulk request, and the document that goes with it.

    ``body`` is the document to ``index`` or ``create``, or the body of an ``update`` (``{"doc": …}``,
    ``{"script": …}``). ``metadata`` is what else the line holds: ``routing``, ``if_seq_no``, ``pipeline`` …
    """

    op_type: OpType
    id: str | None
    body: Json | None
    index: str | None = None
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class ActionResult:
    """What became of an action: its id, and why it was refused (None where it was done).

    ``index_error`` is set where the reason lies not in the document but in the index, or in what the caller may do
    there, so that other documents would be refused as well: the exception to raise for it.
    """

    id: str
    status: int
    error: str | None = None
    index_error: EngineError | None = None


@dataclass(frozen=True)
class Bulk(Operation[list[ActionResult]]):
    """Write documents; each has a result of its own, in order. ``refresh`` makes them visible to searches at once."""

    index: str
    actions: Sequence[Action]
    refresh: bool = False


@dataclass(frozen=True)
class Refresh(Operation[None]):
    """Make everything that was written visible to searches."""

    index: str


@dataclass(frozen=True)
class Count(Operation[int]):
    """The number of documents that a query matches."""

    index: str
    query: Json


OPERATIONS: tuple[type[Operation[Any]], ...] = (
    GetInfo,
    GetMappings,
    CreateIndex,
    PutMapping,
    DeleteIndex,
    GetDocuments,
    Search,
    MultiSearch,
    Bulk,
    Refresh,
    Count,
)
