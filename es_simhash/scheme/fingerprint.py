"""Fingerprints: that of one text as a value, those of many as columns of arrays, and as a table of Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core import arrays
from es_simhash._core.arrays import Codes
from es_simhash._core.rows import ArrowTable
from es_simhash.sketches.minhash.common import Signatures

if TYPE_CHECKING:
    from es_simhash.scheme.settings import Settings

Status: TypeAlias = Literal["ok", "short", "empty"]
STATUSES: tuple[Status, ...] = ("ok", "short", "empty")
EMPTY = STATUSES.index("empty")
_WORD = 64


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


class FingerprintBatches(ArrowTable, Iterator[Fingerprints]):
    """Fingerprints in batches, which are made as they are taken, and taken once.

    As a table of Arrow they have a row for each text: its ``status``; the ``simhash``, a number or, of more than 64
    bits, 16 bytes; and the values of the signature as ``minhash``. What an empty text has not is null.
    """

    def __init__(self, batches: Iterator[Fingerprints], settings: Settings) -> None:
        self._batches = batches
        self._settings = settings

    def __iter__(self) -> FingerprintBatches:
        """Return the batches that are left."""
        return self

    def __next__(self) -> Fingerprints:
        """Return the next batch."""
        return next(self._batches)

    def _arrow_schema(self, pyarrow: Any) -> Any:
        columns = [("status", pyarrow.string())]
        if self._settings.simhash:
            is_wide = self._settings.simhash.bits > _WORD
            columns.append(("simhash", pyarrow.binary(2 * _WORD // 8) if is_wide else pyarrow.uint64()))
        if self._settings.minhash:
            columns.append(("minhash", pyarrow.list_(pyarrow.uint32(), self._settings.minhash.size)))
        return pyarrow.schema(columns)

    def _arrow_batches(self, pyarrow: Any) -> Iterator[Any]:
        schema = self._arrow_schema(pyarrow)
        for batch in self:
            columns = list(_columns(pyarrow, batch))
            yield pyarrow.record_batch(columns, schema=schema)


def _columns(pyarrow: Any, batch: Fingerprints) -> Iterator[Any]:
    """Yield the columns of a batch; the arrays of numbers are not copied."""
    has_none = batch.statuses == EMPTY
    names = pyarrow.array(STATUSES)
    yield pyarrow.DictionaryArray.from_arrays(batch.statuses.astype("int8"), names).cast(pyarrow.string())
    if (codes := batch.simhashes) is not None:
        if codes.ndim == 1:
            yield pyarrow.array(codes, mask=has_none)
        else:
            wide = [row.tobytes() for row in codes.astype(">u8")]
            yield pyarrow.array(wide, pyarrow.binary(2 * _WORD // 8), mask=has_none)
    if (signatures := batch.signatures) is not None:
        values = pyarrow.array(signatures.astype("uint32", copy=False).reshape(-1))
        yield pyarrow.FixedSizeListArray.from_arrays(values, signatures.shape[1], mask=pyarrow.array(has_none))
