"""Records of files: objects, or lines of JSON that become objects only once they are asked for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Protocol, TypeAlias

from es_simhash._core.json_paths import Json
from es_simhash.documents.rejected import Rejected
from es_simhash.documents.sources import text_of


class JsonLine(Protocol):
    """An object on a line, as the compiled kernels read it.

    Its methods raise a `ValueError` where Python's way has to decide, which then finds the same, or says what is wrong.
    """

    def record(self) -> Json:
        """Return the whole object."""

    def document(self) -> Json:
        """Return the document, which may be in ``_source``, without what names it."""

    def names(self, field: str | None) -> tuple[str | None, str | None]:
        """Return the id of the document, which is in the ``field`` if one is named, and the routing beside it."""

    def text(self, fields: Sequence[str], id: str) -> str:
        """Return the text of the fields; without fields, of all strings at the top that are not the id."""

    def written(self, id: str, routing: str | None) -> str:
        """Return the document as a line with its id and its routing."""


Record: TypeAlias = Json | JsonLine


def as_object(record: Record) -> Json:
    """Return the whole object."""
    return record if isinstance(record, dict) else record.record()


class FileDocument:
    """A document with its id, and the file and the line (of a Parquet file: the row) that it begins on.

    ``routing`` selects its shard, if it was exported with one. Its ``key`` differs from that of all others that are
    read together: the number of the path, the line, with a second number if others begin there, and the id.
    """

    __slots__ = ("_record", "file", "id", "key", "line", "routing")

    def __init__(
        self, id: str, record: Record, file: str, line: int, routing: str | None = None, place: str = "0:0"
    ) -> None:
        self.id = id
        self._record = record
        self.file = file
        self.line = line
        self.routing = routing
        self.key = f"{place}:{id}"

    @property
    def document(self) -> Json:
        """The document, which may be altered."""
        if not isinstance(self._record, dict):
            self._record = self._record.document()
        return self._record

    def text_of(self, fields: Sequence[str]) -> str:
        """Return the text of the fields; without fields, of all strings at the top of the document but for its id."""
        if not isinstance(self._record, dict):
            try:
                return self._record.text(fields, self.id)
            except ValueError:
                pass
        document = self.document
        return text_of(
            document,
            fields or [name for name, value in document.items() if isinstance(value, str) and value != self.id],
        )

    def written(self) -> str:
        """Return a line of JSON with the routing, and the ``_id`` where the document does not hold its id itself."""
        if not isinstance(self._record, dict):
            try:
                return self._record.written(self.id, self.routing)
            except ValueError:
                pass
        document = self.document
        own = document if self.id in map(str, document.values()) else {"_id": self.id, **document}
        return json.dumps(own if self.routing is None else {"_routing": self.routing, **own}, ensure_ascii=False)

    def rejected(self, reason: str, *, may_pass: bool = False) -> Rejected:
        """Reject the document."""
        return Rejected(file=self.file, line=self.line, reason=reason, id=self.id, may_pass=may_pass)


def without_names(document: Json) -> Json:
    """Remove what names a document: engines refuse documents that hold it as fields."""
    document.pop("_id", None)
    document.pop("_routing", None)
    return document
