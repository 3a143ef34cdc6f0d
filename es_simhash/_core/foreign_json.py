"""JSON from files, servers and users, who may send anything."""

from __future__ import annotations

import json
from typing import Any


def parse_json(text: str | bytes) -> Any:
    """Parse JSON; raise a ValueError for all that Python cannot read, also for what is nested too deeply.

    >>> parse_json('{"id": 1}')
    {'id': 1}
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
