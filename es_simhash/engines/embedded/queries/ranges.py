"""The ends of a range query as terms: the digits of its lowest and highest number or date."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR
from typing import Any

from es_simhash._core.dates import milliseconds
from es_simhash.engines.embedded.mapping import values
from es_simhash.engines.embedded.mapping.index_mapping import Field
from es_simhash.errors import EngineError

BOUNDS = ("gt", "gte", "lt", "lte")

# The step from a bound to the first value in the range.
_STEP = {"gt": 1, "gte": 0, "lte": 0, "lt": -1}
_HIGHEST = (1 << 64) - 1


def digits(field: Field, bounds: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the digits of both ends, inclusive; None if the range is empty."""
    if field.kind not in values.ORDERED:
        raise EngineError(
            f"The embedded engine has no ranges over the field {field.path!r} of type {field.kind}. "
            "Search ranges of numbers or dates."
        )
    low, high = 0, _HIGHEST
    for name in BOUNDS:
        if bounds.get(name) is None:
            continue
        try:
            end = _end(field.kind, name, bounds[name])
        except (ValueError, OverflowError) as error:
            raise EngineError(f"The range over {field.path!r} has a wrong {name}: {error}. Correct it.") from None
        if name in ("gt", "gte"):
            low = max(low, end)
        else:
            high = min(high, end)
    return (f"{low:016x}", f"{high:016x}") if low <= high else None


def _end(kind: str, name: str, value: Any) -> int:
    """Return the first or last value that a bound allows, as its position in the order of all digits."""
    # A date without a time is a whole day: gt and lte extend to its end. The same holds for fractions between integers.
    reaches_up = name in ("gt", "lte")
    if kind == "date":
        place = milliseconds(value, round_up=reaches_up) + values.MIDDLE
    elif kind in values.INTEGER_BITS:
        rounding = ROUND_FLOOR if reaches_up else ROUND_CEILING
        place = int(values.number(value).to_integral_value(rounding)) + values.MIDDLE
    else:
        place = int(values.ordered(kind, value), 16)
    return place + _STEP[name]
