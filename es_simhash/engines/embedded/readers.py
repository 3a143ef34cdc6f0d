"""Readers: snapshots of indices, from which all documents are read page by page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4
from zlib import crc32

import tantivy

from es_simhash._core.json_paths import Json
from es_simhash.documents.source_filter import SourceFilter
from es_simhash.engines.embedded.index import EmbeddedIndex, View
from es_simhash.engines.embedded.mapping.document_terms import version_of
from es_simhash.engines.embedded.queries.more_like_this import FindDocument
from es_simhash.engines.embedded.queries.query_types import Compiler
from es_simhash.engines.embedded.queries.tantivy_queries import TermQueries, constant
from es_simhash.errors import ReaderLostError
from es_simhash.plans.operations import HitPage, Reader, ReadPage, Slice


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
        start = operation.after or 0
        while found := _documents(view, operation, start, find_document):
            start += len(found)
            if hits := [hit for hit in found if _is_in(operation.slice, hit["_id"])]:
                return HitPage(hits, start, operation.reader)
        return HitPage([], None, operation.reader)

    def views(self, reader: Reader) -> list[View]:
        """Return the snapshots that a reader has."""
        if reader.id not in self._open:
            raise ReaderLostError("The reader was closed, or belongs to another engine. Open another.")
        return self._open[reader.id]


def _documents(view: View, operation: ReadPage, start: int, find_document: FindDocument) -> list[Json]:
    store = view.index.store
    compiler = Compiler(view.index.name, view.index.mapping, TermQueries(store.schema, view.searcher), find_document)
    # Equal scores keep documents in storage order.
    query = constant(compiler.compile(operation.query, scored=False), 1.0)
    found: Any = view.searcher.search(query, limit=operation.size, count=False, offset=start)
    wanted = SourceFilter.of(operation.source if isinstance(operation.source, bool) else list(operation.source))
    return [_hit(view, address, wanted) for _, address in found.hits]


def _hit(view: View, address: tantivy.DocAddress, wanted: SourceFilter) -> Json:
    id_, source = view.index.store.stored(view.searcher, address)
    hit: Json = {"_index": view.index.name, "_id": id_, **version_of(source)}
    return {**hit, "_source": wanted.apply(source)} if wanted.wanted else hit


def _is_in(part: Slice | None, id_: str) -> bool:
    return part is None or crc32(id_.encode()) % part.count == part.number
