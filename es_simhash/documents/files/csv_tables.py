"""CSV and TSV with a header: one document a row. All values are strings, and an empty cell is a missing value.

The cells of CSV are separated by what the header has most of outside its quotes: commas, semicolons, tabs or bars.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from es_simhash.documents.files.compression import Stream
from es_simhash.documents.files.data_file import DataFile, Numbered, RecordError, decoded, read_lines

_SEPARATORS = (",", ";", "\t", "|")
_FIRST = "column 1"
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_REMEDY = "Put a cell with quotes or line ends in quotes, and double the quotes in it."


def read_table(file: DataFile, stream: Stream) -> Iterator[Numbered]:
    """Yield the rows of a table, each with the line that it begins on."""
    lines = read_lines(file, stream)
    head = list(islice(lines, 1))
    delimiter = "\t" if file.format == "tsv" else _separator(head[0][1] if head else b"")
    rows = _rows(file, chain(head, lines), delimiter)
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


def _rows(file: DataFile, lines: Iterator[tuple[int, bytes]], delimiter: str) -> Iterator[tuple[int, list[str] | None]]:
    """Yield the rows: empty for a blank line, and None for one that was rejected.

    Broken quotes are an error, as nothing shows where the next row begins.
    """
    # The limit is of the process. It is only ever raised: the length of a whole row is bounded here.
    csv.field_size_limit(max(csv.field_size_limit(), file.options.max_line))
    feed = _Feed(file, lines)
    reader = csv.reader(feed, delimiter=delimiter, strict=True)
    while True:
        feed.begin_row()
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            reason = f"The row that begins there is broken ({error}). {_REMEDY}"
            raise file.broken(feed.first_line, reason) from None
        if feed.problem is not None:
            file.reject(feed.first_line, feed.problem, feed.excerpt)
        yield feed.first_line, row if feed.problem is None else None


class _Feed:
    """Lines of text for a csv reader; of the current row, the first line and the problem, if any."""

    def __init__(self, file: DataFile, lines: Iterator[tuple[int, bytes]]) -> None:
        self._options = file.options
        self._lines = lines
        self._number = 0
        self.begin_row()

    def begin_row(self) -> None:
        self._length = self.first_line = 0
        self.excerpt = b""
        self.problem: str | None = None

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> str:
        number, line = self._next_line()
        self._number = number
        self._length += len(line)
        if not self.first_line:
            self.first_line, self.excerpt = number, line
        try:
            return decoded(line, self._options)
        except RecordError as bad:
            # The quotes are counted all the same, so that the row ends where it should.
            self.problem = self.problem or str(bad)
            return line.decode(self._options.line_encoding, errors="replace").replace("\0", "")

    def _next_line(self) -> tuple[int, bytes]:
        """Return the next line; within a row, it must be there, and not make the row too long."""
        if not self.first_line:
            return next(self._lines)
        number, line = next(self._lines, (0, b""))
        if not number:
            raise csv.Error("a quote is still open at the end of the file")
        if number != self._number + 1:
            raise csv.Error("a line inside its quotes is too long")
        if self._length + len(line) > self._options.max_line:
            raise csv.Error(f"a quote is still open after {self._options.max_line:,} bytes")
        return number, line
