"""Numbers, lists and texts written for people, in forms that command no terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

# Of a list, and of a text, that is shown whole.
_MOST_ITEMS, _MOST_CHARACTERS = 5, 200


def counted(count: int, one: str, more: str | None = None) -> str:
    """Write a count with its noun: ``1 group``, ``2 groups``; ``more`` is the plural if it is not ``one`` and an s."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def counted_parts(counts: Mapping[str, int]) -> str:
    """Write what became of documents, without zeros: ``12 documents written, 3 rejected``; empty if all are zero."""
    first, *others = [(count, what) for what, count in counts.items() if count] or [(0, "")]
    if not first[0]:
        return ""
    return ", ".join([f"{counted(first[0], 'document')} {first[1]}", *(f"{count:,} {what}" for count, what in others)])


def share(value: float, threshold: float | None = None) -> str:
    """Write a similarity, or another share, with two digits: ``0.81``. Only what is all of it is ``1.00``.

    If it seems to be equal to a threshold, and is not, it has more digits.
    """
    if threshold not in (None, value) and f"{value:.2f}" == f"{threshold:.2f}":
        return next((text for digits in (4, 8) if float(text := f"{value:.{digits}f}") != threshold), repr(value))
    return "0.99" if 0.99 < value < 1 else f"{value:.2f}"


def with_error(value: float, standard_error: float | None) -> str:
    """Write a similarity and, where it is an estimate, its error: ``0.81 ± 0.03``."""
    return share(value) + ("" if standard_error is None else f" ± {standard_error:.2f}")


def score_text(value: float | None) -> str:
    """Write a score of an evaluation, in which small differences count: ``0.945``; nothing if it is not known."""
    return "" if value is None else f"{value:.3f}"


def rounded(value: float) -> str:
    """Write a number with its two digits that count: ``0.0031``, ``7,200``."""
    return f"{float(f'{value:.2g}'):,g}"


def lasting(seconds: float) -> str:
    """Write a time: ``3.2 h``, ``12 min``, ``0.4 s``."""
    unit, length = next(((unit, length) for unit, length in (("h", 3600), ("min", 60)) if seconds >= length), ("s", 1))
    return f"{rounded(seconds / length)} {unit}"


def with_unit(size: int) -> str:
    """Write a number of bytes: ``1.5 GB``."""
    for unit, power in (("GB", 30), ("MB", 20), ("kB", 10)):
        if size >= 1 << power:
            return f"{size / (1 << power):,.1f} {unit}"
    return f"{size} bytes"


def listed(items: Sequence[str]) -> str:
    """Write the first items of a list, and how many more there are."""
    more = len(items) - _MOST_ITEMS
    return ", ".join(map(shortened, items[:_MOST_ITEMS])) + (f" and {counted(more, 'other')}" if more > 0 else "")


def shortened(text: str) -> str:
    """Cut a long text, and name its length."""
    if len(text) <= _MOST_CHARACTERS:
        return text
    return f"{text[:_MOST_CHARACTERS]}… ({len(text):,} characters)"


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


def value_text(value: Any) -> str:
    """Return a value of a document as it was read: a text as it is, None as nothing, and else JSON.

    >>> value_text("news"), value_text(None), value_text(["a", 1])
    ('news', '', '["a", 1]')
    """
    return value if isinstance(value, str) else "" if value is None else json_text(value)


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
