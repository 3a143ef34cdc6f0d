"""The embedded engine: performs every operation in this process."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from copy import deepcopy
from importlib.metadata import version
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

from es_simhash._core.json_paths import Json
from es_simhash.engines.embedded.bulk_actions import carry_out
from es_simhash.engines.embedded.catalog import Catalog
from es_simhash.engines.embedded.index import EmbeddedIndex, View
from es_simhash.engines.embedded.readers import Readers
from es_simhash.engines.embedded.search import count, sample, search
from es_simhash.engines.embedded.storage import system_errors
from es_simhash.errors import EngineError, IndexStateError, InputError
from es_simhash.plans.operations import (
    WRITES,
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
)

Result = TypeVar("Result")


class EmbeddedEngine:
    """Indices in a directory, with Elasticsearch's replies.

    Documents can be read by id at once; searches see them after a refresh, or earlier where many were written. From
    then on they are on disk: a killed process loses only what was not refreshed. One process at a time writes to an
    index, from its first write until it closes the engine; meanwhile others can read, as can all threads.

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
            GetInfo: self._get_info,
            GetMappings: self._get_mappings,
            CreateIndex: self._create_index,
            PutMapping: self._put_mapping,
            DeleteIndex: self._delete_index,
            GetDocuments: self._get_documents,
            Search: self._search,
            MultiSearch: self._multi_search,
            Sample: self._sample,
            Bulk: self._bulk,
            Refresh: self._refresh,
            Count: self._count,
            OpenReader: self._open_reader,
            ReadPage: self._read_page,
            CloseReader: lambda operation: self._readers.close(operation.reader),
            GetSettings: lambda operation: {index.name: {} for index in self._catalog.all(operation.index)},
            GetAliases: lambda operation: {index.name: {} for index in self._catalog.all(operation.index)},
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
        with self._writing if isinstance(operation, WRITES) else nullcontext():
            if self._is_closed:
                raise EngineError("The embedded engine was closed. Open the directory again.")
            try:
                result: Result = self._performers[type(operation)](operation)
            except UnicodeEncodeError as error:
                raise InputError(f"{error.object!r:.80} is no Unicode text: {error.reason}. Decode it again.") from None
            except RecursionError:
                raise InputError("The request is nested too deeply. Flatten it.") from None
            except BaseException as error:
                if not system_errors.is_failure(error):
                    raise
                # Failed writes are caught where they occur.
                raise system_errors.unreadable(self._directory / _index_of(operation), error) from error
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

    def _get_info(self, operation: GetInfo) -> EngineInfo:
        return EngineInfo("embedded", tuple(map(int, re.findall(r"\d+", version("tantivy")))))

    def _get_mappings(self, operation: GetMappings) -> dict[str, Json]:
        return {index.name: deepcopy(index.mapping.body) for index in self._catalog.all(operation.index)}

    def _create_index(self, operation: CreateIndex) -> None:
        self._catalog.create(operation.index, operation.body)

    def _put_mapping(self, operation: PutMapping) -> None:
        self._catalog.one(operation.index).put_mapping(operation.body)

    def _delete_index(self, operation: DeleteIndex) -> None:
        self._catalog.delete(operation.index)

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

    def _sample(self, operation: Sample) -> list[Json]:
        return sample(self._views(operation.index), operation, self._finder(operation.index))

    def _count(self, operation: Count) -> int:
        return count(self._views(operation.index), operation.query, self._finder(operation.index))

    def _finder(self, index: str) -> Callable[[str | None, str], Json | None]:
        """Return the function that finds a document by id, in the searched index unless another is named."""
        return lambda name, id_: self._catalog.one(name or index).document(id_)

    def _open_reader(self, operation: OpenReader) -> Reader:
        of = self._catalog.all if operation.searched else lambda name: [self._catalog.one(name)]
        return self._readers.open(operation.index, of(operation.index))

    def _read_page(self, operation: ReadPage) -> HitPage:
        return self._readers.page(operation, self._finder(operation.reader.index))

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
                return ActionResult(action.id or "", 404, f"There is no index {name!r}. Check the name.")
            return self._catalog.create(name, {})
        except InputError as error:
            return ActionResult(action.id or "", 400, str(error))


def _index_of(operation: Operation[Any]) -> str:
    named = operation if hasattr(operation, "index") else getattr(operation, "reader", None)
    name: str = getattr(named, "index", "")
    return name


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
