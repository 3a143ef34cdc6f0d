"""A history under way: what is bound to which request, and what was seen of the command's requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TypeAlias

from tests.system.histories.history import KILLS, KINDS, Blow, Event, Fault, Saying, Upset, Write

# What others do, or happens to the index or its cluster.
What: TypeAlias = Write | Saying | Upset | Blow


class KilledError(BaseException):
    """What ends a process that was killed, in each of its threads."""


@dataclass
class Course:
    """Counts requests, has happen what is bound to each, and says which fault it meets with.

    ``happen`` is what the others do; ``on_request`` hears of what the server gets. ``unheard`` counts the items of bulk
    requests that the server has done although the command could not know. While it ``is_killed``, a process sends
    nothing. ``faults`` counts what was met with, and ``failures`` are those of the harness.
    """

    events: Sequence[Event] = ()
    happen: Callable[[What], None] = lambda what: None
    on_request: Callable[[str, str, bytes], None] = lambda method, path, body: None
    faults: int = 0
    unheard: int = 0
    is_killed: bool = False
    failures: list[BaseException] = field(default_factory=list)
    turn: Lock = field(default_factory=Lock)
    _numbers: Counter[str] = field(default_factory=Counter)
    _spent: set[Event] = field(default_factory=set)

    def fault(self, path: str) -> Fault | None:
        """Let the next request come, with all that happens before it; the result is what happens to itself."""
        kinds = [kind for kind in KINDS if kind in path]
        self._numbers.update(kinds)
        found: list[Fault] = []
        for event in self.events:
            if isinstance(event.what, Fault):
                found += [event.what] if self._hits(event, event.what, kinds) else []
            elif event.kind in kinds and self._is_due(event):
                self.faults += isinstance(event.what, Blow)
                self.happen(_turned(event.what, self._numbers[event.kind] - event.at))
        if not found:
            return None
        self.faults += 1
        self.is_killed = self.is_killed or found[0] in KILLS
        return found[0]

    def _is_due(self, event: Event) -> bool:
        return event.at <= self._numbers[event.kind] < event.at + event.times

    def _hits(self, event: Event, fault: Fault, kinds: Sequence[str]) -> bool:
        """Whether a fault hits the request; one by item waits for a bulk request, which is what it can hit."""
        if fault is not Fault.BUSY_ITEMS:
            return event.kind in kinds and self._is_due(event)
        if "/_bulk" not in kinds or event.at > self._numbers[event.kind] or event in self._spent:
            return False
        self._spent.add(event)
        return True


def _turned(what: What, times: int) -> What:
    """What happens for another time: it is another document's turn."""
    return replace(what, document=what.document + times) if isinstance(what, Write | Saying) else what
