"""One JSON array of documents, read element by element, so that its length does not matter."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from es_simhash.documents.files.compression import Stream, breaks_off, reading_errors
from es_simhash.documents.files.data_file import DataFile, Numbered, RecordError
from es_simhash.documents.files.encodings import BYTE_ORDER_MARK, new_decoder
from es_simhash.documents.files.json_values import parse_object
from es_simhash.documents.files.jsonl import read_jsonl

_BLOCK = 1 << 16
_SPACE = re.compile(r"[ \t\r\n\ufeff]*")
# An error this far before the end of the text does not go away with more text: no literal and no escape is longer.
_LITERAL = 16
# This decoder only finds where a value ends, so the numbers themselves do not matter.
_ANY = json.JSONDecoder(strict=False, parse_int=len, parse_float=len)
_REMEDY = "Correct it; the rest of the file is not read."


def read_json(file: DataFile, stream: Stream) -> Iterator[Numbered]:
    """Read the records of one array, or else of JSON lines."""
    is_array = stream.peek(1).removeprefix(BYTE_ORDER_MARK).lstrip()[:1] == b"["
    return read_array(file, stream) if is_array else read_jsonl(file, stream)


def read_array(file: DataFile, stream: Stream) -> Iterator[Numbered]:
    """Yield the elements of an array, each with the line that it begins on.

    Where the array is broken, reading ends, as nothing shows where the next element begins.
    """
    window = _Window(stream, file.options.line_encoding, file.options.max_line)
    elements = _elements(window)
    while True:
        try:
            line, text = next(elements)
        except StopIteration:
            return
        except _BrokenArrayError as broken:
            file.reject(window.line, str(broken), window.text[window.at : window.at + 1000])
            return
        try:
            record = parse_object(_valid(_short_enough(text, file.options.max_line), file.options.encoding))
        except RecordError as bad:
            file.reject(line, str(bad), text[:1000])
        else:
            yield line, record


class _BrokenArrayError(Exception):
    """The array cannot be read beyond the place of the window."""


class _Window:
    """The part of a text being parsed: from ``at`` on, which is on line ``line``."""

    def __init__(self, stream: Stream, encoding: str, longest: int) -> None:
        self.text = ""
        self.at = 0
        self.line = 1
        self._ended = False
        self._damage: str | None = None
        self._stream = stream
        self._longest = longest
        self._decoder = new_decoder(encoding)

    def advance(self, to: int) -> None:
        self.line += self.text.count("\n", self.at, to)
        self.at = to

    def next_character(self) -> str:
        """Move to the next character that is no space, and return it; empty at the end of the text."""
        while True:
            self.advance(_SPACE.match(self.text, self.at).end())  # type: ignore[union-attr]  # it matches anything
            if self.at < len(self.text) or not self._grow():
                return self.text[self.at : self.at + 1]

    def end_of_value(self) -> int:
        """Find the end of the JSON value that begins here."""
        while True:
            try:
                _, end = _ANY.raw_decode(self.text, self.at)
            except json.JSONDecodeError as error:
                may_go_on = error.msg.startswith("Unterminated string") or error.pos + _LITERAL > len(self.text)
                if not (may_go_on and self._grow()):
                    place = error.pos - self.at + 1
                    raise _BrokenArrayError(
                        f"The element that begins here is not JSON ({error.msg} at its character {place}). {_REMEDY}"
                    ) from None
            except RecursionError:
                raise _BrokenArrayError(f"The element that begins here is nested too deeply. {_REMEDY}") from None
            else:
                # A number at the end of the text might go on.
                if end < len(self.text) or not self._grow():
                    return end

    def _grow(self) -> bool:
        """Read as much again as is left, so that a long element is parsed few times; return False at the end."""
        if self._damage is not None:
            raise _BrokenArrayError(self._damage)
        if self._ended:
            return False
        left = len(self.text) - self.at
        if left > self._longest:
            raise _BrokenArrayError(
                f"The element that begins here has more than {self._longest:,} characters. {_REMEDY}"
            )
        parts = [self.text[self.at :]]
        wanted = max(left, _BLOCK)
        try:
            while wanted > 0 and not self._ended:
                block = self._stream.read1(_BLOCK)
                self._ended = not block
                parts.append(self._decoder.decode(block, self._ended))
                wanted -= len(block)
        except reading_errors() as error:
            # What comes before is read first.
            self._damage = breaks_off(error)
        self.text = "".join(parts)
        self.at = 0
        return True


def _elements(window: _Window) -> Iterator[tuple[int, str]]:
    """Yield the text of each element, with its line."""
    window.next_character()
    window.advance(window.at + 1)
    more = window.next_character() != "]"
    while more:
        end = window.end_of_value()
        yield window.line, window.text[window.at : end]
        window.advance(end)
        separator = window.next_character()
        if separator not in {",", "]"}:
            found = repr(separator) if separator else "the end of the file"
            raise _BrokenArrayError(f"A comma or the end of the array should be here, but it is {found}. {_REMEDY}")
        more = separator == ","
        if more:
            window.advance(window.at + 1)
            window.next_character()
    window.advance(window.at + 1)
    if window.next_character():
        raise _BrokenArrayError(f"There is more after the end of the array. {_REMEDY}")


def _short_enough(text: str, longest: int) -> str:
    """Return the text if it is no longer than a line may be; a block that is read at once may hold a longer one."""
    if len(text) > longest:
        raise RecordError(f"The element has more than {longest:,} characters. Split it, or allow longer lines.")
    return text


def _valid(text: str, encoding: str) -> str:
    """Return the text if no invalid bytes were in it (see `es_simhash.documents.files.encodings`)."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RecordError(f"This is not valid {encoding}. Name its encoding.") from None
    return text
