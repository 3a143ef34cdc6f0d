"""A file that is one document: its whole content is the field ``text``."""

from __future__ import annotations

import os
from collections.abc import Iterator

from es_simhash.documents.files.compression import Stream, breaks_off, reading_errors
from es_simhash.documents.files.data_file import BYTE_ORDER_MARK, DataFile, Numbered, RecordError, as_text, decoded
from es_simhash.documents.files.formats import format_by_name
from es_simhash.errors import InputError


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
