"""What reading yields: documents, and what could not be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

Record: TypeAlias = "dict[str, Any]"
Numbered: TypeAlias = "tuple[int, Record]"

_EXCERPT = 200


class FileDocument(NamedTuple):
    """A document with its id, and the file and the line (of a Parquet file: the row) that it begins on.

    ``routing`` decides which shard it goes to, where it was exported with one.
    """

    id: str
    document: Record
    file: str
    line: int
    routing: str | None = None

    def rejected(self, reason: str) -> RejectedLine:
        """The document as one that cannot be used."""
        return RejectedLine(self.file, self.line, reason, id=self.id)


@dataclass(frozen=True)
class RejectedLine:
    """What could not be read or used, and why. The excerpt is cut, and safe to print on a terminal."""

    file: str
    line: int
    reason: str
    excerpt: str = ""
    id: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "excerpt", printable(self.excerpt[:_EXCERPT])[:_EXCERPT])


OnReject: TypeAlias = Callable[[RejectedLine], object]


class RecordError(Exception):
    """One record cannot be a document; the rest of its file is read all the same."""


def printable(text: str) -> str:
    """The text with all that a terminal would act on (control, format and surrogate characters) as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def decoded_excerpt(raw: bytes, encoding: str) -> str:
    """The beginning of a line that may be invalid."""
    # Four bytes are the longest character; the line may be megabytes long.
    return raw[: 4 * _EXCERPT].decode(encoding, errors="backslashreplace").strip()
