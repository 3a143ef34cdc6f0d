"""The formats of files, and the one that a file's name shows."""

from __future__ import annotations

from pathlib import PurePath

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


def check_format(format: str) -> str:
    """Return the format if it exists."""
    if format not in FORMATS:
        raise InputError(f"There is no format {format!r}. Choose one of {', '.join(FORMATS)}.")
    return format
