"""The pace of a long job: a limit of documents a second."""

from __future__ import annotations

import time
from threading import Lock

from es_simhash.plans.operations import Plan, Wait


class Pace:
    """A limit of documents a second for all threads together."""

    def __init__(self, limit: float | None) -> None:
        self._limit = limit
        self._next = time.monotonic()
        self._lock = Lock()

    def turn(self, documents: int) -> Plan[None]:
        """Wait until this number of documents may be written."""
        if self._limit is None or not documents:
            return
        with self._lock:
            now = time.monotonic()
            turn = max(self._next, now)
            self._next = turn + documents / self._limit
        yield Wait(turn - now)
