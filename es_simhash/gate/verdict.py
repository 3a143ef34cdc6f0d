"""What a gate answers about a document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from es_simhash.scheme.rerank import Match

# ``new``: nothing like it is known. ``equal``: its very text is. ``out of scope``: it has no value in a field of the
# scope, so it is compared with nothing. ``no text``: none of the text fields has one, so nothing is known of it.
# ``rejected``: it cannot be read, or the engine refused it. ``unknown``: the engine failed, so nobody knows.
Kind: TypeAlias = Literal["new", "near-duplicate", "equal", "out of scope", "no text", "rejected", "unknown"]


@dataclass(frozen=True)
class Verdict:
    """The answer about a document with this ``id``, which the gate made if the document had none.

    ``accepted`` is the gate's yes, by which it remembers the document. ``written_to`` is the index that the document
    was written to, if it was. ``duplicates`` are those that it is like, nearest first; unless they are ``complete``
    there are more. ``missing`` are the fields of the scope without a value, ``tags`` what the mode ``tag`` adds to the
    document, under the prefix. A document that is rejected, or has no text, has a ``reason``.
    """

    JSON = ("id", "verdict", "accepted", "written_to", "duplicates", "complete", "missing", "tags", "reason")

    id: str | None
    kind: Kind
    accepted: bool = False
    written_to: str | None = None
    duplicates: tuple[Match, ...] = ()
    complete: bool = True
    missing: tuple[str, ...] = ()
    tags: Mapping[str, Any] | None = None
    reason: str | None = None

    @property
    def verdict(self) -> Kind:
        """What it is, as answers over a wire call it."""
        return self.kind
