"""One JSON array of documents, read element by element, so that its length does not matter."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from es_simhash._core.arrow import one_line
from es_simhash.documents.files.compression import Stream, reading_errors
from es_simhash.documents.files.data_file import DataFile, Numbered, RecordError
from es_simhash.documents.files.encodings import BYTE_ORDER_MARK, new_decoder
from es_simhash.documents.files.json_values import parse_object
from es_simhash.documents.files.jsonl import read_jsonl
from es_simhash.errors import InputError

_BLOCK = 1 << 16
_SPACE = re.compile(r"[ \t\r\n\ufeff]*")
# An error this far before the end of the text does not go away with more text: no literal and no escape is longer.
_LITERAL = 16
# This decoder only finds where a value ends, so the numbers themselves do not matter.
_ANY = json.JSONDecoder(strict=False, parse_int=len, parse_float=len)


def read_json(file: DataFile, stream: Stream) -> Iterator[Numbered]:
    """Read the records of one array, or else of JSON lines."""
    is_array = stream.peek(1).removeprefix(BYTE_ORDER_MARK).lstrip()[:1] == b"["
    return read_array(file, stream) if is_array else read_jsonl(file, stream)


def read_array(file: DataFile, stream: Stream) -> Iterator[Numbered]:
    """Yield the elements of an array, each with the line that it begins on.

    A broken array is an error, as nothing shows where the next element begins.
    """
    for line, text in _elements(_Window(file, stream)):
        try:
            record = parse_object(_valid(text, file.options.encoding))
        except RecordError as bad:
            file.reject(line, str(bad), text[:1000])
        else:
            yield line, record


class _Window:
    """The part of a text being parsed: from ``at`` on, which is on line ``line``, in an ``element`` counted from 1."""

    def __init__(self, file: DataFile, stream: Stream) -> None:
        self.text = ""
        self.at = 0
        self.line = 1
        self.element = 1
        self._ended = False
        self._damage: str | None = None
        self._file = file
        self._stream = stream
        self._decoder = new_decoder(file.options.line_encoding)

    def broken(self, reason: str) -> InputError:
        return self._file.broken(self.line, reason)

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
                    problem = f"not JSON ({error.msg} at its character {error.pos - self.at + 1})"
                    raise self._bad_element(f"is {problem}. Correct it.") from None
            except RecursionError:
                raise self._bad_element("is nested too deeply. Flatten it.") from None
            else:
                # A number at the end of the text might go on.
                if end < len(self.text) or not self._grow():
                    self._check_length(end - self.at)
                    return end

    def _check_length(self, length: int) -> None:
        longest = self._file.options.max_line
        if length > longest:
            raise self._bad_element(f"has more than {longest:,} characters. Split it, or allow longer lines.")

    def _bad_element(self, problem: str) -> InputError:
        return self.broken(f"Element {self.element:,} of the array, which begins there, {problem}")

    def _grow(self) -> bool:
        """Read as much again as is left, so that a long element is parsed few times; return False at the end."""
        if self._damage is not None:
            raise self.broken(self._damage)
        if self._ended:
            return False
        left = len(self.text) - self.at
        self._check_length(left)
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
            self._damage = f"The file breaks off there ({one_line(error)}). Fetch it again."
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
            raise window.broken(f"After element {window.element:,} of the array comes {found}. Put a comma or ] there.")
        more = separator == ","
        if more:
            window.element += 1
            window.advance(window.at + 1)
            window.next_character()
    window.advance(window.at + 1)
    if window.next_character():
        raise window.broken("There is more after the end of the array. Take it out, or make it a file of its own.")


def _valid(text: str, encoding: str) -> str:
    """Return the text if no invalid bytes were in it (see `es_simhash.documents.files.encodings`)."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RecordError(f"This is not valid {encoding}. Name its encoding.") from None
    return text
