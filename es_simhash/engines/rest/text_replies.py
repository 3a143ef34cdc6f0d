"""Replies to searches for texts, read by the compiled kernels behind a client's own transport.

A copy of the transport shares all that it has with the original (nodes, logins, retries …) but the reader of replies.
Hits become `es_simhash.plans.operations.TextHit` only where the client reads JSON by its standard class. What the
kernels refuse, such as errors, is read by the client.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import ModuleType
from typing import Any

from es_simhash._core.native import native
from es_simhash.plans.operations import TextSource

# Where the length of a reply in bytes is kept, in the reply itself.
LENGTH = "_length"


def with_text_replies(
    serializers: Mapping[str, Any], standard: Collection[type], texts: TextSource | None
) -> dict[str, Any] | None:
    """Return a client's serializers, but kernels read for the ``standard`` ones; None if nothing would change."""
    kernels = native()
    if texts is None or kernels is None:
        return None
    replaced = {
        name: _TextReplies(each, kernels, texts) for name, each in serializers.items() if type(each) in standard
    }
    return {**serializers, **replaced} if replaced else None


class _TextReplies:
    """A client's serializer, but hits are read as `TextHit` where they are usual."""

    def __init__(self, serializer: Any, kernels: ModuleType, texts: TextSource) -> None:
        self.mimetype, self.dumps = serializer.mimetype, serializer.dumps
        self._by_client = serializer.loads
        self._kernels = kernels
        self._texts = texts

    def loads(self, data: bytes | str) -> Any:
        """Return the reply as an object."""
        try:
            json = data.encode() if isinstance(data, str) else data
            reply = self._kernels.search_reply(json, self._texts.fields, self._texts.prefix)
            return {**reply, LENGTH: len(json)}
        except (self._kernels.Refused, UnicodeEncodeError):
            return self._by_client(data)
