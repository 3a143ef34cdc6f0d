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

from es_simhash._core.json_paths import Json
from es_simhash.errors import AccessError, EngineError

Result = TypeVar("Result")
OpType: TypeAlias = Literal["index", "create", "update", "delete"]

# The queries that plans use; every engine must know these.
QUERY_KINDS = ("bool", "term", "terms", "ids", "exists", "match_all", "constant_score", "more_like_this")


@dataclass(frozen=True)
class Operation(Generic[Result]):
    """One thing to do, with the type of its result."""


# A plan yields operations, receives their results, and returns a result of its own.
Plan: TypeAlias = Generator[Operation[Any], Any, Result]


@dataclass(frozen=True)
class EngineInfo:
    """What answers: ``elasticsearch``, ``opensearch`` or ``embedded``, and its version as (major, minor, …).

    The version is empty where a server does not report it.
    """

    distribution: str
    version: tuple[int, ...]


@dataclass(frozen=True)
class GetInfo(Operation[EngineInfo]):
    """Which engine this is."""


def is_server() -> Plan[bool]:
    """Return whether this is a server, not the embedded engine."""
    try:
        return bool((yield GetInfo()).distribution != "embedded")
    except AccessError:  # only a server denies this to a login
        return True


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
    list of paths, or None for the whole). Documents that were written with routing values want these again.
    """

    index: str
    ids: Sequence[str]
    source: Sequence[str] | None = None
    routings: Sequence[str | None] | None = None


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
class Sample(Operation[list[Json]]):
    """Up to ``size`` of the documents that a query matches, as hits with the paths ``source``; all are equally likely.

    They are the same again while the index does not change.
    """

    index: str
    size: int
    source: Sequence[str]
    query: Json


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


@dataclass(frozen=True)
class Reader:
    """A view of an index as it was at one moment, which an engine keeps open: its kind and its name there.

    The moment is that of its first page at the latest. One that ``is_apart`` has others beside it.
    """

    kind: Literal["elasticsearch", "opensearch", "scroll", "embedded"]
    index: str
    id: str | None
    is_apart: bool = False

    @property
    def can_be_shared(self) -> bool:
        """Whether several may each read a `Share` of it, which costs less than a reader for each."""
        return self.kind in ("elasticsearch", "opensearch") and not self.is_apart


@dataclass(frozen=True)
class Share:
    """One of ``count`` parts of an index: no two parts have a document in common.

    Readers that are apart cut the index by hashes of the ids, one that is shared by where documents lie in it.
    """

    number: int
    count: int


@dataclass(frozen=True)
class Page:
    """Some hits of a reader, each with ``_seq_no`` and ``_primary_term`` for the condition of an update.

    A server's hits also have a ``_version``, and there ``_seq_no`` grows with each change.

    ``after`` says where the next page begins; it means something to this reader only. ``reader`` is to be used then.
    """

    hits: list[Json]
    after: Any
    reader: Reader


@dataclass(frozen=True)
class OpenReader(Operation[Reader]):
    """Begin to read one concrete index whole; the reader must be closed, and is forgotten after minutes without use.

    ``shared`` says that it will be asked for a `Share`, while other readers have the others.
    """

    index: str
    shared: bool = False


@dataclass(frozen=True)
class ReadPage(Operation[Page]):
    """The next documents of a reader that a query finds, at most ``size``; none means that all were read.

    A reader that the engine has forgotten raises `ReaderLostError`.
    """

    reader: Reader
    query: Json
    size: int
    source: Sequence[str] | bool
    share: Share | None = None
    after: Any = None


@dataclass(frozen=True)
class CloseReader(Operation[None]):
    """Let go of a reader; one that is gone already is no error."""

    reader: Reader


@dataclass(frozen=True)
class GetSettings(Operation[dict[str, Json]]):
    """The settings of each concrete index, as flat names (``index.number_of_replicas``) with texts as values."""

    index: str


@dataclass(frozen=True)
class PutSettings(Operation[None]):
    """Change settings of an index that is open; None sets one back to the engine's default."""

    index: str
    settings: Json


@dataclass(frozen=True)
class GetAliases(Operation[dict[str, dict[str, Json]]]):
    """The aliases of each concrete index, with what each says."""

    index: str


@dataclass(frozen=True)
class UpdateAliases(Operation[None]):
    """Add and remove aliases, all at once or none: ``{"add": {…}}``, ``{"remove": {…}}``."""

    actions: Sequence[Json]


@dataclass(frozen=True)
class GetResource(Operation[Json]):
    """What a server's REST interface answers at a path that only some servers have: to a GET, or to a question posted.

    It changes nothing. Of what is not there the answer has nothing, or says so.
    """

    path: str
    index: str = ""
    question: Json | None = None


@dataclass(frozen=True)
class PutResource(Operation[None]):
    """Keep a thing of its own kind (a pipeline, a stored script) at a path of a server, in place of what is there."""

    path: str
    body: Json


@dataclass(frozen=True)
class DeleteResource(Operation[None]):
    """Remove what a server keeps at a path."""

    path: str


@dataclass(frozen=True)
class Damage:
    """A file of an index that is not as it was written, and how that shows; without some an index is complete."""

    index: str
    file: str
    reason: str
    is_needed: bool = True


@dataclass(frozen=True)
class FilesChecked:
    """How many files were read whole, how many bytes these have, and which of them are damaged."""

    files: int
    bytes: int
    damaged: list[Damage]


@dataclass(frozen=True)
class CheckFiles(Operation[FilesChecked]):
    """Compare all files of an embedded index with their checksums; servers do so with theirs on their own."""

    index: str


@dataclass(frozen=True)
class Wait(Operation[None]):
    """Let time go by. Engines never see this: who runs a plan does it."""

    seconds: float


OPERATIONS: tuple[type[Operation[Any]], ...] = (
    GetInfo,
    GetMappings,
    CreateIndex,
    PutMapping,
    DeleteIndex,
    GetDocuments,
    Search,
    MultiSearch,
    Sample,
    Bulk,
    Refresh,
    Count,
    OpenReader,
    ReadPage,
    CloseReader,
    GetSettings,
    PutSettings,
    GetAliases,
    UpdateAliases,
    GetResource,
    PutResource,
    DeleteResource,
    CheckFiles,
)
