"""The lines of a stream, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator

from es_simhash.documents.files.compression import Stream, breaks_off, reading_errors
from es_simhash.documents.files.data_file import DataFile
from es_simhash.documents.files.encodings import BYTE_ORDER_MARK


def read_lines(file: DataFile, stream: Stream) -> Iterator[tuple[int, bytes]]:
    """Yield the lines with their numbers, from 1, each with its line feed.

    A line of over ``max_line`` bytes is rejected and skipped, and where the stream breaks off, that line is rejected.
    """
    longest = file.options.max_line
    number = 0
    while True:
        try:
            line = stream.readline(longest + 1)
            too_long = len(line) > longest and not line.endswith(b"\n")
            if too_long:
                _skip_line(stream)
        except reading_errors() as error:
            file.reject(number + 1, breaks_off(error))
            return
        if not line:
            return
        number += 1
        if too_long:
            file.reject(number, f"The line has more than {longest:,} bytes. Split it, or allow longer lines.", line)
        else:
            yield number, line if number > 1 else line.removeprefix(BYTE_ORDER_MARK)


def _skip_line(stream: Stream) -> None:
    while (part := stream.readline(1 << 16)) and not part.endswith(b"\n"):
        pass
