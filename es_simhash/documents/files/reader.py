"""Files of any known format read as documents.

JSON lines (plain, as ``{"_id": …, "_source": {…}}``, or as the lines of a bulk request), JSON (one array, or such
lines), CSV and TSV with a header, Parquet, and directories of text files. All but Parquet may be compressed with gzip,
bzip2, xz or zstd.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias

from es_simhash._core.batches import OnProgress
from es_simhash.documents.files.data_file import (
    BYTE_ORDER_MARK,
    FORMATS,
    STANDARD_INPUT,
    DataFile,
    FileDocument,
    Numbered,
    OnBytes,
    ReadOptions,
    RecordError,
    Stream,
    as_text,
    breaks_off,
    check_encoding,
    compression_by_name,
    compression_of,
    decoded,
    format_by_name,
    format_of,
    line_encoding_of,
    open_stream,
    reading_errors,
    with_line_feeds,
    zstd,
)
from es_simhash.documents.files.jsonl import read_json, read_jsonl
from es_simhash.documents.files.tables import parquet_module, read_parquet, read_table
from es_simhash.documents.sources import OnReject
from es_simhash.errors import InputError

MAX_LINE = 64 << 20

AnyPath: TypeAlias = "str | os.PathLike[str]"


def read_documents(
    paths: AnyPath | Iterable[AnyPath],
    *,
    format: str | None = None,
    id_field: str | None = None,
    encoding: str = "utf-8",
    on_reject: OnReject,
    on_progress: OnProgress[int] | None = None,
    max_line: int = MAX_LINE,
    columns: dict[str, None] | None = None,
) -> Iterator[FileDocument]:
    """Yield the documents of files, one by one; ``-`` is standard input, JSON lines by default.

    All paths are checked before anything is read; a problem with one of them raises an `InputError`.
    Later, what cannot be read is passed to ``on_reject`` with its file and line, and the rest is read; where nothing
    shows how a table or a JSON array goes on, an `InputError` names the place. No line, row or element of over
    ``max_line`` bytes is kept in memory.

    The ``format`` is one of `FORMATS`; by default, the name of each file shows it. The id of a document is the string
    or number at the dotted path ``id_field``; without ``id_field``, the value of ``_id`` or ``id``; without either, it
    is made of the file's whole path, with links followed, and the line, so that it is the same the next time (for
    standard input or a pipe, of the line and a hash of the document). ``_id`` and ``_routing`` are removed from the
    document, as no index takes them there. In a directory each file is a document with its relative path as id, and its
    content in the field ``text``.

    ``on_progress`` is called now and then with how many of the `total_bytes` have been read from disk. ``columns`` gets
    the names in the headers of tables, also of columns without any value.
    """
    encoding = check_encoding(encoding)
    columns = {} if columns is None else columns
    options = ReadOptions(id_field, encoding, line_encoding_of(encoding), max_line, on_reject, columns)
    if format and format not in FORMATS:
        raise InputError(f"Unknown format {format!r}. Choose one of {', '.join(FORMATS)}.")
    files = [replace(_checked(path, format, options), number=number) for number, path in enumerate(_as_list(paths))]
    return _documents(files, _Progress(on_progress))


def total_bytes(paths: AnyPath | Iterable[AnyPath]) -> int | None:
    """Return the size of all files together; None if it is not known, as of standard input."""
    total = 0
    try:
        for path in _as_list(paths):
            files = [file for file, _ in files_below(path)] if os.path.isdir(path) else [path]
            if not all(os.path.isfile(file) for file in files):
                return None
            total += sum(os.path.getsize(file) for file in files)
    except OSError:
        return None
    return total


class _Progress:
    """Counts the bytes read, and reports them between documents.

    Not while it reads: an error of the callback, such as a closed pipe, would look like one of the file.
    """

    def __init__(self, on_progress: OnProgress[int] | None) -> None:
        self._on_progress = on_progress
        self._done = 0
        self._reported = 0

    def add(self, count: int) -> None:
        self._done += count

    def report(self) -> None:
        if self._done != self._reported:
            self._reported = self._done
            if self._on_progress is not None:
                self._on_progress(self._done)


def _as_list(paths: AnyPath | Iterable[AnyPath]) -> list[str]:
    return [os.fspath(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]


def _checked(path: str, format: str | None, options: ReadOptions) -> DataFile:
    """Return the file with its format, if it can be read."""
    if path == STANDARD_INPUT:
        if format == "parquet":
            raise InputError("Parquet cannot be read from standard input. Save it as a file, and give that.")
        return DataFile(path, format or "jsonl", options)
    if "\0" in path:
        raise InputError(f"{path!r} has a NUL character. Give a path that can be read.")
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            return _checked_directory(path, format, options)
        file = DataFile(path, format or format_of(path), options)
        if stat.S_ISREG(mode):
            _check_content(file)
    except OSError as error:
        name = error.filename or path
        raise InputError(f"{name!r} cannot be read: {error.strerror}. Give a path that can be read.") from None
    return file


def _checked_directory(path: str, format: str | None, options: ReadOptions) -> DataFile:
    if format not in {None, "text"}:
        raise InputError(f"{path!r} is a directory, which cannot be read as {format}. Give the files in it.")
    check_directory(path, only_texts=format == "text")
    return DataFile(path, "directory", options)


def _check_content(file: DataFile) -> None:
    """Refuse a file that needs a missing library, or whose name belies its content."""
    if file.format == "parquet":
        if compression_by_name(file.path):
            raise InputError(f"The Parquet file {file.path!r} is compressed as a whole. Unpack it first.")
        parquet_module()
        return
    with open(file.path, "rb") as opened:
        head = opened.read(10)
    found, promised = compression_of(head), compression_by_name(file.path)
    if head and promised and found != promised:
        raise InputError(f"The file {file.path!r} is not compressed as its name says. Rename it, or fetch it again.")
    if found == ".zst":
        zstd()


def _documents(files: Iterable[DataFile], progress: _Progress) -> Iterator[FileDocument]:
    for file in files:
        if file.format == "directory":
            yield from _documents(_openable(file), progress)
            continue
        if file.format == "parquet":
            documents = file.documents(read_parquet(file, progress.add))
        else:
            documents = _from_stream(file, progress.add)
        for document in documents:
            progress.report()
            yield document
        progress.report()


def _openable(directory: DataFile) -> Iterator[DataFile]:
    """Yield the files in a directory; reject what cannot be opened, such as a pipe, and links that lead out of it."""
    for path in links_out(directory.path):
        DataFile(path, "text", directory.options).reject(
            1, "This link leads out of the directory, so it is not followed. Give the path of its target."
        )
    for path, id in files_below(directory.path):
        file = DataFile(path, "text", directory.options, id, directory.number)
        if os.path.isfile(path) and os.access(path, os.R_OK):
            yield file
        else:
            file.reject(1, "This file cannot be read. Leave it out, or allow reading it.")


def _from_stream(file: DataFile, on_bytes: OnBytes) -> Iterator[FileDocument]:
    with open_stream(file.path, on_bytes) as opened:
        stream = with_line_feeds(opened, file.options)
        try:
            empty = not stream.peek(1)
        except reading_errors() as error:
            file.reject(1, breaks_off(error))
            return
        except RecordError as bad:
            file.reject(1, str(bad))
            return
        if empty:
            file.reject(1, "The file is empty. Leave it out.")
        else:
            yield from file.documents(_READERS[file.format](file, stream))


def read_text(file: DataFile, stream: Stream) -> Iterator[Numbered]:
    """Yield the one document of a text file; reject it if it is cut off or too long."""
    longest = file.options.max_line
    content = bytearray()
    try:
        while len(content) <= longest and (block := stream.read1(1 << 16)):
            content += block
    except reading_errors() as error:
        file.reject(1, breaks_off(error), bytes(content[:1000]))
        return
    if len(content) > longest:
        file.reject(
            1, f"The text has more than {longest:,} bytes. Split it, or allow longer ones.", bytes(content[:1000])
        )
        return
    try:
        text = decoded(bytes(content.removeprefix(BYTE_ORDER_MARK)), file.options)
    except RecordError as bad:
        file.reject(1, str(bad), bytes(content[:1000]))
    else:
        yield 1, {"_id": file.id or file.place, "text": text}


def files_below(directory: str) -> Iterator[tuple[str, str]]:
    """Yield the files below a directory, in a fixed order: the path of each, and that relative to the directory.

    Hidden files, whose names begin with a dot, are left out, and so are links that lead out of the directory. Links to
    directories are not followed.
    """
    root = os.path.realpath(directory)
    for folder, _, files in _walk(directory):
        for name in files:
            path = os.path.join(folder, name)
            if not _leads_out(root, path):
                yield path, as_text(os.path.relpath(path, directory))


def links_out(directory: str) -> Iterator[str]:
    """Yield the path of each link to a file or directory that leads out of a directory."""
    root = os.path.realpath(directory)
    for folder, folders, files in _walk(directory):
        paths = (os.path.join(folder, name) for name in sorted([*folders, *files]))
        yield from (path for path in paths if _leads_out(root, path))


def _walk(directory: str) -> Iterator[tuple[str, list[str], list[str]]]:
    for folder, folders, files in os.walk(directory, onerror=_raise):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield folder, folders, sorted(name for name in files if not name.startswith("."))


def _leads_out(root: str, path: str) -> bool:
    if not os.path.islink(path):
        return False
    end = os.path.realpath(path)
    return os.path.exists(end) and not os.path.join(end, "").startswith(os.path.join(root, ""))


def check_directory(directory: str, only_texts: bool) -> None:
    """Refuse a directory without files, and one with files of documents unless all are read as texts."""
    empty = True
    for path, _ in files_below(directory):
        empty = False
        if format_by_name(path) is not None and not only_texts:
            raise InputError(
                f"The directory {directory!r} holds files of documents, such as {path!r}. "
                "Give these files themselves, or choose the format text to read each file as one document."
            )
    if empty:
        raise InputError(f"The directory {directory!r} holds no files. Give a directory with text files.")


def _raise(error: OSError) -> None:
    raise error


_READERS: dict[str, Callable[[DataFile, Stream], Iterator[Numbered]]] = {
    "jsonl": read_jsonl,
    "json": read_json,
    "csv": read_table,
    "tsv": read_table,
    "text": read_text,
}
