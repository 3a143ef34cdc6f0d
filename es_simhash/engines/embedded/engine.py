"""The embedded engine: performs every operation in this process."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from copy import deepcopy
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from secrets import token_urlsafe
from threading import RLock
from typing import Any, TypeVar
from uuid import uuid4
from zlib import crc32

import tantivy

from es_simhash._core.json_codec import Json
from es_simhash.documents.sources import SourceFilter
from es_simhash.engines.embedded import durable_files, files
from es_simhash.engines.embedded.index import EmbeddedIndex, View, is_failure, unreadable, unwritable
from es_simhash.engines.embedded.mapping import IndexMapping, RejectedError, updated, version_of
from es_simhash.engines.embedded.queries import Compiler, FindDocument, TermQueries, constant, whole_number
from es_simhash.errors import EngineError, IndexStateError, InputError, MissingError, ReaderLostError
from es_simhash.plans.operations import (
    MOST_ID_BYTES,
    Action,
    ActionResult,
    Bulk,
    CheckFiles,
    CloseReader,
    Count,
    CreateIndex,
    DeleteIndex,
    DeleteResource,
    EngineInfo,
    FilesChecked,
    GetAliases,
    GetDocuments,
    GetInfo,
    GetMappings,
    GetResource,
    GetSettings,
    HitPage,
    MultiSearch,
    OpenReader,
    Operation,
    PutMapping,
    PutResource,
    PutSettings,
    Reader,
    ReadPage,
    Refresh,
    Sample,
    Search,
    UpdateAliases,
    Write,
    index_of,
)

Result = TypeVar("Result")


class EmbeddedEngine:
    """Indices in a directory, with Elasticsearch's replies.

    Documents can be read by id at once; searches see them after a refresh, or earlier where many were written. From
    then on they are on disk: a killed process loses only what was not refreshed. One process at a time writes to an
    index, from its first write until it closes the engine; in the meantime others can read, as can all threads.

    Settings of a new index have no effect, nor has ``routing``, since there is one shard. Everything else that the
    engine does not support is an error.
    """

    system = "tantivy"

    def __init__(self, directory: str | Path) -> None:
        self._directory = Path(directory)
        self._catalog = Catalog(self._directory)
        self._readers = Readers()
        self._writing = RLock()
        self._is_closed = False
        self._process = os.getpid()
        self._performers: dict[type[Operation[Any]], Callable[[Any], Any]] = {
            GetInfo: lambda _: EngineInfo("embedded", tuple(map(int, re.findall(r"\d+", version("tantivy"))))),
            GetMappings: self._get_mappings,
            CreateIndex: self._create_index,
            PutMapping: lambda asked: self._catalog.one(asked.index).put_mapping(asked.body),
            DeleteIndex: lambda asked: self._catalog.delete(asked.index),
            GetDocuments: self._get_documents,
            Search: self._search,
            MultiSearch: self._multi_search,
            Sample: lambda asked: sample(self._views(asked.index), asked, self._finder(asked.index)),
            Bulk: self._bulk,
            Refresh: self._refresh,
            Count: lambda asked: count(self._views(asked.index), asked.query, self._finder(asked.index)),
            OpenReader: self._open_reader,
            ReadPage: lambda asked: self._readers.page(asked, self._finder(asked.reader.index)),
            CloseReader: lambda asked: self._readers.close(asked.reader),
            GetSettings: lambda asked: {index.name: {} for index in self._catalog.all(asked.index)},
            GetAliases: lambda asked: {index.name: {} for index in self._catalog.all(asked.index)},
            PutSettings: _servers_only,
            UpdateAliases: _servers_only,
            GetResource: _servers_only,
            PutResource: _servers_only,
            DeleteResource: _servers_only,
            CheckFiles: self._check_files,
        }

    def perform(self, operation: Operation[Result]) -> Result:
        """Perform one operation; raise an `EngineError` if it fails."""
        if os.getpid() != self._process:
            # Neither its threads nor its locks have come along.
            raise EngineError(
                f"The embedded engine in {str(self._directory)!r} was opened by the process {self._process}, and "
                f"this one ({os.getpid()}) is a fork. Open the directory again here: Index(name, directory)."
            )
        # Others go by what was committed, and wait for none of these.
        with self._writing if isinstance(operation, Write) else nullcontext():
            if self._is_closed:
                raise EngineError("The embedded engine was closed. Open the directory again.")
            try:
                result: Result = self._performers[type(operation)](operation)
            except UnicodeEncodeError as error:
                problem = f"{error.object!r:.80} is not Unicode text: {error.reason}"
                raise InputError(f"{problem}. Decode it again.") from None
            except RecursionError:
                raise InputError("The request is nested too deeply. Flatten it.") from None
            except BaseException as error:
                if not is_failure(error):
                    raise
                # Failed writes are caught where they occur.
                raise unreadable(self._directory / index_of(operation), error) from error
            return result

    def index(self, name: str) -> EmbeddedIndex:
        """Return the open index of a name."""
        return self._catalog.one(name)

    def close(self) -> None:
        """Make writes durable, and let other processes write; a fork leaves both to the process that opened it."""
        if os.getpid() != self._process:
            return
        with self._writing:
            self._is_closed = True
            self._catalog.close()

    def _get_mappings(self, operation: GetMappings) -> dict[str, Json]:
        return {index.name: deepcopy(index.mapping.body) for index in self._catalog.all(operation.index)}

    def _create_index(self, operation: CreateIndex) -> None:
        self._catalog.create(operation.index, operation.body)

    def _get_documents(self, operation: GetDocuments) -> list[Json]:
        indices = self._catalog.all(operation.index)
        columns = [index.documents(operation.ids, operation.source) for index in indices]
        return [_the_one_found(operation.index, replies) for replies in zip(*columns, strict=True)]

    def _search(self, operation: Search) -> Json:
        views = self._readers.views(operation.reader) if operation.reader else self._views(operation.index)
        return search(views, operation.body, self._finder(operation.index))

    def _views(self, index: str) -> list[View]:
        return [View.of(each) for each in self._catalog.all(index)]

    def _multi_search(self, operation: MultiSearch) -> list[Json]:
        views, find_document = self._views(operation.index), self._finder(operation.index)
        return [search(views, body, find_document) for body in operation.bodies]

    def _finder(self, index: str) -> Callable[[str | None, str], Json | None]:
        """Return the function that finds a document by id, in the searched index unless another is named."""
        return lambda name, id_: self._catalog.one(name or index).document(id_)

    def _open_reader(self, operation: OpenReader) -> Reader:
        of = self._catalog.all if operation.searched else lambda name: [self._catalog.one(name)]
        return self._readers.open(operation.index, of(operation.index))

    def _refresh(self, operation: Refresh) -> None:
        for index in self._catalog.all(operation.index):
            index.refresh()

    def _check_files(self, operation: CheckFiles) -> FilesChecked:
        found = self._catalog.check(operation.index)
        return FilesChecked(
            sum(each.files for each in found),
            sum(each.bytes for each in found),
            [damage for each in found for damage in each.damaged],
        )

    def _bulk(self, operation: Bulk) -> list[ActionResult]:
        touched: dict[str, EmbeddedIndex] = {}
        results = []
        for action in operation.actions:
            name = action.index or operation.index
            if name not in touched:
                index = self._written(name, action)
                if isinstance(index, ActionResult):
                    results.append(index)
                    continue
                touched[name] = index
            results.append(carry_out(action, touched[name]))
        for index in touched.values():
            index.settle(operation.refresh)
        return results

    def _written(self, name: str, action: Action) -> EmbeddedIndex | ActionResult:
        """Return the index to write to, created if missing; or the result for an action that cannot be performed."""
        try:
            if index := self._catalog.find(name):
                return index
            if action.op_type == "delete":
                return ActionResult(action.id or "", 404, f"The index {name!r} does not exist. Check the name.")
            return self._catalog.create(name, {})
        except InputError as error:
            return ActionResult(action.id or "", 400, str(error))


def _servers_only(operation: Operation[Any]) -> None:
    raise EngineError(
        f"The embedded engine has no {type(operation).__name__}: it has neither settings nor aliases. "
        "Leave that out, or use a server."
    )


def _the_one_found(names: str, replies: Sequence[Json]) -> Json:
    """Return the reply of the one index that has a document, or a reply that it is missing."""
    found = [reply for reply in replies if reply["found"]]
    if len(found) > 1:
        raise IndexStateError(
            f"{names!r} has several documents {found[0]['_id']!r}, in different indices. Name the one that is meant."
        )
    return found[0] if found else replies[0]


_FORBIDDEN = re.compile(r'[\\/*?"<>|\s,#:\x00-\x1f]')
_MAX_NAME_BYTES = 255
# The prefix of indices being created or deleted, which no index name can have.
_UNFINISHED = "_"


class Catalog:
    """The indices of a directory, opened on first use, by one thread at a time."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._open: dict[str, EmbeddedIndex] = {}
        self._opening = RLock()

    def find(self, name: str) -> EmbeddedIndex | None:
        """Return the index of a name; None if there is none."""
        index = self._open.get(name)
        if index and index.is_current():
            return index
        with self._opening:
            if self._open.get(name) is not index:
                return self.find(name)  # another thread was quicker
            self._open.pop(name, None)
            try:
                self._open[name] = found = EmbeddedIndex(name, self._directory / check_name(name))
            except (FileNotFoundError, NotADirectoryError):
                return None
            return found

    def one(self, name: str) -> EmbeddedIndex:
        """Return the index of a name that stands for one index only."""
        if "*" in name or "," in name:
            raise IndexStateError(f"{name!r} may stand for several indices, and one is needed. Name one.")
        if index := self.find(name):
            return index
        raise self._missing(name)

    def _missing(self, name: str) -> MissingError:
        return MissingError(
            f"The index {name!r} does not exist in {str(self._directory)!r}. Create it, or check name and directory."
        )

    def all(self, names: str) -> list[EmbeddedIndex]:
        """Return the indices behind a name, a pattern with ``*``, or a comma-separated list."""
        found: dict[str, EmbeddedIndex] = {}
        for name in names.split(","):
            several = self._matching(name)
            indices = [self.one(name)] if several is None else filter(None, map(self.find, several))
            found.update({index.name: index for index in indices})
        if not found:
            raise self._missing(names)
        return list(found.values())

    def check(self, names: str) -> list[FilesChecked]:
        """Check the files of indices, including those that cannot be opened."""
        each = dict.fromkeys(name for part in names.split(",") for name in self._matching(part) or [check_name(part)])
        found = [self._directory / name for name in each if (self._directory / name / files.MAPPING).exists()]
        if not found:
            raise self._missing(names)
        return [files.check(directory) for directory in found]

    def _matching(self, pattern: str) -> list[str] | None:
        """Return the names that match a pattern, with dotted names only if it has a dot, too; None for a plain name."""
        if "*" not in pattern and pattern not in ("", "_all"):
            return None
        parts = ["", ""] if pattern in ("", "_all") else pattern.split("*")
        expression = re.compile(".*".join(map(re.escape, parts)), re.DOTALL)
        names = [name for name in self._names() if expression.fullmatch(name)]
        return [name for name in names if pattern.startswith(".") or not name.startswith(".")]

    def _names(self) -> list[str]:
        try:
            return sorted(path.name for path in self._directory.iterdir() if not path.name.startswith(_UNFINISHED))
        except FileNotFoundError:
            return []

    def create(self, name: str, body: Mapping[str, Any]) -> EmbeddedIndex:
        """Create an index."""
        target = self._directory / check_name(name)
        mapping = IndexMapping.of(_mappings(name, body))
        if self.find(name):
            raise _exists(name)
        unfinished = self._unfinished()
        try:
            unfinished.mkdir(parents=True)
            EmbeddedIndex.create(unfinished, mapping)
            # Renaming is atomic.
            unfinished.rename(target)
        except (ValueError, OSError) as error:
            shutil.rmtree(unfinished, ignore_errors=True)
            if target.exists():
                raise _exists(name) from None
            raise unwritable(target, error) from error
        durable_files.sync_names(self._directory)
        return self.one(name)

    def delete(self, name: str) -> None:
        """Delete an index and its documents."""
        index = self.one(name)
        index.acquire()
        unfinished = self._unfinished()
        try:
            index.directory.rename(unfinished)
        except OSError as error:
            raise unwritable(index.directory, error) from error
        self._open.pop(name, None)
        index.store.give_up_writing()
        shutil.rmtree(unfinished)

    def _unfinished(self) -> Path:
        return self._directory / f"{_UNFINISHED}{uuid4().hex}"

    def close(self) -> None:
        """Close all open indices."""
        with ExitStack() as closing:
            while self._open:
                _, index = self._open.popitem()
                closing.callback(index.close)


def check_name(name: str) -> str:
    """Return the name; raise if an index cannot have it."""
    if (
        not name
        or name in (".", "..")
        or name[0] in "-_+"
        or _FORBIDDEN.search(name)
        or name != name.lower()
        or len(name.encode()) > _MAX_NAME_BYTES
    ):
        raise InputError(
            f"An index cannot be named {name!r}. Choose a name in lower case, of at most {_MAX_NAME_BYTES} bytes, "
            'without spaces and \\ / * ? " < > | , # : and not beginning with - _ or +.'
        )
    return name


def _mappings(name: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    settings = body.get("settings") or {}
    unknown = sorted(set(body) - {"mappings", "settings"})
    if "analysis" in settings or "analysis" in settings.get("index", {}):
        unknown.append("settings.analysis")
    if unknown:
        raise EngineError(
            f"The embedded engine cannot create the index {name!r} with {unknown!r}. "
            "Leave it out; supported: mappings, and settings without analysis."
        )
    mappings: Mapping[str, Any] = body.get("mappings") or {}
    return mappings


def _exists(name: str) -> IndexStateError:
    return IndexStateError(f"The index {name!r} already exists. Add to its mapping, choose another name, or delete it.")


# With one shard, any routing leads to it; with one writer, there are no conflicts to retry.
_METADATA = ("routing", "retry_on_conflict", "if_seq_no", "if_primary_term")
_UPDATE = ("doc", "doc_as_upsert", "upsert", "detect_noop")


def carry_out(action: Action, index: EmbeddedIndex) -> ActionResult:
    """Perform an action on an index, and return its result."""
    id_ = token_urlsafe(15) if action.id is None else action.id
    try:
        _check(action)
        # First, so that the action sees what other processes have written.
        index.acquire()
        _check_unchanged(action, index, id_)
        status = _DO[action.op_type](index, action, id_)
    except RejectedError as error:
        return ActionResult(id_, error.status, str(error))
    except RecursionError:
        return ActionResult(id_, 400, "The document is nested too deeply. Flatten it.")
    return ActionResult(id_, status)


def _check(action: Action) -> None:
    if action.op_type not in _DO:
        raise RejectedError(f"Unknown action {action.op_type!r}. Choose from: {', '.join(_DO)}.")
    if action.metadata and (unknown := sorted(set(action.metadata) - set(_METADATA))):
        raise RejectedError(f"{', '.join(unknown)}: not supported by the embedded engine. Leave it out.")
    # Without effect, but what no server takes is not taken here.
    routing = (action.metadata or {}).get("routing")
    if isinstance(routing, str) and routing and not _length(routing):
        raise RejectedError(
            f"The routing {routing!r:.80} is not Unicode text. Decode it again, with the right encoding."
        )
    if action.id is None:
        if action.op_type in ("update", "delete"):
            raise RejectedError(f"The action {action.op_type} needs an id. Give the id of the document.")
        return
    if not 0 < _length(action.id) <= MOST_ID_BYTES:
        raise RejectedError(f"An id has 1 to {MOST_ID_BYTES} bytes of UTF-8; {action.id!r:.80} does not. Shorten it.")


def _length(text: str) -> int:
    """Return the length of a text in UTF-8; 0 for halves of surrogate pairs, which it cannot hold."""
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        return 0


def _check_unchanged(action: Action, index: EmbeddedIndex, id_: str) -> None:
    """Raise unless the document is still the one that the action's condition names (see `version_of`)."""
    if not action.metadata:
        return
    condition = {name: value for name, value in action.metadata.items() if name.startswith("if_")}
    if not condition:
        return
    present = index.store.get(id_)
    if present is None and action.op_type == "update":
        return  # refused later, as there is nothing to update
    if present is None or condition != {f"if{name}": number for name, number in version_of(present).items()}:
        raise RejectedError(f"The document {id_!r} was changed since it was read. Read it again.", 409)


def _index(index: EmbeddedIndex, action: Action, id_: str) -> int:
    replaces = action.id is not None and index.store.exists(id_)
    if replaces and action.op_type == "create":
        raise RejectedError(f"The document {id_!r} already exists. Choose another id, or index it to replace it.", 409)
    index.put(id_, _document(action.body), replaces)
    return 200 if replaces else 201


def _update(index: EmbeddedIndex, action: Action, id_: str) -> int:
    body = _document(action.body)
    if "script" in body:
        raise RejectedError("The embedded engine runs no scripts. Update by a partial document in 'doc'.")
    if unknown := sorted(set(body) - set(_UPDATE)):
        raise RejectedError(f"An update has {unknown!r}, not supported by the embedded engine. Leave it out.")
    if not isinstance(part := body.get("doc"), Mapping):
        raise RejectedError("An update has no 'doc'. Give the fields to change in it.")
    present = index.document(id_)
    if present is None:
        upsert = part if body.get("doc_as_upsert") else body.get("upsert")
        if upsert is None:
            raise RejectedError(f"The document {id_!r} to update does not exist. Index it, or give an upsert.", 404)
        index.put(id_, _document(upsert), replaces=False)
        return 201
    changed = updated(present, part)
    if changed != present:
        index.put(id_, changed, replaces=True)
    return 200


def _delete(index: EmbeddedIndex, action: Action, id_: str) -> int:
    if not index.store.exists(id_):
        raise RejectedError(f"The document {id_!r} to delete does not exist. Check the id.", 404)
    index.delete(id_)
    return 200


def _document(body: Any) -> Json:
    if not isinstance(body, Mapping):
        raise RejectedError(f"The body is {body!r:.80}, not an object. Give a dict.")
    return dict(body)


_DO = {"index": _index, "create": _index, "update": _update, "delete": _delete}


class Readers:
    """The open readers."""

    def __init__(self) -> None:
        self._open: dict[str, list[View]] = {}

    def open(self, name: str, indices: Sequence[EmbeddedIndex]) -> Reader:
        """Open a reader of indices in their present state."""
        id_ = uuid4().hex
        self._open[id_] = [View.of(index) for index in indices]
        return Reader("embedded", name, id_)

    def close(self, reader: Reader) -> None:
        """Close a reader."""
        self._open.pop(reader.id or "", None)

    def page(self, operation: ReadPage, find_document: FindDocument) -> HitPage:
        """Return the next page; ``after`` is the number of documents read before."""
        [view] = self.views(operation.reader)
        start, part = operation.after or 0, operation.slice
        source = operation.source if isinstance(operation.source, bool) else list(operation.source)
        body = {"query": operation.query, "size": operation.size, "_source": source, **_IN_ORDER}
        request = SearchRequest.of(body)
        while found := _search_one(view, replace(request, start=start), find_document, offset=start)[1]:
            start += len(found)
            hits = [_shown(hit, request) for hit in found]
            if part:
                hits = [hit for hit in hits if crc32(hit["_id"].encode()) % part.count == part.number]
            if hits:
                return HitPage(hits, start, operation.reader)
        return HitPage([], None, operation.reader)

    def views(self, reader: Reader) -> list[View]:
        """Return the snapshots that a reader has."""
        if reader.id not in self._open:
            raise ReaderLostError("The reader was closed, or belongs to another engine. Open another.")
        return self._open[reader.id]


_KEYS = ("query", "size", "from", "_source", "track_total_hits", "sort", "seq_no_primary_term", "post_filter")
_BY_SCORE = ("_score", {"_score": "desc"}, {"_score": {"order": "desc"}})
_BY_PLACE = ("_doc", {"_doc": "asc"}, {"_doc": {"order": "asc"}})
# What makes a request for documents in storage order, with their versions.
_IN_ORDER: Json = {"sort": "_doc", "seq_no_primary_term": True, "track_total_hits": False}


@dataclass(frozen=True)
class SearchRequest:
    """The query, and the part of the results to return."""

    query: Json
    size: int
    start: int
    source: SourceFilter
    count: bool
    by_score: bool
    with_version: bool

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> SearchRequest:
        """Parse the body of a search request; raise for parts that are not supported."""
        if unknown := set(body) - set(_KEYS):
            raise EngineError(
                f"The embedded engine does not support {sorted(unknown)!r} in a search request. "
                f"Leave it out; supported: {', '.join(_KEYS)}."
            )
        query = body.get("query", {"match_all": {}})
        if "post_filter" in body:
            # A reply without hits would have nothing else.
            query = {"bool": {"must": [query], "filter": [body["post_filter"]]}}
        return cls(
            query,
            whole_number(body, "size", 10),
            whole_number(body, "from", 0),
            SourceFilter.of(body.get("_source", True)),
            body.get("track_total_hits", True) is not False,
            _is_by_score(body.get("sort")),
            body.get("seq_no_primary_term", False) is True,
        )


def _is_by_score(sort: Any) -> bool:
    [key] = sort if isinstance(sort, list) and len(sort) == 1 else [sort]
    if key is None or key in _BY_SCORE:
        return True
    if key in _BY_PLACE:
        return False
    raise EngineError(
        f"The embedded engine cannot sort by {sort!r}. Sort by _score or by _doc, or sort the hits once you have them."
    )


# A sample is drawn from this many documents of an index; all of these are looked up.
_SAMPLED_FROM = 200_000

# A hit: its score, and its location.
_Hit = tuple[float, EmbeddedIndex, tantivy.Searcher, tantivy.DocAddress]


def search(views: Sequence[View], body: Mapping[str, Any], find_document: FindDocument) -> Json:
    """Return the reply to a search request."""
    started = time.perf_counter()
    request = SearchRequest.of(body)
    total = 0
    hits: list[_Hit] = []
    for view in views:
        count, found = _search_one(view, request, find_document)
        total += count
        hits += found
    if len(views) > 1 and request.by_score:
        hits.sort(key=lambda hit: -hit[0])
    page = hits[request.start : request.start + request.size]
    reply: Json = {"max_score": hits[0][0] if hits and request.by_score else None}
    if request.count:
        reply["total"] = {"value": total, "relation": "eq"}
    reply["hits"] = [_shown(hit, request) for hit in page]
    return {
        "took": int((time.perf_counter() - started) * 1000),
        "timed_out": False,
        "_shards": {"total": len(views), "successful": len(views), "skipped": 0, "failed": 0},
        "hits": reply,
    }


def count(views: Sequence[View], query: Any, find_document: FindDocument) -> int:
    """Count the documents that a query matches."""
    reply = search(views, {"query": query, "size": 0}, find_document)
    value: int = reply["hits"]["total"]["value"]
    return value


def sample(views: Sequence[View], operation: Sample, find_document: FindDocument) -> list[Json]:
    """Return matching documents, evenly spread over the first `_SAMPLED_FROM` of each index."""
    request = SearchRequest.of({"query": operation.query, "size": _SAMPLED_FROM, "_source": False, **_IN_ORDER})
    hits = [hit for view in views for hit in _search_one(view, request, find_document)[1]]
    step = max(len(hits) / max(operation.size, 1), 1.0)
    return [_shown(hits[int(place * step)], request) for place in range(min(operation.size, len(hits)))]


def _search_one(
    view: View, request: SearchRequest, find_document: FindDocument, offset: int = 0
) -> tuple[int, list[_Hit]]:
    """Return the number of matches in an index, if requested, and the hits from an offset to the end of the page."""
    index, searcher = view.index, view.searcher
    compiler = Compiler(index.name, index.mapping, TermQueries(index.store.schema, searcher), find_document)
    query = compiler.compile(request.query, scored=request.by_score)
    if not request.by_score:
        # Equal scores keep documents in storage order.
        query = constant(query, 1.0)
    # The library allocates room for all requested hits at once, so never request more than there can be.
    limit = max(min(request.start + request.size, searcher.num_docs) - offset, 0)
    found: Any = searcher.search(query, limit=max(limit, 1), count=request.count, offset=offset)
    hits = [(score, index, searcher, address) for score, address in found.hits[:limit]]
    return found.count or 0, hits


def _shown(hit: _Hit, request: SearchRequest) -> Json:
    score, index, searcher, address = hit
    id_, source = index.store.stored(searcher, address)
    shown: Json = {"_index": index.name, "_id": id_, "_score": score if request.by_score else None}
    if request.with_version:
        shown |= version_of(source)
    if request.source.wanted:
        shown["_source"] = request.source.apply(source)
    return shown
