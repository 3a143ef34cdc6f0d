"""What reading yields: documents, and what could not be read."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from es_simhash.documents.rejected import Rejected

Record: TypeAlias = "dict[str, Any]"
Numbered: TypeAlias = "tuple[int, Record]"


class FileDocument(NamedTuple):
    """A document with its id, and the file and the line (of a Parquet file: the row) that it begins on.

    ``routing`` decides which shard it goes to, where it was exported with one.
    """

    id: str
    document: Record
    file: str
    line: int
    routing: str | None = None

    def rejected(self, reason: str) -> Rejected:
        """The document as one that cannot be used."""
        return Rejected(file=self.file, line=self.line, reason=reason, id=self.id)


class RecordError(Exception):
    """One record cannot be a document; the rest of its file is read all the same."""
