"""Texts that others wrote, in forms that command no terminal: documents, and what engines say of them."""

from __future__ import annotations

import json
import re
from typing import Any

# What terminals obey (C0 but for tabs and line ends, DEL, C1), and what reorders or ends lines unseen.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
# What shows nothing, as a class of regular expressions: controls, Unicode's format characters and default ignorables.
UNSEEN = (
    "\x00-\x1f\x7f-\xa0\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)


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
