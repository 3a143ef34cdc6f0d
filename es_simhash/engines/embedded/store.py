"""The terms and sources of one index on disk: the only module that writes with tantivy.

A document has four fields there: its ``id``, its ``source``, the terms of ``exact`` values and those of ``words``.
Terms hold the path of their field, so that mappings may grow without the index being made anew.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tantivy

from es_simhash.engines.embedded.documents import Terms
from es_simhash.errors import EngineError, IndexStateError, InUseError, MissingError

# Less makes more, smaller segments, which are merged again and again.
_WRITER_BYTES = 128_000_000
# What is written is kept in memory, too, until it is committed; more than this is committed unasked.
_MAX_PENDING_BYTES = 64 << 20
_MAX_PENDING = 100_000


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_bytes_field("source", stored=True)
    builder.add_text_field("exact", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("words", tokenizer_name="whitespace", index_option="freq")
    return builder.build()


class Store:
    """The documents of one index, in a directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._index = _opened(directory)
        # First what is seen, then the searcher: a commit in between is then read once more, not missed.
        self._seen = self._state()
        self._searcher = self._index.searcher()
        self._writer: tantivy.IndexWriter | None = None
        self._pending: dict[str, bytes | None] = {}
        self._pending_bytes = 0
        self.schema = self._index.schema

    @staticmethod
    def create(directory: Path) -> None:
        """Make an empty index in an empty directory."""
        tantivy.Index(_schema(), path=str(directory))

    def searcher(self) -> tantivy.Searcher:
        """The documents as of the newest commit, of whatever process."""
        if (state := self._state()) != self._seen:
            self._index.reload()
            self._searcher, self._seen = self._index.searcher(), state
        return self._searcher

    def _committed(self) -> tantivy.Searcher:
        """The documents as of the newest commit; while this store writes, nobody else commits."""
        return self._searcher if self.writing else self.searcher()

    def _state(self) -> tuple[int, int, int]:
        """What changes with every commit."""
        try:
            stat = os.stat(self._directory / "meta.json")
        except FileNotFoundError:
            raise MissingError(
                f"The index in {str(self._directory)!r} was deleted by another process. Create it again."
            ) from None
        return stat.st_ino, stat.st_mtime_ns, stat.st_size

    def acquire(self) -> tantivy.IndexWriter:
        """The right to write, which one process at a time can have; it is kept until the store is closed."""
        if self._writer is None:
            try:
                self._writer = self._index.writer(_WRITER_BYTES, 1)
                self.searcher()
            except (ValueError, OSError) as error:
                if "LockBusy" not in str(error):
                    raise self._unwritable(error) from error
                raise InUseError(
                    f"Another process, or another engine, is writing to {str(self._directory)!r}. "
                    "Wait until it has closed the index, or write through it."
                ) from None
        return self._writer

    @property
    def writing(self) -> bool:
        """Whether this store has the right to write."""
        return self._writer is not None

    def get(self, id_: str) -> bytes | None:
        """The source of a document, committed or not; None if there is none."""
        if id_ in self._pending:
            return self._pending[id_]
        searcher = self._committed()
        query = tantivy.Query.term_query(self.schema, "id", id_, "basic")
        found = searcher.search(query, limit=1, count=False).hits
        return self.stored(searcher, found[0][1])[1] if found else None

    @staticmethod
    def stored(searcher: tantivy.Searcher, address: tantivy.DocAddress) -> tuple[str, bytes]:
        """The id and the source of a document that was found."""
        document: Any = searcher.doc(address)
        return document.get_first("id"), document.get_first("source")

    def exists(self, id_: str) -> bool:
        """Whether there is such a document, committed or not."""
        if id_ in self._pending:
            return self._pending[id_] is not None
        # The frequency is quick to tell, but counts what was deleted as well.
        return self._committed().doc_freq("id", id_) > 0 and self.get(id_) is not None

    def put(self, id_: str, source: bytes, terms: Terms, replaces: bool) -> None:
        """Write a document; ``replaces`` says whether one with its id exists."""
        writer = self.acquire()
        document = {"id": id_, "source": source, "exact": terms.exact, "words": terms.words}
        with self._writing():
            if replaces:
                writer.delete_documents_by_term("id", id_)
            writer.add_document(tantivy.Document.from_dict(document, self.schema))
        self._note(id_, source)

    def delete(self, id_: str) -> None:
        """Take out a document."""
        writer = self.acquire()
        with self._writing():
            writer.delete_documents_by_term("id", id_)
        self._note(id_, None)

    def _note(self, id_: str, source: bytes | None) -> None:
        self._pending_bytes += len(id_) + len(source or b"") - len(self._pending.get(id_) or b"")
        self._pending[id_] = source

    @property
    def is_full(self) -> bool:
        """Whether so much is pending that it should be committed."""
        return self._pending_bytes > _MAX_PENDING_BYTES or len(self._pending) > _MAX_PENDING

    def commit(self) -> None:
        """Make what was written durable, and visible to searches."""
        if not self._pending or self._writer is None:
            return
        with self._writing():
            self._writer.commit()
        self.searcher()
        self._forget_pending()

    def _forget_pending(self) -> None:
        self._pending = {}
        self._pending_bytes = 0

    def give_up_writing(self) -> None:
        """Let go of the right to write, and of what was not committed."""
        self._writer = None
        self._forget_pending()

    def close(self) -> None:
        """Commit, and let running merges end."""
        if self._writer is not None:
            self.commit()
            self._writer.wait_merging_threads()
            self.give_up_writing()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """What goes wrong on disk ends the writing."""
        try:
            yield
        except (ValueError, OSError) as error:
            self.give_up_writing()
            raise self._unwritable(error) from error

    def _unwritable(self, error: Exception) -> EngineError:
        return EngineError(
            f"The index in {str(self._directory)!r} cannot be written: {error}. What was not yet refreshed is lost. "
            "See that there is room and that the files may be written, and load it again."
        )


def _opened(directory: Path) -> tantivy.Index:
    try:
        index = tantivy.Index.open(str(directory))
        index.config_reader("manual")
    except (ValueError, OSError) as error:
        raise IndexStateError(
            f"The index in {str(directory)!r} cannot be read: {error}. Restore its files from a copy, or delete them."
        ) from error
    return index
