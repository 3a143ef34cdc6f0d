"""The formats of files, and the one that a file's name shows."""

from __future__ import annotations

import os
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, getincrementaldecoder
from pathlib import PurePath

from es_simhash.documents.files.compression import open_stream
from es_simhash.errors import InputError

FORMATS = ("jsonl", "json", "csv", "tsv", "parquet", "text")

_BY_SUFFIX = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
}
_HEAD = 1 << 16
_COMPRESSED = {".gz", ".bz2", ".xz", ".zst"}


def format_by_name(path: str) -> str | None:
    """Return the format that a file name stands for, ignoring the suffix of a compression."""
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return _BY_SUFFIX.get(suffixes[-1]) if suffixes else None


def compression_by_name(path: str) -> str | None:
    """Return the suffix of the compression that a file name promises."""
    suffix = PurePath(path).suffix.lower()
    return suffix if suffix in _COMPRESSED else None


def format_of(path: str) -> str:
    """Return the format of a file by its name; refuse an unknown one."""
    format = format_by_name(path)
    if format is None:
        known = ", ".join(_BY_SUFFIX)
        raise InputError(
            f"The name of the file {path!r} does not show its format (known are {known}, also compressed). "
            f"Name the format: {', '.join(FORMATS)}."
        )
    return format


def format_by_content(path: str) -> str | None:
    """Return the format of a file, by its name or else its first line; None for a folder, or if neither shows it."""
    if not os.path.isfile(path):
        return None
    if known := format_by_name(path):
        return known
    with open_stream(path, lambda _: None) as stream:
        head = stream.peek(_HEAD)[:_HEAD].removeprefix(BOM_UTF8).lstrip()
    for start, format in ((b"PAR1", "parquet"), (b"[", "json"), (b"{", "jsonl")):
        if head.startswith(start):
            return format
    line = head.partition(b"\n")[0]
    return "tsv" if b"\t" in line else "csv" if b"," in line or b";" in line or b"|" in line else None


def encoding_by_content(path: str) -> str:
    """Return the text encoding of a file by its beginning: UTF-8 unless another one is far likelier."""
    if not os.path.isfile(path):
        return "utf-8"
    with open_stream(path, lambda _: None) as stream:
        head = stream.peek(_HEAD)[:_HEAD]
    if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "utf-16"
    return max(_ENCODINGS, key=lambda encoding: _likelihood(head, encoding))


# In the order of trust: what is valid UTF-8 is hardly ever anything else.
_ENCODINGS = ("utf-8", "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr", "cp1252")
_MOST_FREQUENT = frozenset(
    "的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年就那要下以生会自着去之过家学对可"
    "這來國個說們為時會過學對後還麼"
    "のにはをたがでてとしれさいるあもなこらすりっか、。"
    "이다는을의에가고하지도로은한를사기서어"
    "àáâãäåçèéêëíîïñóôõöøúûüßÄÖÜÉ’“”–"
)  # fmt: skip


def _likelihood(head: bytes, encoding: str) -> float:
    """Return the share of the letters outside ASCII that are frequent in what people write; 1 for valid UTF-8."""
    try:
        # The last character may be cut.
        text = getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return -1.0
    if encoding == "utf-8":
        return 1.0
    others = [character for character in text if character > "\x7f"]
    return sum(character in _MOST_FREQUENT for character in others) / (len(others) or 1)


def check_format(format: str) -> str:
    """Return the format if it exists."""
    if format not in FORMATS:
        raise InputError(f"Unknown format {format!r}. Choose one of {', '.join(FORMATS)}.")
    return format
