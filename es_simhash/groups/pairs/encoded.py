"""Texts in UTF-8, one after the other: as they are stored, and hashed to find equal ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple, cast

import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash._core.bit_codes import Codes
from es_simhash._core.native import by_kernels

_CONTENT_BYTES = 16


class Encoded(NamedTuple):
    """Texts one after the other, and where each ends."""

    data: bytes
    ends: Integers

    def contents(self) -> Codes:
        """Return the first 128 bits of the SHA-256 of each text, as two words."""
        found = by_kernels(lambda kernels: cast("Codes", kernels.contents(self.data, self.ends)))
        if found is not None:
            return found
        digests = b"".join(sha256(text).digest()[:_CONTENT_BYTES] for text in self._each())
        return np.frombuffer(digests, dtype="<u8").reshape(-1, 2)

    def _each(self) -> Iterator[memoryview]:
        start = 0
        for end in self.ends.tolist():
            yield memoryview(self.data)[start:end]
            start = end


def encoded(texts: Sequence[str]) -> Encoded:
    """Encode texts."""
    made = by_kernels(lambda kernels: Encoded(*kernels.utf8_of(list(texts))))
    if made is not None:
        return made
    # Half of a surrogate pair may be in an id; texts that have one are refused when they are fingerprinted.
    each = [text.encode("utf-8", "surrogatepass") for text in texts]
    return Encoded(b"".join(each), np.cumsum([len(data) for data in each], dtype=np.int64))
