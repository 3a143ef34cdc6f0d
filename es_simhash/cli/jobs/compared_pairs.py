"""What was compared of each pair, as it is written to files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from es_simhash.groups.pairs.compare import Pairs

COLUMNS = ("distance", "similarity", "standard_error", "is_exact")


def compared(pairs: Pairs) -> Iterator[dict[str, Any]]:
    """Of each pair the bits that differ, and the similarity with its error if it is an estimate."""
    names = [name for name in COLUMNS if name in (pairs.dtype.names or ())]
    for values in zip(*(pairs[name].tolist() for name in names), strict=True):
        form = dict(zip(names, values, strict=True))
        if "standard_error" in form:
            form["standard_error"] = None if form["is_exact"] else round(form["standard_error"], 4)
        yield form
