"""Reading all documents of a live index, page by page: options, slices, and views that are lost."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from es_simhash._core.arguments import check_types
from es_simhash._core.environment import PATIENCE
from es_simhash._core.json_codec import Json, json_length
from es_simhash.documents.sources import Rejected
from es_simhash.errors import InputError, ReaderLostError, TooLargeError, UnavailableError, UnreachableError
from es_simhash.live.doctor.facts import Finding, IndexPart, check_accepted, refusal
from es_simhash.plans.operations import (
    Count,
    GetResource,
    HitPage,
    OpenReader,
    Plan,
    Reader,
    ReadPage,
    Refresh,
    Search,
    Slice,
    Wait,
    attempt,
    close,
    retry,
    retry_delays,
)
from es_simhash.plans.reply_size import FIRST_DOCUMENTS, REPLY_BYTES, ReplySize


@dataclass(frozen=True)
class RunOptions:
    """The options of every long job.

    ``parallel`` slices are read and written side by side. At most ``max_rate`` documents a second are written. The job
    waits up to ``patience`` seconds for an engine that is away or overloaded.
    """

    parallel: int = 1
    max_rate: float | None = None
    patience: float = PATIENCE

    def __post_init__(self) -> None:
        check_types(self)
        if self.parallel < 1:
            raise InputError(f"An index cannot be read in {self.parallel} slices. Choose 1 or more.")
        if self.max_rate is not None and self.max_rate <= 0:
            raise InputError(f"{self.max_rate} documents a second are none. Choose a rate above 0, or none.")

    @property
    def machine(self) -> tuple[int, int]:
        """The number of this machine, from 0, and how many share the job."""
        return 0, 1

    @property
    def slices(self) -> list[Slice | None]:
        """The slices that this machine reads; None stands for the whole index."""
        number, count = self.machine
        if self.parallel * count == 1:
            return [None]
        return [Slice(number * self.parallel + i, count * self.parallel) for i in range(self.parallel)]

    @property
    def is_alone(self) -> bool:
        """Whether this machine does the whole job."""
        return self.machine == (0, 1)


@dataclass(frozen=True)
class UpdateOptions(RunOptions):
    """The options of jobs that update documents, in addition to those of `RunOptions`.

    ``accept`` has the codes of findings that do not stop the job (see `es_simhash.live.doctor.facts`).

    >>> index.remove_fields(parallel=2).progress.written
    3
    """

    accept: Collection[str] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_accepted(self.accept)


# How many documents are read at first, and at most: of each page they are twice as many as on the one before, at most,
# since documents that lie further on may be longer.
_FIRST_SIZE, _MOST = FIRST_DOCUMENTS, 2_000
# A scroll, all of whose pages have as many documents as the first one, is read after a look at a few of them.
_SCROLLED = 100
# Servers take longer to leave parts of documents out than to send them, so whole documents are read unless they have
# more than this many times the bytes that are wanted. The first whole ones show that. Of short ones, the rest of a
# reply is the most.
_MOST_OF_WHOLE, _FIRST_WHOLE, _SHORT = 4, FIRST_DOCUMENTS, 1_000
# The number of hits whose length is measured, since that takes time.
_SAMPLE = 50
# A reader lost this often is not lost by accident.
MOST_LOSSES = 20


class Reading:
    """The documents of one index that a query finds, or one slice of them.

    A reader that is lost, by a restart or otherwise, is replaced by a new one, which begins again: some of the
    documents that the query still finds may be read twice. With ``once`` the error is raised instead, for callers that
    must not meet a document twice. A ``common`` reader serves all slices, and is not closed here.
    """

    def __init__(
        self,
        index: str,
        query: Json,
        source: Sequence[str] | bool,
        part: Slice | None,
        patience: float,
        common: Reader | None = None,
        once: bool = False,
    ) -> None:
        self._index = index
        self._query = query
        self._source = source
        self._slice = part
        self._patience = patience
        self._reader = self._common = common
        self._after: Any = None
        self._size = _FIRST_SIZE
        self._wanted_length = 0.0
        self._is_whole: bool | None = False if isinstance(source, bool) else None
        self._losses = 0
        self._most_losses = 0 if once else MOST_LOSSES
        self._is_over = False
        self._lengths = ReplySize()

    def next(self) -> Plan[list[Any]]:
        """Read the hits of the next page; none if all were read."""
        while not self._is_over:
            try:
                return (yield from self._page())
            except ReaderLostError:
                self._losses += 1
                if self._losses > self._most_losses:
                    raise
                self._reader = self._common = self._after = None
                # The documents done in the meantime need not be found again.
                yield from retry(Refresh(self._index), self._patience)
            except TooLargeError as error:
                if self._size == 1:
                    raise self._lengths.explained(error, 1) from error
                self._size = max(1, self._size // 4)
        return []

    def close(self) -> Plan[None]:
        """Close the reader; an engine that is away forgets it by itself."""
        reader, self._reader, self._is_over = self._reader, None, True
        if not self._common:
            yield from close(reader)

    def _page(self) -> Plan[list[Any]]:
        if self._reader is None:
            opening = OpenReader(self._index, shared=self._slice is not None)
            self._reader = yield from retry(opening, self._patience)
        if self._reader.kind == "scroll" and self._reader.id is None:
            yield from self._look()
        page = yield from self._answer(self._asked(self._reader))
        self._reader, self._after = page.reader, page.after
        if page.hits:
            self._adapt(page)
        else:
            yield from self.close()
        return page.hits

    def _look(self) -> Plan[None]:
        """Choose the size of all pages of a scroll."""
        source = self._source if isinstance(self._source, bool) else list(self._source)
        body = {"query": self._query, "size": _FIRST_SIZE, "_source": source, "track_total_hits": False}
        hits = (yield from retry(Search(self._index, body), self._patience))["hits"]["hits"]
        if hits:
            self._size = max(1, min(_SCROLLED, int(REPLY_BYTES / _length(hits))))

    def _asked(self, reader: Reader) -> ReadPage:
        asked = ReadPage(reader, self._query, self._size, self._source, self._slice, self._after, bool(self._is_whole))
        if self._is_tried(reader):
            return replace(asked, size=min(self._size, _FIRST_WHOLE), source=True)
        return asked

    def _is_tried(self, reader: Reader) -> bool:
        """Return whether whole documents are read for the first time; a scroll reads as its first page does."""
        is_known = self._is_whole is not None or not self._wanted_length
        return not is_known and reader.kind in ("elasticsearch", "opensearch")

    def _answer(self, asked: ReadPage) -> Plan[HitPage]:
        waits = retry_delays(self._patience)
        while True:
            try:
                page: HitPage = yield asked
                return page
            except (UnreachableError, UnavailableError) as error:
                if asked.reader.kind == "scroll" and asked.reader.id is not None:
                    # It moves on with each request: asked again, it would skip the page whose reply was lost.
                    raise ReaderLostError(f"The scroll over {self._index!r} was broken off. Read it again.") from error
                if (delay := next(waits, None)) is None:
                    raise self._lengths.explained(error, asked.size) from error
            yield Wait(delay)
            # Perhaps it was too large.
            self._size = min(self._size, max(_FIRST_SIZE, asked.size // 2))
            asked = replace(asked, size=min(self._size, asked.size))

    def _adapt(self, page: HitPage) -> None:
        """Adapt the number of documents of the next page to the wanted length, growing step by step."""
        length = _length(page.hits)
        if self._is_tried(page.reader):
            self._is_whole = length <= _MOST_OF_WHOLE * self._wanted_length
            return
        if not self._is_whole:
            self._wanted_length = length
        if self._is_whole and length > _MOST_OF_WHOLE * max(self._wanted_length, _SHORT):
            # These documents are others than the first ones: try again.
            self._is_whole, self._wanted_length = None, 0.0
        self._lengths.note([int(length)] * len(page.hits))
        self._size = max(1, min(int(REPLY_BYTES / length), 2 * self._size, _MOST))


def _length(hits: Sequence[Json]) -> float:
    """Return the length of a document's source, from a sample."""
    sample = hits[:: 1 + len(hits) // _SAMPLE]
    return max(1.0, sum(json_length(hit.get("_source")) for hit in sample) / len(sample))


def common_reader(index: str, options: RunOptions) -> Plan[Reader | None]:
    """Open one reader for all slices of a run; None if each needs its own, or if other machines have some."""
    if not options.is_alone:
        return None
    reader = yield from retry(OpenReader(index), options.patience)
    if reader.can_be_shared:
        return reader
    yield from close(reader)
    return None


def close_all(readings: Sequence[Reading], common: Reader | None) -> Plan[None]:
    """Close all readers of a run."""
    for reading in readings:
        yield from reading.close()
    yield from close(common)


@dataclass(frozen=True)
class Changes:
    """For each shard, the number of the ``last`` change, and that of the highest ``safe`` one.

    Every copy of the shard has the safe change (the global checkpoint) and all before it, and no failure undoes them.
    """

    last: list[int]
    safe: list[int]

    def since(self, safe: Sequence[int]) -> int:
        """Count the changes since those that were safe earlier; a missing shard counts as changed."""
        count = sum(self.last) - sum(safe)
        return count if len(self.last) == len(safe) else max(1, count)


def make_visible(index: str, patience: float) -> Plan[Changes | None]:
    """Refresh an index, and return its changes just before: from now on, searches see all safe ones.

    The order matters: documents written between the two requests have higher numbers, so they are read again. The other
    way round they would count as seen by a search that could not see them.
    """
    changes = yield from changes_of(index, patience)
    yield from retry(Refresh(index), patience)
    return changes


def changes_of(index: str, patience: float) -> Plan[Changes | None]:
    """Return the changes of an index so far; None if the engine does not number them, or does not show the numbers."""
    fields = "indices.*.shards.*.seq_no,indices.*.shards.*.routing.primary"
    stats = GetResource(f"/{index}/_stats?level=shards&filter_path={fields}", index)
    reply = (yield from attempt(retry(stats, patience))) or {}
    found: list[Json] = [
        copy["seq_no"]
        for there in reply.get("indices", {}).values()
        for copies in there["shards"].values()
        for copy in copies
        if copy["routing"]["primary"]
    ]
    if not found:
        return None
    return Changes([each["max_seq_no"] for each in found], [each["global_checkpoint"] for each in found])


@dataclass(slots=True)  # frozen ones take longer to make, and there is one for each document
class DocumentRef:
    """The index, id and routing of a document, and the version that was read."""

    index: str
    id: str
    routing: str | None
    version: dict[str, int]

    @classmethod
    def of(cls, hit: Json) -> DocumentRef:
        """Refer to the document of a hit of a search, or of a reply to a multi-get."""
        return cls(*named_by(hit))

    @property
    def metadata(self) -> Json | None:
        """Metadata for an action that changes the document only in the version that was read."""
        return {**self.version, **self.routing_metadata} or None

    @property
    def routing_metadata(self) -> Json:
        """Metadata with the routing value, if there is one."""
        return {} if self.routing is None else {"routing": self.routing}

    def rejected(self, reason: str, *, may_pass: bool = False) -> Rejected:
        """Reject the document for a reason."""
        return Rejected(index=self.index, id=self.id, reason=f"Document {self.id!r} {reason}", may_pass=may_pass)


def named_by(hit: Json) -> tuple[str, str, str | None, dict[str, int]]:
    """Return the index, id and routing of a hit, and its version."""
    version = {}
    if "_seq_no" in hit:
        version["if_seq_no"] = hit["_seq_no"]
    if "_primary_term" in hit:
        version["if_primary_term"] = hit["_primary_term"]
    return hit["_index"], hit["_id"], hit.get("_routing"), version


@dataclass(frozen=True)
class Survey:
    """The ``parts`` to go through, the names of the indices that are ``left_out``, and the findings that say why."""

    JSON = ("index", "parts", "left_out", "findings")

    index: str
    parts: list[IndexPart]
    left_out: list[str]
    findings: list[Finding]

    def check(self) -> None:
        """Raise the findings if they leave nothing to do."""
        if self.left_out and not self.parts:
            raise refusal(self.index, self.findings)


def part_of(index: str, query: Json) -> Plan[IndexPart]:
    """Count the documents of one concrete index that a query finds, and all of them."""
    # Documents written a moment ago count as well.
    changes = yield from make_visible(index, 0)
    due = yield Count(index, query)
    total = yield Count(index, {"match_all": {}})
    return IndexPart(index, due, total, changes.safe if changes else None)


def changed_after(changes: Sequence[int]) -> Json:
    """Return the query for documents changed after these changes of shards."""
    return {"range": {"_seq_no": {"gt": min(changes)}}}
