"""CSV and TSV with a header: one document a row. All values are strings, and an empty cell is a missing value."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

from es_simhash._core.harmless import UNSEEN, printable
from es_simhash.documents.files.compression import Stream
from es_simhash.documents.files.data_file import DataFile, Numbered, RecordError
from es_simhash.documents.files.encodings import decoded
from es_simhash.documents.files.lines import read_lines

_DELIMITERS = {"csv": ",", "tsv": "\t"}
_SEPARATORS = {";", "\t", "|", ","}
# What spreadsheets would calculate (OWASP, "CSV Injection"), also after the apostrophes that keep them from it, and
# after what they may drop: spaces, and what shows nothing. Signs have full-width and small forms.
_FORMULA = re.compile(rf"(?:'*[\t\r\n]|[\s'{UNSEEN}]*[=+\-@＝＋－＠﹢﹣﹦﹫−]).", re.DOTALL)
_QUOTED = re.compile(r'[",\r\n]')
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def harmless(cell: str) -> str:
    """Put an apostrophe before a cell that a spreadsheet would take for a formula; numbers are none.

    An apostrophe of the cell is kept, so that removing the first one restores each cell.
    """
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell.strip()) else cell


def write_rows(rows: Iterable[Iterable[Any]], out: IO[str]) -> None:
    """Write rows as CSV, for spreadsheets as well; on a terminal without what it would obey."""
    lines = (",".join(map(_written, row)) + "\n" for row in rows)
    out.writelines(map(printable, lines) if out.isatty() else lines)


def _written(value: Any) -> str:
    """Write a value as a cell. The module csv would leave a carriage return, which ends a row, without quotes."""
    cell = "" if value is None else harmless(str(value))
    return '"{}"'.format(cell.replace('"', '""')) if _QUOTED.search(cell) else cell


def read_table(file: DataFile, stream: Stream) -> Iterator[Numbered]:
    """Yield the rows of a table, each with the line that it begins on."""
    delimiter = _DELIMITERS[file.format]
    rows = _rows(file, read_lines(file, stream), delimiter)
    line, names = _header(rows)
    problem = _problem_of_header(names, delimiter)
    if problem is not None:
        file.reject(line, f"{problem} Correct the header; the file is not read.", delimiter.join(names))
        return
    for line, row in rows:
        if not row:
            continue
        if len(row) == len(names):
            yield line, {name: cell for name, cell in zip(names, row, strict=True) if cell}
        else:
            reason = f"The row has {len(row)} cells, but the header {len(names)}. Correct it."
            file.reject(line, reason, delimiter.join(row))


def _header(rows: Iterator[tuple[int, list[str] | None]]) -> tuple[int, list[str]]:
    """Return the first row that is not blank; empty if it cannot be read, since the next one is no header."""
    for expected, (line, row) in enumerate(rows, 1):
        if row is None or line != expected:
            break
        if row:
            return line, row
    return 1, []


def _problem_of_header(names: Sequence[str], delimiter: str) -> str | None:
    if not names:
        return "There is no header that can be read."
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        return f"Several columns have the name {twice[0]!r}."
    if "" in names:
        return f"Column {names.index('') + 1} has no name."
    if len(names) == 1 and (found := (_SEPARATORS - {delimiter}).intersection(names[0])):
        return f"The table seems to be separated by {min(found)!r}, not by {delimiter!r}."
    return None


def _rows(file: DataFile, lines: Iterator[tuple[int, bytes]], delimiter: str) -> Iterator[tuple[int, list[str] | None]]:
    """Yield the rows: empty for a blank line, and None for one that was rejected.

    When quotes are broken, the row is rejected and reading resumes with the line after its first: so a quote that is
    never closed costs one row, not the rest of the file.
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
            reason = f"The quotes of the row are broken ({error}). Close them, and double each quote inside quotes."
            file.reject(feed.first_line, reason, feed.excerpt)
            yield feed.first_line, None
            feed.go_back()
            reader = csv.reader(feed, delimiter=delimiter, strict=True)
            continue
        if feed.problem is not None:
            file.reject(feed.first_line, feed.problem, feed.excerpt)
        yield feed.first_line, row if feed.problem is None else None


class _Feed:
    """Lines of text for a csv reader; those of the current row are kept, to be read again if it is broken.

    They are kept as one array of bytes: a row of millions of short lines would take many times that as objects. The
    reader gets the rest of a row only once its quote is known to be closed, since it takes four bytes a character.
    """

    def __init__(self, file: DataFile, lines: Iterator[tuple[int, bytes]]) -> None:
        self._options = file.options
        self._lines = lines
        self._kept = bytearray()
        self._at = 0
        self._number = self._last = 0  # of the line that was given last, and of the last one that is kept
        self._pending: tuple[int, bytes] | None = None
        self.begin_row()

    def begin_row(self) -> None:
        if self._at == len(self._kept) or self._at > self._options.max_line:
            del self._kept[: self._at]
            self._at = 0
        self._start = self._at
        self.first_line = 0
        self.lines_read = 0
        self.problem: str | None = None

    @property
    def excerpt(self) -> bytes:
        return bytes(self._kept[self._start : self._second])

    def go_back(self) -> None:
        """Read the lines of the row again, except the first."""
        self._at = self._second
        self._number = self.first_line

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> str:
        if self.lines_read == 1:
            self._find_closing_quote()
        elif self._at == len(self._kept):
            self._keep_line()
        end = self._end_of_line(self._at)
        line = bytes(self._kept[self._at : end])
        self._at = end
        self._number = self._number + 1 if end < len(self._kept) else self._last
        self.lines_read += 1
        if self.lines_read == 1:
            self.first_line = self._number
            self._second = self._at
        try:
            return decoded(line, self._options)
        except RecordError as bad:
            # The quotes are counted all the same, so that the row ends where it should.
            self.problem = self.problem or str(bad)
            return line.decode(self._options.line_encoding, errors="replace").replace("\0", "")

    def _find_closing_quote(self) -> None:
        """Keep lines up to the one that closes the open quote: the first with an odd number of quotes."""
        at = self._at
        while True:
            if at == len(self._kept):
                try:
                    self._keep_line()
                except StopIteration:
                    raise csv.Error("a quote is still open at the end of the file") from None
            end = self._end_of_line(at)
            if end - self._start > self._options.max_line:
                raise csv.Error(f"a quote is still open after {self._options.max_line:,} bytes")
            if self._kept.count(b'"', at, end) % 2:
                return
            at = end

    def _keep_line(self) -> None:
        number, line = self._pending or next(self._lines)
        self._pending = None
        if self.lines_read and number != self._last + 1:
            self._pending = number, line
            raise csv.Error("a line inside its quotes is too long")
        self._last = number
        self._kept += line

    def _end_of_line(self, at: int) -> int:
        return self._kept.find(b"\n", at) + 1 or len(self._kept)
