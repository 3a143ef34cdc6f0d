"""Text encodings: those whose line feeds are not one byte, such as UTF-16, become UTF-8 before lines are split.

Invalid bytes become a lone surrogate, which is not valid UTF-8 either: so only their line is rejected.
"""

from __future__ import annotations

import codecs
import io
from typing import Any

from es_simhash.documents.files.compression import Stream
from es_simhash.documents.files.data_file import ReadOptions, RecordError
from es_simhash.errors import InputError

INVALID_TO_SURROGATE = "es_simhash.invalid_to_surrogate"
BYTE_ORDER_MARK = codecs.BOM_UTF8

_BLOCK = 1 << 16


def check_encoding(encoding: str) -> str:
    """Return the name of a text encoding, as Python spells it."""
    try:
        "\n".encode(encoding)
        return codecs.lookup(encoding).name
    except LookupError:
        raise InputError(f"There is no text encoding {encoding!r}. Name one, such as utf-8 or gb18030.") from None


def line_encoding_of(encoding: str) -> str:
    """Return the encoding of lines once they are split: UTF-8 if a line feed is not just the byte 10."""
    return encoding if "\n".encode(encoding) == b"\n" else "utf-8"


def with_line_feeds(stream: Stream, options: ReadOptions) -> Stream:
    """Return the stream in the encoding of its lines."""
    if options.line_encoding == options.encoding:
        return stream
    return io.BufferedReader(_AsUtf8(stream, options.encoding), _BLOCK)


def decoded(raw: bytes, options: ReadOptions) -> str:
    """Decode a line; refuse one that is invalid or has NULs."""
    try:
        text = raw.decode(options.line_encoding)
    except UnicodeDecodeError as error:
        raise RecordError(
            f"This is not valid {options.encoding} ({error.reason} at byte {error.start + 1}). Name its encoding."
        ) from None
    if "\0" in text:
        raise RecordError("This has NUL characters. If its encoding is UTF-16, name it; else remove them.")
    return text


def new_decoder(encoding: str) -> codecs.IncrementalDecoder:
    """Return a decoder that turns invalid bytes into lone surrogates."""
    return codecs.getincrementaldecoder(encoding)(INVALID_TO_SURROGATE)


class _AsUtf8(io.RawIOBase):
    def __init__(self, stream: Stream, encoding: str) -> None:
        super().__init__()
        self._stream = stream
        self._encoding = encoding
        self._decoder = new_decoder(encoding)
        self._ready = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready and not self._ended:
            block = self._stream.read1(_BLOCK)
            self._ended = not block
            try:
                self._ready = self._decoder.decode(block, self._ended).encode("utf-8", "surrogatepass")
            except UnicodeError:  # the decoder's own, since those of invalid bytes become surrogates
                raise RecordError(
                    f"The text has no byte order mark, so that {self._encoding} does not show the order of bytes. "
                    f"Name its encoding {self._encoding}-le or {self._encoding}-be."
                ) from None
        taken = self._ready[: len(buffer)]
        self._ready = self._ready[len(taken) :]
        buffer[: len(taken)] = taken
        return len(taken)


def _invalid_to_surrogate(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "\udfff", error.end


codecs.register_error(INVALID_TO_SURROGATE, _invalid_to_surrogate)
