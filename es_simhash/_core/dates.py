"""Dates: Elasticsearch's default format (ISO 8601 with optional parts, or milliseconds since 1970), and ISO 8601."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from math import isfinite
from typing import Any

import numpy as np

from es_simhash._core.arrays import Integers

_ISO = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d)"
    r"(?:T(?P<hour>\d\d)?(?::(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?)?"
    r"(?P<zone>Z|[+-]\d\d(?::?\d\d)?)?)?)?)?"
)
_MILLISECONDS = re.compile(r"-?\d+")
# Eight digits alone are a date, 20260101.
_LONG_MILLISECONDS = re.compile("-?[0-9]{9,18}")
_WITHOUT_DAY = re.compile("[0-9]{4}(-[0-9]{2})?")
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def looks_like_a_date(text: str) -> bool:
    """Return whether dynamic mapping takes a string for a date; a bare number, such as a year, is none."""
    if len(text) < 8 or not text[:4].isdigit() or text.isdigit():
        return False
    try:
        milliseconds(text)
    except ValueError:
        return False
    return True


def milliseconds(value: object, round_up: bool = False) -> int:
    """Return milliseconds since 1970; raise ValueError for what is not a date.

    A missing month or day counts as the first; a missing part of the time as the first or, with ``round_up``, the last.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value)
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a date")
    if parts := _ISO.fullmatch(value):
        return _of_parts(parts, round_up)
    if _MILLISECONDS.fullmatch(value):
        return int(value)
    raise ValueError(f"{value!r} is neither an ISO 8601 date nor a number of milliseconds")


def timestamp(value: object) -> float | None:
    """Return seconds since 1970 for milliseconds or an ISO 8601 date (UTC without a zone); None for anything else."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value / 1000 if isfinite(value) else None
    if not isinstance(value, str):
        return None
    if _LONG_MILLISECONDS.fullmatch(value):
        return int(value) / 1000
    if _WITHOUT_DAY.fullmatch(value):
        value += "-01" * (2 if len(value) == len("2026") else 1)
    try:
        date = datetime.fromisoformat(f"{value[:-1]}+00:00" if value[-1:] in "Zz" else value)
    except ValueError:
        return None
    return (date if date.tzinfo else date.replace(tzinfo=timezone.utc)).timestamp()


def _of_parts(parts: re.Match[str], round_up: bool) -> int:
    year = int(parts["year"])
    month, day = (int(parts[name] or 1) for name in ("month", "day"))
    hour = int(parts["hour"] or (23 if round_up else 0))
    minute, second = (int(parts[name] or (59 if round_up else 0)) for name in ("minute", "second"))
    millisecond = int((parts["fraction"] or ("999" if round_up else "0")).ljust(3, "0")[:3])
    moment = datetime(year, month, day, hour, minute, second, tzinfo=timezone.utc)
    return (moment - _EPOCH - _offset(parts["zone"])) // timedelta(milliseconds=1) + millisecond


def _offset(zone: str | None) -> timedelta:
    if zone is None or zone == "Z":
        return timedelta(0)
    digits = zone[1:].replace(":", "").ljust(4, "0")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return -offset if zone[0] == "-" else offset


# By their length.
_FORMS = {
    10: re.compile(r"(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}"),
    20: re.compile(r"(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"),
    24: re.compile(r"(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z"),
}
# Up to here, a number stays the same if it is divided by a thousand and multiplied again.
_EXACT = 1 << 51


def milliseconds_in(values: Sequence[Any]) -> Integers | None:
    """Return the milliseconds since 1970 of whole numbers, or of dates in one form; None for other values.

    They are those of `dates.timestamp`, which takes ten times as long.
    """
    kinds = set(map(type, values))
    if kinds == {int}:
        numbers = np.array(values)  # of another type if there are large ones
        return numbers if numbers.dtype == np.int64 and abs(numbers).max() < _EXACT else None
    lengths = set(map(len, values)) if kinds == {str} else set()
    form = _FORMS.get(lengths.pop()) if len(lengths) == 1 else None
    if form is None or not all(map(form.fullmatch, values)):
        return None
    try:
        dates = np.array([value.removesuffix("Z") for value in values], dtype="datetime64[ms]")
    except ValueError:  # no month has that day
        return None
    return dates.astype(np.int64)
