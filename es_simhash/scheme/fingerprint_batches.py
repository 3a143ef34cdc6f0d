"""Fingerprints of any number of texts in batches, and as a table of Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from es_simhash._core.rows import ArrowTable
from es_simhash.scheme.fingerprint import STATUSES, Fingerprints
from es_simhash.scheme.settings import Settings

_EMPTY = STATUSES.index("empty")
_WORD = 64


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
    has_none = batch.statuses == _EMPTY
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
