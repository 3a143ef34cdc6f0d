"""Tables, one document a row: CSV and TSV with a header, and Parquet."""

from __future__ import annotations

import csv
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

from es_simhash._core.arrow import one_line, rows_at_once
from es_simhash._core.json_codec import Json
from es_simhash.documents.files.data_file import DataFile, Numbered, OnBytes, RecordError, Stream, decoded, read_lines
from es_simhash.documents.frame import convert_row, converts_of, raw_rows, without_nanoseconds
from es_simhash.errors import DocumentError, InputError, MissingExtraError

_SEPARATORS = (",", ";", "\t", "|")
_FIRST = "column 1"
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_REMEDY = "Put a cell with quotes or line ends in quotes, and double the quotes in it."


def read_table(file: DataFile, stream: Stream) -> Iterator[Numbered]:
    """Yield the rows of a table, each with the line that it begins on."""
    lines = read_lines(file, stream)
    head = list(islice(lines, 1))
    delimiter = "\t" if file.format == "tsv" else _separator(head[0][1] if head else b"")
    rows = _csv_rows(file, chain(head, lines), delimiter)
    line, names = _header(rows)
    if names and not names[0]:
        names = [_FIRST, *names[1:]]  # what pandas writes: the numbers of its rows, without a name
    problem = _problem_of_header(names, delimiter)
    if problem is not None:
        file.reject(line, f"{problem} Correct the header; the file is not read.", delimiter.join(names))
        return
    file.options.columns.update(dict.fromkeys(names))
    for line, row in rows:
        if not row:
            continue
        if len(row) == len(names):
            yield line, {name: cell for name, cell in zip(names, row, strict=True) if cell}
        else:
            reason = f"The row has {len(row)} cells, but the header {len(names)}. Correct it."
            file.reject(line, reason, delimiter.join(row))


def _separator(header: bytes) -> str:
    outside = _QUOTED.sub("", header.decode("utf-8", errors="replace"))
    return max(_SEPARATORS, key=outside.count)


def _header(rows: Iterator[tuple[int, list[str] | None]]) -> tuple[int, list[str]]:
    """Return the first row that is not blank; empty if it cannot be read, since the next one is not a header."""
    for expected, (line, row) in enumerate(rows, 1):
        if row is None or line != expected:
            break
        if row:
            return line, row
    return 1, []


def _problem_of_header(names: Sequence[str], delimiter: str) -> str | None:
    if not names:
        return "The header cannot be read."
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        return f"Several columns have the name {twice[0]!r}."
    if "" in names:
        return f"Column {names.index('') + 1} has no name."
    if len(names) == 1 and (found := ({*_SEPARATORS} - {delimiter}) & {*names[0]}):
        return f"The table seems to be separated by {min(found)!r}, not by {delimiter!r}."
    return None


def _csv_rows(
    file: DataFile, lines: Iterator[tuple[int, bytes]], delimiter: str
) -> Iterator[tuple[int, list[str] | None]]:
    """Yield the rows: empty for a blank line, and None for one that was rejected.

    Broken quotes are an error, as nothing shows where the next row begins.
    """
    options, longest = file.options, file.options.max_line
    # The limit is of the process. It is only ever raised: the length of a whole row is bounded here.
    csv.field_size_limit(max(csv.field_size_limit(), longest))
    # Of the current row: its first line, how long it is so far, and the problem, if any.
    first, length, excerpt, problem = 0, 0, b"", ""

    def texts() -> Iterator[str]:
        nonlocal first, length, excerpt, problem
        before = 0
        for number, line in lines:
            length += len(line)
            if not first:
                first, excerpt = number, line
            elif number != before + 1:
                raise csv.Error("a line inside its quotes is too long")
            elif length > longest:
                raise csv.Error(f"a quote is still open after {longest:,} bytes")
            before = number
            try:
                text = decoded(line, options)
            except RecordError as bad:
                # The quotes are counted all the same, so that the row ends where it should.
                problem = problem or str(bad)
                text = line.decode(options.line_encoding, errors="replace").replace("\0", "")
            yield text
        if first:
            raise csv.Error("a quote is still open at the end of the file")

    reader = csv.reader(texts(), delimiter=delimiter, strict=True)
    while True:
        first, length, problem = 0, 0, ""
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise file.broken(first, f"The row that begins there is broken ({error}). {_REMEDY}") from None
        if problem:
            file.reject(first, problem, excerpt)
        yield first, None if problem else row


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
        for row, values in _parquet_rows(file, opened, on_bytes):
            try:
                record = convert_row(values, converts)
            except DocumentError as bad:
                file.reject(row, f"The row {bad.problem}", values)
            else:
                yield row, record


def _parquet_rows(file: DataFile, opened: Any, on_bytes: OnBytes) -> Iterator[tuple[int, Json]]:
    size, count, reported = os.path.getsize(file.path), opened.metadata.num_rows, 0

    def reach(row: int) -> None:
        """Report the bytes of the file in proportion to the rows read."""
        nonlocal reported
        done = size * row // count if count else size
        on_bytes(done - reported)
        reported = done

    first = 1
    for group in range(opened.num_row_groups):
        for row, batch in _parquet_batches(file, opened, group, first):
            yield from _rows_of_batch(file, batch, row)
            reach(row + batch.num_rows - 1)
        first += opened.metadata.row_group(group).num_rows
    reach(count)


def _parquet_batches(file: DataFile, opened: Any, group: int, first: int) -> Iterator[tuple[int, Any]]:
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
