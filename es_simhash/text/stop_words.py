"""Stop words: tokens that do not characterise a text, and are left out of its fingerprint.

There are no built-in lists: which words are noise depends on the corpus, and a list that changed with a release would
change fingerprints.
"""

from __future__ import annotations

import os
from pathlib import Path

from es_simhash.errors import FormatError

_COMMENT = "#"


def load_stop_words(path: str | os.PathLike[str]) -> frozenset[str]:
    """Read a UTF-8 file with one word a line; skip blank lines and those that begin with ``#``.

    White space around a word is no part of it.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise FormatError(
            f"The stop words {path} cannot be read: {error.strerror}. Give the path of a text file."
        ) from error
    try:
        lines = data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError(
            f"Line {line} of the stop words {path} is not valid UTF-8 (byte 0x{data[error.start]:02X} at "
            f"position {error.start} of the file). Convert the file to UTF-8."
        ) from error
    words = map(str.strip, lines)
    return frozenset(word for word in words if word and not word.startswith(_COMMENT))
