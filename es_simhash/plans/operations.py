"""What plans ask of an engine, and how they repeat what failed for the moment.

A plan (see `es_simhash.plans`) is a generator that yields operations and receives their results, so it does no I/O and
runs on synchronous and asynchronous engines alike. An engine performs one operation at a time. Bodies, mappings and
replies have the form of the REST interface of Elasticsearch and OpenSearch; queries use only the kinds in
`QUERY_KINDS`, apart from the user's own filter.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from es_simhash._core.json_codec import Json
from es_simhash.errors import AccessError, EngineError, UnavailableError, UnreachableError

Result = TypeVar("Result")
OpType: TypeAlias = Literal["index", "create", "update", "delete"]

# The queries that plans use; every engine must know these.
QUERY_KINDS = ("bool", "term", "terms", "ids", "exists", "match_all", "constant_score", "more_like_this", "regexp")

# Every engine takes ids of up to this number of bytes.
MOST_ID_BYTES = 512


@dataclass(frozen=True)
class Operation(Generic[Result]):
    """One operation, with the type of its result."""


@dataclass(frozen=True)
class Write(Operation[Result]):
    """An operation that changes something, or when a change is seen."""


# A plan yields operations, receives their results, and returns a result of its own.
Plan: TypeAlias = Generator[Operation[Any], Any, Result]


@dataclass(frozen=True)
class EngineInfo:
    """The engine: ``elasticsearch``, ``opensearch`` or ``embedded``, and its version as (major, minor, …).

    The version is empty where a server does not report it.
    """

    distribution: str
    version: tuple[int, ...]


@dataclass(frozen=True)
class GetInfo(Operation[EngineInfo]):
    """Find out which engine this is."""


def is_several(index: str) -> bool:
    """Return whether a name is a pattern or list that may stand for several indices."""
    return index == "_all" or any(mark in index for mark in "*,")


def index_of(operation: Operation[Any]) -> str:
    """Return the name of the index that an operation is about; empty if it is about none."""
    named = operation if hasattr(operation, "index") else getattr(operation, "reader", None)
    index: str = getattr(named, "index", "")
    return index


def is_remote(index: str) -> bool:
    """Return whether a name has indices of other clusters, as in ``cluster:index``."""
    return any(":" in each and not each.startswith("<") for each in index.split(","))


def is_server() -> Plan[bool]:
    """Return whether this is a server, not the embedded engine."""
    try:
        return bool((yield GetInfo()).distribution != "embedded")
    except AccessError:  # only a server denies this to a login
        return True


@dataclass(frozen=True)
class GetMappings(Operation[dict[str, Json]]):
    """Read the mapping of each concrete index behind a name, alias, pattern or comma-separated list.

    A name that matches nothing raises `MissingError`.
    """

    index: str


@dataclass(frozen=True)
class CreateIndex(Write[None]):
    """Create an index with these ``mappings`` and ``settings``."""

    index: str
    body: Json


@dataclass(frozen=True)
class PutMapping(Write[None]):
    """Add fields to the mapping of one concrete index; ``_meta`` is replaced as a whole."""

    index: str
    body: Json


@dataclass(frozen=True)
class DeleteIndex(Write[None]):
    """Delete one concrete index with all its documents."""

    index: str


@dataclass(frozen=True)
class GetDocuments(Operation[list[Json]]):
    """Read documents by id, in the order of ``ids``; documents just written are found without a refresh.

    Each result has ``_index``, ``_id`` and ``found`` and, if found, the ``_source``, reduced to ``source`` (a list of
    paths, or None for all). Documents written with routing values need these again.
    """

    index: str
    ids: Sequence[str]
    source: Sequence[str] | None = None
    routings: Sequence[str | None] | None = None


@dataclass(frozen=True)
class MultiSearch(Operation[list[Json]]):
    """Run several search requests at once; the results are their replies, in order."""

    index: str
    bodies: Sequence[Json]


@dataclass(frozen=True)
class Sample(Operation[list[Json]]):
    """Draw up to ``size`` documents that match a query, each equally likely, as hits without their source.

    They have the numbers of their last changes. The sample stays the same while the index does not change.
    """

    index: str
    size: int
    query: Json


@dataclass(frozen=True)
class Action:
    """One action of a bulk request, with its document.

    ``body`` is the document to ``index`` or ``create``, or the body of an ``update`` (``{"doc": …}``, ``{"script":
    …}``). ``metadata`` is the rest of the action line: ``routing``, ``if_seq_no``, ``pipeline`` …
    """

    op_type: OpType
    id: str | None
    body: Json | None
    index: str | None = None
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class ActionResult:
    """The result of an action: its id, and why it was refused (None if it was done).

    ``index_error`` is the exception to raise where the index or the caller's privileges are the reason, so that other
    documents would be refused, too. It ``may_be_done`` where an earlier attempt, whose reply was lost, may have
    done what is refused now.
    """

    id: str
    status: int
    error: str | None = None
    index_error: EngineError | None = None
    may_be_done: bool = False

    @property
    def may_pass(self) -> bool:
        """Whether it was refused by an engine that is overloaded, or not ready."""
        is_busy = self.status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
        return self.error is not None and is_busy and self.index_error is None


@dataclass(frozen=True)
class Bulk(Write[list[ActionResult]]):
    """Write documents; each has its own result, in order. With ``refresh``, searches see them at once.

    One that ``rolls`` names an alias or a data stream, which may stand for another index when the same request comes
    again: a client must not repeat it by itself.
    """

    index: str
    actions: Sequence[Action]
    refresh: bool = False
    rolls: bool = False


@dataclass(frozen=True)
class Refresh(Write[None]):
    """Make everything written visible to searches."""

    index: str


@dataclass(frozen=True)
class Count(Operation[int]):
    """Count the documents that match a query."""

    index: str
    query: Json


@dataclass(frozen=True)
class Reader:
    """A snapshot of an index that an engine keeps open, named by ``id``.

    It is taken when its first page is read, at the latest. A reader that ``is_apart`` reads next to readers of its own
    kind.
    """

    kind: Literal["elasticsearch", "opensearch", "scroll", "embedded"]
    index: str
    id: str | None
    is_apart: bool = False

    @property
    def can_be_shared(self) -> bool:
        """Whether several threads may each read a `Slice` of it, which costs less than a reader for each."""
        return self.kind in ("elasticsearch", "opensearch") and not self.is_apart


@dataclass(frozen=True)
class Search(Operation[Json]):
    """Run one search request; the result is its whole reply.

    With a ``reader`` it sees the index as that does, and the reply's ``pit_id`` names it from then on. Requests of
    the same ``preference`` are answered by the same copies of shards, while these last.
    """

    index: str
    body: Json
    reader: Reader | None = None
    preference: str | None = None


@dataclass(frozen=True)
class Slice:
    """One of ``count`` disjoint parts of an index.

    Readers that are apart split the index by hashes of the ids; a shared reader splits it by the location of documents.
    """

    number: int
    count: int


@dataclass(frozen=True)
class HitPage:
    """Some hits of a reader, each with ``_seq_no`` and ``_primary_term`` for conditional updates.

    A server's hits also have a ``_version``, and its ``_seq_no`` grows with each change. ``after`` marks where the next
    page of ``reader`` begins.
    """

    hits: list[Any]
    after: Any
    reader: Reader


@dataclass(frozen=True)
class OpenReader(Operation[Reader]):
    """Open a reader of one concrete index; close it, since the engine keeps it for minutes only while it is not used.

    With ``shared``, the caller will read a `Slice` of it while other readers read the others. A reader that is
    ``searched`` may be of several indices, and serves `Search` only.
    """

    index: str
    shared: bool = False
    searched: bool = False


@dataclass(frozen=True)
class ReadPage(Operation[HitPage]):
    """Read the next matching documents of a reader, at most ``size``; an empty page is the end.

    With ``whole``, hits may have more than the ``source``, which costs a server less than leaving parts out. A reader
    that the engine no longer keeps raises `ReaderLostError`.
    """

    reader: Reader
    query: Json
    size: int
    source: Sequence[str] | bool
    slice: Slice | None = None
    after: Any = None
    whole: bool = False


@dataclass(frozen=True)
class CloseReader(Operation[None]):
    """Close a reader, unless it is gone already."""

    reader: Reader


@dataclass(frozen=True)
class GetSettings(Operation[dict[str, Json]]):
    """Read the settings of each concrete index, as flat names (``index.number_of_replicas``) with text values."""

    index: str


@dataclass(frozen=True)
class PutSettings(Write[None]):
    """Change settings of an open index; None resets one to the engine's default."""

    index: str
    settings: Json


@dataclass(frozen=True)
class GetAliases(Operation[dict[str, dict[str, Json]]]):
    """Read the aliases of each concrete index, with their properties."""

    index: str


@dataclass(frozen=True)
class UpdateAliases(Write[None]):
    """Add and remove aliases, all at once or none: ``{"add": {…}}``, ``{"remove": {…}}``."""

    actions: Sequence[Json]


@dataclass(frozen=True)
class GetResource(Operation[Json]):
    """Read a path of a server's REST interface that the other operations do not cover; with ``question``, by a POST.

    It changes nothing. A missing resource is an empty reply, or one that says so.
    """

    path: str
    index: str = ""
    question: Json | None = None


@dataclass(frozen=True)
class PutResource(Write[None]):
    """Store a resource (a pipeline, a stored script) at a path of a server, and replace an existing one."""

    path: str
    body: Json


@dataclass(frozen=True)
class DeleteResource(Write[None]):
    """Delete the resource at a path of a server."""

    path: str


@dataclass(frozen=True)
class Damage:
    """A damaged file of an index, and the symptom; an index may do without some (``is_needed``)."""

    index: str
    file: str
    reason: str
    is_needed: bool = True


@dataclass(frozen=True)
class FilesChecked:
    """The number of files read, their total size in bytes, and the damaged ones."""

    files: int
    bytes: int
    damaged: list[Damage]


@dataclass(frozen=True)
class CheckFiles(Operation[FilesChecked]):
    """Compare all files of an embedded index with their checksums; servers check theirs themselves."""

    index: str


@dataclass(frozen=True)
class Wait(Operation[None]):
    """Wait; engines never see this: the runner of the plan does it."""

    seconds: float


_FIRST, _LONGEST = 0.5, 30.0


def retry_delays(patience: float) -> Iterator[float]:
    """Yield the seconds to wait before each further attempt, about ``patience`` in total.

    They grow to half a minute with random jitter, so that many workers do not return at the same time (exponential
    backoff).
    """
    spent, ceiling = 0.0, _FIRST
    while spent < patience:
        delay = random.uniform(ceiling / 2, ceiling)
        spent += delay
        ceiling = min(2 * ceiling, _LONGEST)
        yield delay


def retry(operation: Operation[Result], patience: float) -> Plan[Result]:
    """Return the result of an operation, retried for up to ``patience`` seconds while the engine cannot perform it."""
    return (yield from retry_all(lambda: _performed(operation), patience))


def _performed(operation: Operation[Result]) -> Plan[Result]:
    result: Result = yield operation
    return result


def retry_all(begin: Callable[[], Plan[Result]], patience: float) -> Plan[Result]:
    """Return the result of a plan, begun again for up to ``patience`` seconds while the engine cannot perform it."""
    waits = retry_delays(patience)
    while True:
        try:
            return (yield from begin())
        except (UnreachableError, UnavailableError):
            if (delay := next(waits, None)) is None:
                raise
        yield Wait(delay)


def retry_each(plan: Plan[Result], patience: float) -> Plan[Result]:
    """Return the result of a plan whose operations are each retried for up to ``patience`` seconds.

    A plan that only looks can wait so for others to take over the shards of a node that is away.
    """
    reply: Any = None
    send = plan.send
    while True:
        try:
            operation = send(reply)
        except StopIteration as end:
            result: Result = end.value
            return result
        try:
            reply, send = (yield from retry(operation, patience)), plan.send
        except Exception as error:
            reply, send = error, plan.throw


def close(reader: Reader | None) -> Plan[None]:
    """Close a reader; an engine that is away forgets it by itself."""
    if reader:
        with suppress(EngineError):
            yield CloseReader(reader)


def attempt(step: Operation[Result] | Plan[Result]) -> Plan[Result | None]:
    """Return the result of an operation or plan; None if the engine refuses it. An engine that is away raises."""
    try:
        if isinstance(step, Operation):
            result: Result = yield step
            return result
        return (yield from step)
    except (UnreachableError, UnavailableError):
        raise
    except EngineError:
        return None
