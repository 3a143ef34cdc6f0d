"""Fingerprints: that of one text as a value, those of many as columns of arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core import arrays
from es_simhash._core.arrays import Codes
from es_simhash.sketches.minhash.common import Signatures

Status: TypeAlias = Literal["ok", "short", "empty"]
STATUSES: tuple[Status, ...] = ("ok", "short", "empty")


@dataclass(frozen=True)
class Fingerprint:
    """Return the fingerprint of one text.

    ``status`` is ``ok``; or ``short`` if the text has too few features for anything but an exact comparison; or
    ``empty`` if it has none, and so no fingerprint. ``minhash`` holds the values of the signature, four bytes each,
    little-endian. What the scheme does not compute is ``None``.

    >>> fingerprint = scheme.fingerprint(text)
    >>> fingerprint.status, fingerprint.simhash == scheme.fingerprint(text.upper()).simhash
    ('ok', True)
    """

    status: Status
    simhash: int | None
    minhash: bytes | None

    @classmethod
    def of(cls, status: Status, simhash: int | None, minhash: bytes | None) -> Fingerprint:
        """Return the fingerprint with these parts, which mean nothing for an empty text.

        >>> Fingerprint.of("empty", 7, None).simhash is None
        True
        """
        return cls(status, None, None) if status == "empty" else cls(status, simhash, minhash)

    def __str__(self) -> str:
        """Write the fingerprint in one short line."""
        parts: list[str] = [self.status]
        if self.simhash is not None:
            parts.append(f"simhash={self.simhash:x}")
        if self.minhash is not None:
            parts.append(f"minhash={self.minhash[:8].hex()}… ({len(self.minhash) // 4} values)")
        return f"Fingerprint({', '.join(parts)})"

    @property
    def signature(self) -> npt.NDArray[np.uint32]:
        """The values of the MinHash signature; none without a signature."""
        return np.frombuffer(self.minhash or b"", dtype="<u4").astype(np.uint32, copy=False)


@dataclass(frozen=True, eq=False)
class Fingerprints:
    """The fingerprints of many texts, a row each; those of empty texts mean nothing.

    >>> [batch.statuses.tolist() for batch in scheme.fingerprint_batches([text, ""])]
    [[0, 2]]
    """

    statuses: npt.NDArray[np.uint8]
    simhashes: Codes | None
    signatures: Signatures | None

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.statuses)

    def __iter__(self) -> Iterator[Fingerprint]:
        """Yield each text's fingerprint."""
        simhashes: list[int] | list[None] = [None] * len(self)
        signatures: list[bytes] | list[None] = [None] * len(self)
        if self.simhashes is not None:
            simhashes = arrays.to_ints(self.simhashes)
        if self.signatures is not None:
            signatures = [row.tobytes() for row in self.signatures.astype("<u4", copy=False)]
        for number, simhash, signature in zip(self.statuses.tolist(), simhashes, signatures, strict=True):
            yield Fingerprint.of(STATUSES[number], simhash, signature)
