"""Records of files as documents."""

from __future__ import annotations

from collections.abc import Sequence

from es_simhash._core.json_codec import json_line
from es_simhash._core.json_paths import Json
from es_simhash.documents.rejected import Rejected
from es_simhash.documents.sources import text_of


class FileDocument:
    """A document with its id, and the file and the line (of a Parquet file: the row) that it begins on.

    ``routing`` selects its shard, if it was exported with one. Its ``key`` differs from that of all others that are
    read together: the number of the path, the line, with a second number if others begin there, and the id.
    """

    __slots__ = ("document", "file", "id", "key", "line", "routing")

    def __init__(
        self, id: str, document: Json, file: str, line: int, routing: str | None = None, place: str = "0:0"
    ) -> None:
        self.id = id
        self.document = document
        self.file = file
        self.line = line
        self.routing = routing
        self.key = f"{place}:{id}"

    def text_of(self, fields: Sequence[str]) -> str:
        """Return the text of the fields; without fields, of all strings at the top of the document but for its id."""
        document = self.document
        return text_of(
            document,
            fields or [name for name, value in document.items() if isinstance(value, str) and value != self.id],
        )

    def written(self) -> str:
        """Return a line of JSON with the routing, and the ``_id`` where the document does not hold its id itself."""
        document = self.document
        own = document if self.id in map(str, document.values()) else {"_id": self.id, **document}
        return json_line(own if self.routing is None else {"_routing": self.routing, **own})

    def rejected(self, reason: str, *, may_pass: bool = False) -> Rejected:
        """Reject the document."""
        return Rejected(file=self.file, line=self.line, reason=reason, id=self.id, may_pass=may_pass)


def without_names(document: Json) -> Json:
    """Remove what names a document: engines refuse documents that hold it as fields."""
    document.pop("_id", None)
    document.pop("_routing", None)
    return document
