"""Parquet: one document a row, read in batches of a few megabytes. The row, from 1, takes the place of the line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from es_simhash._core.arrow import one_line, rows_at_once
from es_simhash._core.json_codec import Json
from es_simhash.documents.arrow.frame import convert_row, converts_of, raw_rows, without_nanoseconds
from es_simhash.documents.files.compression import OnBytes
from es_simhash.documents.files.data_file import DataFile, Numbered
from es_simhash.errors import DocumentError, InputError, MissingExtraError


def parquet_module() -> Any:
    """Return the module that reads Parquet."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("pyarrow, which reads Parquet files,", "parquet") from None
    return pyarrow.parquet


def read_parquet(file: DataFile, on_bytes: OnBytes) -> Iterator[Numbered]:
    """Yield the rows of a Parquet file; reject a damaged row group from the row on where it breaks."""
    try:
        # Without the buffer a whole column of a row group would be in memory at once.
        opened = parquet_module().ParquetFile(file.path, buffer_size=1 << 20, pre_buffer=False)
    except _damage() as error:
        file.reject(1, f"The file is not a Parquet file, or it is damaged ({one_line(error)}). Fetch it again.")
        return
    with opened:
        try:
            converts = converts_of(opened.schema_arrow)
        except InputError as bad:
            file.reject(1, f"{bad} The file is not read.")
            return
        for row, values in _rows(file, opened, on_bytes):
            try:
                record = convert_row(values, converts)
            except DocumentError as bad:
                file.reject(row, f"The row {bad.problem}", values)
            else:
                yield row, record


def _rows(file: DataFile, opened: Any, on_bytes: OnBytes) -> Iterator[tuple[int, Json]]:
    progress = _Progress(file.path, opened.metadata.num_rows, on_bytes)
    first = 1
    for group in range(opened.num_row_groups):
        for row, batch in _batches(file, opened, group, first):
            yield from _rows_of_batch(file, batch, row)
            progress.reach(row + batch.num_rows - 1)
        first += opened.metadata.row_group(group).num_rows
    progress.reach(opened.metadata.num_rows)


def _batches(file: DataFile, opened: Any, group: int, first: int) -> Iterator[tuple[int, Any]]:
    """Yield the batches of a row group, of a few megabytes each, with the first row of each."""
    about = opened.metadata.row_group(group)
    rows = rows_at_once(about.num_rows, about.total_byte_size)
    row = first
    try:
        for batch in opened.iter_batches(rows, row_groups=[group]):
            yield row, without_nanoseconds(batch)
            row += batch.num_rows
    except _damage() as error:
        last = first + about.num_rows - 1
        file.reject(row, f"The rows {row} to {last} are damaged ({one_line(error)}). Fetch the file again.")


def _rows_of_batch(file: DataFile, batch: Any, first: int) -> Iterator[tuple[int, Json]]:
    for row, values in enumerate(raw_rows(batch), first):
        if isinstance(values, str):
            file.reject(row, f"The row {values}")
        else:
            yield row, values


def _damage() -> tuple[type[Exception], ...]:
    import pyarrow

    # The names of columns, too, may be no UTF-8.
    return (pyarrow.ArrowException, OSError, UnicodeDecodeError)


class _Progress:
    """Reports the bytes of a file in proportion to the rows read."""

    def __init__(self, path: str, rows: int, on_bytes: OnBytes) -> None:
        self._size = os.path.getsize(path)
        self._rows = rows
        self._reported = 0
        self._on_bytes = on_bytes

    def reach(self, row: int) -> None:
        done = self._size * row // self._rows if self._rows else self._size
        self._on_bytes(done - self._reported)
        self._reported = done
