"""What the tests of reading files share: files made and read back."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from es_simhash.documents.files import FileDocument, read_documents
from es_simhash.documents.files.data_file import zstd
from es_simhash.documents.sources import Rejected


def _zstd(content: bytes) -> bytes:
    """As the program zstd does it, with a checksum: without one, damage can pass for text."""
    return bytes(zstd().compress(content, options={zstd().CompressionParameter.checksum_flag: 1}))


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": partial(lzma.compress, preset=0),
    ".zst": _zstd,
}


def never(rejected: Rejected) -> None:
    """For ``on_reject`` where nothing is to be rejected."""
    raise AssertionError(rejected)


def read(path: Path, **options: Any) -> tuple[list[FileDocument], list[Rejected]]:
    """All that is read from a file, and all that is rejected."""
    rejected: list[Rejected] = []
    return list(read_documents([path], on_reject=rejected.append, **options)), rejected


def read_bytes(folder: Path, name: str, content: bytes, **options: Any) -> tuple[list[FileDocument], list[Rejected]]:
    """Write a file with this content and read it."""
    path = folder / name
    path.write_bytes(content)
    return read(path, **options)
