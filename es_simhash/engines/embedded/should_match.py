"""How many of a query's optional clauses must match."""

from __future__ import annotations

import re

from es_simhash.errors import EngineError

_FORM = re.compile(r"(-?\d+)(%?)")


def minimum(spec: object, clauses: int) -> int:
    """The number that ``minimum_should_match`` means: ``3``, all but some (``-1``), or ``70%`` or ``-30%`` of them.

    Percentages are rounded down, as Elasticsearch does.
    """
    form = _FORM.fullmatch(str(spec).strip())
    if isinstance(spec, bool) or not form:
        raise EngineError(
            f"The embedded engine cannot count minimum_should_match: {spec!r}. "
            "Give a number such as 3 or -1, or a percentage such as '70%' or '-30%'."
        )
    number = int(form[1])
    amount = clauses * abs(number) // 100 if form[2] else abs(number)
    return amount if number >= 0 else max(0, clauses - amount)
