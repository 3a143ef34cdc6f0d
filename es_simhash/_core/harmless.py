"""Texts that others wrote, in forms that command no terminal: documents, and what engines say of them."""

from __future__ import annotations

import json
import re
from typing import Any

# What terminals obey (C0 but for tabs and line ends, DEL, C1), and what reorders or ends lines unseen.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """Return a text with spaces for what terminals obey, in lines as it was.

    >>> printable("clear \\x1b[2J\\tthe screen")
    'clear  [2J\\tthe screen'
    """
    return _OBEYED.sub(" ", text)


def json_text(form: Any, **options: Any) -> str:
    r"""Return a value as JSON, with escapes for what terminals obey, so that reading it gives the same value.

    >>> json_text({"id": "\x9b2J é"})
    '{"id": "\\u009b2J é"}'
    """
    return _OBEYED.sub(_escaped, json.dumps(form, ensure_ascii=False, **options))


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
