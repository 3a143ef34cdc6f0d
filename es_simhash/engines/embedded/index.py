"""One index of the embedded engine: its mapping, and its terms and sources on disk.

A document has four fields in the store: its ``id``, its ``source``, the terms of ``exact`` values and those of
``words``. Terms include the path of their field, so that mappings can grow without rebuilding the index.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from threading import Lock
from typing import Any
from uuid import uuid4

import tantivy

from es_simhash._core.json_codec import Json, parse_json
from es_simhash.documents.sources import SourceFilter
from es_simhash.engines.embedded import durable_files, files
from es_simhash.engines.embedded.durable_files import Claim
from es_simhash.engines.embedded.files import LIST, META, Stamp, StoredMapping, check_unless_sealed
from es_simhash.engines.embedded.mapping import (
    IndexMapping,
    encode,
    leaves,
    terms,
    unicode_text,
    version_of,
    with_new_fields,
)
from es_simhash.errors import EngineError, EsSimhashError, IndexStateError, InUseError, MissingError, WritesLostError


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


# A smaller buffer makes more, smaller segments, which are merged again and again.
_WRITER_BYTES = 128_000_000
# Uncommitted writes are also kept in memory; beyond these limits they are committed.
_MAX_PENDING_BYTES = 64 << 20
_MAX_PENDING = 100_000
# A file of the library with the usual permissions.
_LOCK = ".tantivy-meta.lock"


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_bytes_field("source", stored=True)
    builder.add_text_field("exact", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("words", tokenizer_name="whitespace", index_option="freq")
    return builder.build()


class Store:
    """The documents of one index, in a directory.

    A failed write raises the library's or the system's error, a ValueError or an OSError. Writing then ends, and
    `abandon` returns how many changes are lost.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._meta = str(directory / META)
        check_unless_sealed(directory)
        # The state before the searcher: a commit in between is then read twice, not missed.
        self._seen = self._state()
        self._index, self._is_read_only = opened(directory)
        self._searcher = self._index.searcher()
        self._reloading = Lock()
        self._writer: tantivy.IndexWriter | None = None
        self._claim: Claim | None = None
        self._pending: dict[str, bytes | None] = {}
        self._pending_bytes = 0
        self._changes = self._reported = 0
        # Grows with each change made here, and with each commit by others.
        self.generation = 0
        self.schema = self._index.schema

    @staticmethod
    def create(directory: Path) -> None:
        """Create an empty index in an empty directory."""
        tantivy.Index(_schema(), path=str(directory))
        _share(directory)
        files.seal(directory)

    def searcher(self) -> tantivy.Searcher:
        """Return the documents of the newest commit by any process."""
        if self._state() != self._seen:
            with self._reloading:  # or a slower thread would bring back an older commit
                self._reload()
        return self._searcher

    def _reload(self) -> None:
        if (state := self._state()) != self._seen:
            if self._is_read_only:
                self._index, self._is_read_only = opened(self._directory)
            else:
                self._index.reload()
            self._searcher, self._seen = self._index.searcher(), state
            if not self.writing:  # nobody else commits in the meantime
                self.generation += 1

    def _committed(self) -> tantivy.Searcher:
        """Return the documents of the newest commit; while this store writes, nobody else commits."""
        return self._searcher if self.writing else self.searcher()

    def _state(self) -> tuple[int, int, int]:
        """Return a value that changes with every commit."""
        try:
            stat = os.stat(self._meta)
        except FileNotFoundError:
            raise MissingError(
                f"The index in {str(self._directory)!r} was deleted by another process. Create it again."
            ) from None
        return stat.st_ino, stat.st_mtime_ns, stat.st_size

    def acquire(self) -> tantivy.IndexWriter:
        """Acquire the right to write, which one process at a time has until it closes the store."""
        if self._writer is None:
            self._writer = self._new_writer()
            self._claim = Claim(self._directory)
            try:
                check_unless_sealed(self._directory, is_own=True)
                files.unseal(self._directory)
                if self._state() != self._seen:
                    self.generation += 1
                    self.searcher()
            except BaseException:
                self.give_up_writing()
                raise
        return self._writer

    def _new_writer(self) -> tantivy.IndexWriter:
        if self._is_read_only:
            # The directory may be writable by now; if not, this raises the reason.
            self._index, self._is_read_only = _with_lock(self._directory), False
        try:
            return self._index.writer(_WRITER_BYTES, 1)
        except ValueError as error:
            if "LockBusy" not in str(error):
                raise
            raise InUseError(
                f"Another process, or another engine, is writing to {str(self._directory)!r}. "
                "Wait until it has closed the index, or write through it."
            ) from None

    @property
    def writing(self) -> bool:
        """Whether this store has the right to write."""
        return self._writer is not None

    def get(self, id_: str) -> bytes | None:
        """Return the source of a document, committed or not; None if there is none."""
        pending = self._pending
        if id_ in pending:
            return pending[id_]
        searcher = self._committed()
        query = tantivy.Query.term_query(self.schema, "id", id_, "basic")
        found = searcher.search(query, limit=1, count=False).hits
        return self.stored(searcher, found[0][1])[1] if found else None

    @staticmethod
    def stored(searcher: tantivy.Searcher, address: tantivy.DocAddress) -> tuple[str, bytes]:
        """Return the id and the source of a hit."""
        document: Any = searcher.doc(address)
        id_, source = document.get_first("id"), document.get_first("source")
        if not isinstance(id_, str) or not isinstance(source, bytes):
            raise ValueError("a document without its id or source was found")
        return id_, source

    def exists(self, id_: str) -> bool:
        """Return whether a document exists, committed or not."""
        if id_ in self._pending:
            return self._pending[id_] is not None
        # The frequency is fast, but includes deleted documents.
        return self._committed().doc_freq("id", id_) > 0 and self.get(id_) is not None

    def put(self, id_: str, source: bytes, terms: dict[str, list[str]], replaces: bool) -> None:
        """Write a document; ``replaces`` says whether its id exists."""
        writer = self.acquire()
        document = {"id": id_, "source": source, **terms}
        if replaces:
            writer.delete_documents_by_term("id", id_)
        try:
            writer.add_document(tantivy.Document.from_dict(document, self.schema))
        except ValueError as error:
            if "killed" in str(error):
                # A writing thread has failed; waiting for it raises the reason.
                writer.commit()
            raise
        self._note(id_, source)

    def delete(self, id_: str) -> None:
        """Delete a document."""
        self.acquire().delete_documents_by_term("id", id_)
        self._note(id_, None)

    def _note(self, id_: str, source: bytes | None) -> None:
        self._pending_bytes += len(id_) + len(source or b"") - len(self._pending.get(id_) or b"")
        self._pending[id_] = source
        self._changes += 1
        self.generation += 1

    @property
    def is_full(self) -> bool:
        """Whether enough is pending for a commit."""
        return self._pending_bytes > _MAX_PENDING_BYTES or len(self._pending) > _MAX_PENDING

    def settle(self) -> None:
        """Count the changes so far as reported to the caller."""
        self._reported = self._changes

    def commit(self) -> None:
        """Make what was written durable, and visible to searches."""
        if not self._pending or self._writer is None:
            return
        self._writer.commit()
        # Other threads always find a document in one or the other.
        self.searcher()
        self._forget_pending()
        durable_files.sync_names(self._directory)
        _share(self._directory)

    def _forget_pending(self) -> None:
        self._pending = {}
        self._pending_bytes = self._changes = self._reported = 0

    def abandon(self) -> int:
        """Discard what was not committed, and stop writing; return the number of reported changes lost."""
        lost = self._reported
        try:
            if self._writer is not None:
                # It may have filled the disk.
                with suppress(ValueError, OSError):
                    self._writer.rollback()
                    self._writer.garbage_collect_files()
        finally:
            self.give_up_writing()
        return lost

    def give_up_writing(self) -> None:
        """Release the right to write, and discard what was not committed."""
        self._writer = None
        self._forget_pending()
        if self._claim is not None:
            self._claim.give_up()
            self._claim = None

    def close(self) -> None:
        """Commit, and wait for running merges."""
        if self._writer is None:
            return
        self.commit()
        # Commits are safe even if merging fails; without a seal, the files are checked on opening.
        with suppress(ValueError, OSError):
            self._writer.wait_merging_threads()
            _share(self._directory)
            files.seal(self._directory)
        self.give_up_writing()


def _share(directory: Path) -> None:
    """Give the library's lists the permissions of its other files: it creates them for their owner only."""
    durable_files.share([directory / META, directory / LIST], like=directory / _LOCK)


# ---- opening, even where nothing can be written
#
# The library locks a file while it opens the others, so that none of them is removed before. On a read-only file
# system, or in another user's directory, it receives a directory of links to them instead.

# Number of attempts, since files may be removed while they are linked without a lock.
_TRIES = 10


def opened(directory: Path) -> tuple[tantivy.Index, bool]:
    """Open the index in a directory; return whether it is read-only, too."""
    try:
        return _with_lock(directory), False
    except (ValueError, OSError) as error:
        if number_of(error) not in _FORBIDDEN:
            raise
    return _without_lock(directory), True


def _with_lock(directory: Path) -> tantivy.Index:
    index = tantivy.Index.open(str(directory))
    index.config_reader("manual")
    return index


def _without_lock(directory: Path) -> tantivy.Index:
    for _ in range(_TRIES - 1):
        before = (directory / META).read_bytes()
        try:
            return _by_links(directory)
        except (ValueError, FileNotFoundError):
            if before == (directory / META).read_bytes():
                raise
    return _by_links(directory)


def _by_links(directory: Path) -> tantivy.Index:
    """Open the index through links; its files stay open, so the links can go."""
    links = _temporary()
    try:
        # The library's locks and its list of files begin with a dot; a reader needs neither.
        for file in directory.glob("[!.]*"):
            if file.name == META:
                shutil.copyfile(file, links / META)
            else:
                (links / file.name).symlink_to(file.resolve())
        return _with_lock(links)
    finally:
        for _ in range(_TRIES):
            # A thread of the library may look for changes, and create a lock again, during the removal.
            shutil.rmtree(links, ignore_errors=True)
            if not links.exists():
                break


def _temporary() -> Path:
    try:
        return Path(mkdtemp(prefix="es-simhash-"))
    except OSError as error:
        raise EngineError(
            f"A read-only index is opened through a temporary directory, which cannot be created: {error}. "
            "Set TMPDIR to a directory that can be written."
        ) from error


# ---- errors of the system and of the library, as ours with a remedy
#
# The library reports them in its own words, as a ValueError; a system error has its number among them.

_NUMBER = re.compile(r"\bcode: (\d+), kind:|\(os error (\d+)\)")
# The library's bindings raise this on a panic; it cannot be imported.
_PANIC = ("pyo3_runtime", "PanicException")

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NOT_ALLOWED = (errno.EACCES, errno.EPERM)
_FORBIDDEN = (errno.EROFS, *_NOT_ALLOWED)
_TOO_MANY_FILES = (errno.EMFILE, errno.ENFILE)

_ALLOW_FILES = "Allow more open files (ulimit -n), or close indices that are not in use"
_CHECK = (
    "es-simhash info --check names the files that are damaged. Restore the index from a copy, "
    "or delete its directory and load the documents again."
)


def number_of(error: BaseException) -> int | None:
    """Return the system's number of an error (see `errno`); None if it is not the system's."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    found = _NUMBER.search(str(error))
    return int(found[1] or found[2]) if found else None


def is_failure(error: BaseException) -> bool:
    """Return whether an error comes from the system or the library, not from us."""
    if isinstance(error, EsSimhashError):
        return False
    return isinstance(error, ValueError | OSError) or (type(error).__module__, type(error).__name__) == _PANIC


def unreadable(directory: Path, error: BaseException) -> EngineError:
    """Return the error for an index that cannot be read."""
    match number_of(error):
        case number if number in _NOT_ALLOWED:
            remedy = "Let this user read the directory and all files in it."
        case number if number in _TOO_MANY_FILES:
            remedy = f"{_ALLOW_FILES}. The index itself is as it was."
        case _:
            remedy = _CHECK
    return IndexStateError(f"The index in {str(directory)!r} cannot be read: {_reason(error)}. {remedy}")


def unwritable(directory: Path, error: BaseException, lost: int = 0) -> EngineError:
    """Return the error for an index that cannot be written; ``lost`` is the number of reported changes not in it."""
    match number_of(error):
        case number if number in _FULL:
            remedy = "Make room on its disk"
        case number if number in _NOT_ALLOWED:
            remedy = "Write as a user who may, or write to a copy of the directory"
        case errno.EROFS:
            remedy = "Write to a copy of the directory on another file system"
        case number if number in _TOO_MANY_FILES:
            remedy = _ALLOW_FILES
        case errno.ENOTDIR:
            remedy = "Name a directory"
        case _:
            remedy = "Check its disk space and the permissions of its files"
    problem = f"The index in {str(directory)!r} cannot be written: {_reason(error)}."
    if not lost:
        return IndexStateError(f"{problem} {remedy}, and try again.")
    changes = "change that was reported as written is" if lost == 1 else "changes that were reported as written are"
    return WritesLostError(f"{problem} {lost:,} {changes} not in it. {remedy}, and write them again.", lost)


def _reason(error: BaseException) -> str:
    number = number_of(error)
    return os.strerror(number) if number else str(error).rstrip(".")
