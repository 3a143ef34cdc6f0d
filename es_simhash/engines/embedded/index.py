"""One index of the embedded engine: its mapping and its documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any
from uuid import uuid4

import tantivy

from es_simhash._core.json_codec import Json, parse_json
from es_simhash.documents.sources import SourceFilter
from es_simhash.engines.embedded import files
from es_simhash.engines.embedded.files import Stamp, StoredMapping
from es_simhash.engines.embedded.mapping import IndexMapping, encode, leaves, terms, version_of, with_new_fields
from es_simhash.engines.embedded.store import Store, is_failure, unwritable
from es_simhash.engines.embedded.values import unicode_text


class EmbeddedIndex:
    """An open index in its own directory."""

    def __init__(self, name: str, directory: Path) -> None:
        self.name = name
        self.directory = directory
        self._changing = Lock()
        self._stamp = files.mapping_stamp(directory)
        self._stored = self._saved = files.read_mapping(directory)
        self.store = Store(directory)

    @staticmethod
    def create(directory: Path, mapping: IndexMapping) -> None:
        """Create an empty index in an empty directory."""
        Store.create(directory)
        files.write_mapping(directory, StoredMapping(uuid4().hex, mapping))

    @property
    def mapping(self) -> IndexMapping:
        """The fields of the index."""
        return self._stored.mapping

    def is_current(self) -> bool:
        """Return whether this is still the index of that name; reload its mapping if another process changed it."""
        try:
            now = files.mapping_stamp(self.directory)
            return now == self._stamp or self._reload(now)
        except FileNotFoundError:
            return False

    def _reload(self, now: Stamp) -> bool:
        """Reload the mapping, unless this writes it; return whether it is still that of the same index."""
        with self._changing:
            if not self.store.writing:
                stored = files.read_mapping(self.directory)
                if stored.identity != self._stored.identity:
                    return False
                self._stored = self._saved = stored
                self._stamp = now
            return True

    def put_mapping(self, body: Mapping[str, Any]) -> None:
        """Add fields to the mapping."""
        self.acquire()
        self._stored = replace(self._stored, mapping=self.mapping.merged(body))
        with self._saving():
            self._save_mapping()

    def acquire(self) -> None:
        """Acquire the right to write, and with it the newest mapping."""
        if self.store.writing:
            return
        with self._changing:
            with self._saving():
                self.store.acquire()
            self._stored = self._saved = files.read_mapping(self.directory)
            self._stamp = files.mapping_stamp(self.directory)

    def _save_mapping(self) -> None:
        if self._stored is not self._saved:
            files.write_mapping(self.directory, self._stored)
            self._saved = self._stored
            self._stamp = files.mapping_stamp(self.directory)

    @contextmanager
    def _saving(self) -> Iterator[None]:
        """Stop writing on a failure: from then on the index is what is on disk."""
        try:
            yield
        except BaseException as error:
            if not is_failure(error):
                raise
            self._stored = self._saved
            raise unwritable(self.directory, error, self.store.abandon()) from error

    def put(self, id_: str, document: Json, replaces: bool) -> None:
        """Write a document; raise `RejectedError` if it is invalid."""
        self.acquire()
        source = encode(document)
        document_leaves = leaves(document)
        mapping = with_new_fields(self.mapping, document_leaves)
        document_terms = terms(document_leaves, mapping)
        if mapping is not self.mapping:
            self._stored = replace(self._stored, mapping=mapping)
        with self._saving():
            self.store.put(id_, source, document_terms, replaces)

    def delete(self, id_: str) -> None:
        """Delete a document."""
        self.acquire()
        with self._saving():
            self.store.delete(id_)

    def settle(self, refresh: bool) -> None:
        """End a request that wrote: count its changes as written, and commit them if they are many."""
        if refresh or self.store.is_full:
            self.refresh()
        self.store.settle()

    def document(self, id_: str) -> Json | None:
        """Return a document as last written; None if there is none."""
        source = self.store.get(id_)
        return None if source is None else parse_json(source)

    def documents(self, ids: Sequence[str], paths: Sequence[str] | None) -> list[Json]:
        """Return documents by id, in the form of a multi-get reply."""
        source_filter = SourceFilter.of(True if paths is None else {"includes": list(paths)})
        found: list[Json] = []
        for id_ in ids:
            source = self.store.get(unicode_text(id_))
            reply: Json = {"_index": self.name, "_id": id_, "found": source is not None}
            if source is not None:
                reply |= version_of(source)
                reply["_source"] = {} if paths is not None and not paths else source_filter.apply(source)
            found.append(reply)
        return found

    @property
    def generation(self) -> int:
        """A number that grows with each change of a document made here, and with each commit by others."""
        self.store.searcher()
        return self.store.generation

    def refresh(self) -> None:
        """Make everything written durable and visible to searches."""
        with self._saving():
            # The mapping first, so that it has the fields of all committed documents even after a crash in between.
            self._save_mapping()
            self.store.commit()

    def close(self) -> None:
        """Make everything written durable."""
        with self._saving():
            self._save_mapping()
            self.store.close()


@dataclass(frozen=True)
class View:
    """An index, and a snapshot of its documents."""

    index: EmbeddedIndex
    searcher: tantivy.Searcher

    @classmethod
    def of(cls, index: EmbeddedIndex) -> View:
        """Return a view of an index in its present state."""
        return cls(index, index.store.searcher())

    def documents(self) -> Iterator[tuple[str, bytes]]:
        """Yield the ids and sources of all documents, in storage order."""
        everything = tantivy.Query.const_score_query(tantivy.Query.all_query(), 1.0)
        found: Any = self.searcher.search(everything, limit=max(1, self.searcher.num_docs), count=False)
        for _, address in found.hits:
            yield Store.stored(self.searcher, address)
