"""What a gate answers about a document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from es_simhash._core.json_paths import Json
from es_simhash.scheme.rerank import Match

# ``new``: nothing like it is known. ``equal``: its very text is. ``out of scope``: it has no value in a field of the
# scope, so it is compared with nothing. ``no text``: none of the text fields has one, so nothing is known of it.
# ``rejected``: it cannot be read, or the engine refused it.
Kind: TypeAlias = Literal["new", "near-duplicate", "equal", "out of scope", "no text", "rejected"]


@dataclass(frozen=True)
class Verdict:
    """The answer about a document with this ``id``, which the gate made if the document had none.

    ``accepted`` is the gate's yes, by which it remembers the document. ``written_to`` is the index that the document
    was written to, if it was. ``duplicates`` are those that it is like, nearest first; unless they are ``complete``
    there are more. ``missing`` are the fields of the scope without a value, ``tags`` what the mode ``tag`` adds to the
    document, under the prefix. A document that is rejected, or has no text, has a ``reason``.
    """

    id: str | None
    kind: Kind
    accepted: bool = False
    written_to: str | None = None
    duplicates: tuple[Match, ...] = ()
    complete: bool = True
    missing: tuple[str, ...] = ()
    tags: Mapping[str, Any] | None = None
    reason: str | None = None

    def as_json(self, index: str) -> Json:
        """Return the verdict as JSON, without what it does not have; ``index`` is that of the gate."""
        form: Json = {"id": self.id, "verdict": self.kind, "accepted": self.accepted}
        if self.written_to is not None:
            form["written_to"] = self.written_to
        if self.duplicates:
            form["duplicates"] = [_match_as_json(match, index) for match in self.duplicates]
        if not self.complete:
            form["complete"] = False
        if self.missing:
            form["missing"] = list(self.missing)
        if self.tags:
            form["tags"] = dict(self.tags)
        if self.reason is not None:
            form["reason"] = self.reason
        return form


def _match_as_json(match: Match, index: str) -> Json:
    # One that was accepted, and that the index does not show yet, has no index.
    form: Json = {"index": match.index or index, "id": match.id, "clause": match.clause}
    if match.similarity is not None:
        form["similarity"] = round(match.similarity, 4)
    if match.distance is not None:
        form["distance"] = match.distance
    if match.standard_error is not None:
        form["standard_error"] = round(match.standard_error, 4)
    return form
