"""JSON lines: one object a line, plain, as exports wrap them, or as the lines of a bulk request."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NoReturn

from es_simhash._core.arrow import one_line
from es_simhash._core.json_codec import Json, loads
from es_simhash.documents.files.data_file import (
    BYTE_ORDER_MARK,
    DataFile,
    Numbered,
    ReadOptions,
    RecordError,
    Stream,
    decoded,
    new_decoder,
    read_lines,
    reading_errors,
)
from es_simhash.errors import InputError

_ACTIONS = {"index", "create", "update", "delete"}
_METADATA = {
    "_index", "_id", "_type", "routing", "_routing", "version", "version_type", "_version", "_version_type", "parent",
    "_parent", "pipeline", "op_type", "require_alias", "require_data_stream", "dynamic_templates", "retry_on_conflict",
    "if_seq_no", "if_primary_term", "list_executed_pipelines", "_source",
}  # fmt: skip


def read_jsonl(file: DataFile, stream: Stream) -> Iterator[Numbered]:
    """Yield the records of a file of JSON lines; skip blank lines."""
    objects = _objects(file, stream)
    first = next(objects, None)
    if first is None:
        return
    objects = chain([first], objects)
    yield from sources_of_bulk(file, objects) if is_action(first[1]) else objects


def _objects(file: DataFile, stream: Stream) -> Iterator[Numbered]:
    options = file.options
    begun = False
    for number, line in read_lines(file, stream):
        raw = line.strip()
        if not raw:
            continue
        try:
            record = read_line(raw, options)
        except RecordError as bad:
            if not begun and raw in {b"{", b"["}:
                file.reject(number, "JSON over several lines begins here. Make it one line a document: jq -c .", raw)
                return
            file.reject(number, str(bad), raw)
        else:
            yield number, record
        begun = True


def read_line(raw: bytes, options: ReadOptions) -> Json:
    """Read a line as an object: what is not UTF-8, or no object, is read strictly, which says what is wrong."""

    def strictly(_: object) -> Json:
        return parse_object(decoded(raw, options))

    record = loads(raw, strictly) if options.line_encoding == "utf-8" else None
    return record if type(record) is dict else strictly(raw)


def is_action(record: Json) -> bool:
    """Return whether an object is the action line of a bulk request."""
    if len(record) != 1 or not _ACTIONS.issuperset(record):
        return False
    [metadata] = record.values()
    return isinstance(metadata, dict) and _METADATA.issuperset(metadata)


def sources_of_bulk(file: DataFile, objects: Iterable[Numbered]) -> Iterator[Numbered]:
    """Yield the documents that a bulk request indexes or creates, with id and routing next to them as in search hits.

    Updates and deletes are rejected, since they make no whole document.
    """
    pending: tuple[int, Json] | None = None
    for number, record in objects:
        if is_action(record):
            _reject_incomplete(file, pending)
            pending = (number, record)
            if "delete" in record:
                file.reject(number, "The action deletes a document. Give only documents to index.", record)
                pending = None
        elif pending is None:
            file.reject(number, "The action of a bulk request is missing before this line. Put it in front.", record)
        else:
            [(action, metadata)] = pending[1].items()
            pending = None
            if action == "update":
                file.reject(number, "The line updates a part of a document. Give whole documents to index.", record)
            else:
                routing = metadata.get("routing", metadata.get("_routing"))
                yield number, {"_id": metadata.get("_id"), "_routing": routing, "_source": record}
    _reject_incomplete(file, pending)


def _reject_incomplete(file: DataFile, action: tuple[int, Json] | None) -> None:
    if action is not None:
        file.reject(action[0], "The document of this action is missing. Put it on the next line.", action[1])


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
        """Move to the next character that is not a space, and return it; empty at the end of the text."""
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
        raise window.broken("The file goes on after the end of the array. Remove the rest, or give it its own file.")


def _valid(text: str, encoding: str) -> str:
    """Return the text if no invalid bytes were in it (see `es_simhash.documents.files.data_file`)."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RecordError(f"This is not valid {encoding}. Name its encoding.") from None
    return text


def parse_object(text: str) -> Json:
    """Parse a text, without space around it, as an object."""
    try:
        value, end = _DECODER.raw_decode(text)
        if "\\" in text:
            # Only an escape can make a surrogate, since the text has none.
            _check_surrogates([value])
    except json.JSONDecodeError as error:
        problem = error.msg.removesuffix(" at")  # as some of Python's reasons end
        raise RecordError(f"This is not JSON ({problem} at character {error.pos + 1}). Correct it.") from None
    except UnicodeEncodeError as error:
        code = ord(error.object[error.start])
        raise RecordError(
            f"This has a lone surrogate (\\u{code:04x}), so it is not Unicode text. Write characters in pairs of them."
        ) from None
    except ValueError:
        # Python bounds the digits of an integer, since reading them takes quadratic time.
        raise RecordError("This has an integer of thousands of digits. Write it as a string.") from None
    except RecursionError:
        raise RecordError("This is nested too deeply. Flatten it.") from None
    if end != len(text):
        raise RecordError(f"The line goes on after the JSON, at character {end + 1}. Give each document its own line.")
    if not isinstance(value, dict):
        raise RecordError("This is JSON but not an object. Write each document as an object: {…}.")
    return value


def _check_surrogates(values: Iterable[Any]) -> None:
    """Encode all strings, which fails for one that has a lone surrogate; testing for ASCII takes no time."""
    for value in values:
        kind = type(value)
        if kind is str:
            if not value.isascii():
                value.encode()
        elif kind is dict:
            _check_surrogates(value)
            _check_surrogates(value.values())
        elif kind is list:
            _check_surrogates(value)


def _finite(digits: str) -> float:
    value = float(digits)
    if value - value == 0.0:  # which an infinite number is not; vectors have thousands of numbers, so this is fast
        return value
    raise RecordError(f"The number {digits[:40]} is too large. Write it as a string.")


def _refuse(constant: str) -> NoReturn:
    raise RecordError(f"This has {constant}, which JSON does not allow. Write null or leave the field out.")


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse)
