"""References to documents of an index."""

from __future__ import annotations

from dataclasses import dataclass

from es_simhash._core.json_paths import Json
from es_simhash.documents.rejected import Rejected


@dataclass(slots=True)  # frozen ones take longer to make, and there is one for each document
class DocumentRef:
    """The index, id and routing of a document, and the version that was read."""

    index: str
    id: str
    routing: str | None
    version: dict[str, int]

    @classmethod
    def of(cls, hit: Json) -> DocumentRef:
        """Refer to the document of a hit of a search, or of a reply to a multi-get."""
        return cls(*named_by(hit))

    @property
    def metadata(self) -> Json | None:
        """Metadata for an action that changes the document only in the version that was read."""
        return {**self.version, **self.routing_metadata} or None

    @property
    def routing_metadata(self) -> Json:
        """Metadata with the routing value, if there is one."""
        return {} if self.routing is None else {"routing": self.routing}

    def rejected(self, reason: str, *, may_pass: bool = False) -> Rejected:
        """Reject the document for a reason."""
        return Rejected(index=self.index, id=self.id, reason=f"Document {self.id!r} {reason}", may_pass=may_pass)


def named_by(hit: Json) -> tuple[str, str, str | None, dict[str, int]]:
    """Return the index, id and routing of a hit, and its version."""
    version = {}
    if "_seq_no" in hit:
        version["if_seq_no"] = hit["_seq_no"]
    if "_primary_term" in hit:
        version["if_primary_term"] = hit["_primary_term"]
    return hit["_index"], hit["_id"], hit.get("_routing"), version
