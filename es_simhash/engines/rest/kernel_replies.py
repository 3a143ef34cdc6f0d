"""Replies to searches, read by the compiled kernels behind a client's own transport.

A copy of the transport shares all that it has with the original (nodes, logins, retries …) but the reader of replies.
The kernels read only where the client reads JSON by its standard class. What they refuse, such as errors, is read by
the client.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import ModuleType
from typing import Any

from es_simhash._core.json_paths import Json
from es_simhash._core.native import native
from es_simhash.engines.rest.requests import Request

# Where the length of a reply in bytes is kept, in the reply itself.
LENGTH = "_length"


def with_kernel_replies(
    serializers: Mapping[str, Any], standard: Collection[type], request: Request
) -> dict[str, Any] | None:
    """Return a client's serializers, but kernels read for the ``standard`` ones; None if nothing would change."""
    kernels = native()
    if kernels is None:
        return None
    read = _reader(kernels, request)
    if read is None:
        return None
    replaced = {
        name: _KernelReplies(each, read, kernels.Refused)
        for name, each in serializers.items()
        if type(each) in standard
    }
    return {**serializers, **replaced} if replaced else None


def is_for_kernels(request: Request) -> bool:
    """Return whether the kernels may read the reply to a request."""
    return request.lazy or request.texts is not None


def _reader(kernels: ModuleType, request: Request) -> Callable[[bytes], Json] | None:
    """Return what reads the reply to a request; None if the client does."""
    texts = request.texts
    if texts is not None:
        return lambda json: {**kernels.search_reply(json, texts.fields, texts.prefix), LENGTH: len(json)}
    if request.lazy:
        by_kernels: Callable[[bytes], Json] = kernels.search_hits
        return by_kernels
    return None


class _KernelReplies:
    """A client's serializer, but usual replies are read by the kernels."""

    def __init__(self, serializer: Any, read: Callable[[bytes], Json], refused: type[Exception]) -> None:
        self.mimetype, self.dumps = serializer.mimetype, serializer.dumps
        self._by_client = serializer.loads
        self._read = read
        self._refused = refused

    def loads(self, data: bytes | str) -> Any:
        """Return the reply as an object."""
        try:
            return self._read(data.encode() if isinstance(data, str) else data)
        except (self._refused, UnicodeEncodeError):
            return self._by_client(data)
