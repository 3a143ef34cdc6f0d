"""What happens in a history, as values that a failure prints and a test can be made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal, TypeAlias

from es_simhash.documents.decisions import Decision, Verdict

# What a document is like at the start: without our fields, with those of its text, with those of an older text, with a
# text that is to be fingerprinted yet, with a text that cannot be read, with none, or with a field of theirs in the
# object of ours.
State: TypeAlias = Literal["plain", "done", "stale", "deferred", "unreadable", "empty", "shared"]

# What others do to a document: write it whole, write it whole by our helper, update its text, or one of the fields of
# its text by our helper, update another field, write back an older copy with another text, or delete it. Deleted ones
# are written again by a "put", and "moved" ones at once with another routing value.
How: TypeAlias = Literal["put", "put by helper", "text", "text by helper", "number", "copy", "delete", "move"]


@dataclass(frozen=True)
class Start:
    """A document at the start."""

    state: State = "plain"
    routed: bool = False


@dataclass(frozen=True)
class Write:
    """What one of the others does to the document of a number; its text is one that there was not before."""

    how: How
    document: int


@dataclass(frozen=True)
class Saying:
    """What one of several people decides of the document of a number, or of it and another ``apart`` from it.

    Unless it ``holds``, they withdraw it.
    """

    verdict: Verdict
    document: int
    apart: int = 4
    who: str = "Ben"
    holds: bool = True

    def decision(self, index: str, ids: Sequence[str]) -> Decision:
        """Return the decision on documents of an index that has these ids."""
        one, other = ((index, ids[number % len(ids)]) for number in (self.document, self.document + self.apart))
        verdict = "alone" if one == other and self.verdict != "canonical" else self.verdict
        if verdict in ("canonical", "alone"):
            decision = Decision.about(one, verdict, self.who)
        else:
            decision = Decision.between(one, other, same=verdict == "same", who=self.who)
        return decision if self.holds else decision.withdrawn()


# What the name of an index is of: itself, a rolling alias, or a data stream; both have several generations.
Behind: TypeAlias = Literal["index", "alias", "stream"]


class Upset(Enum):
    """What happens to the index: it is refreshed, closed and opened again, which begins another primary term, or rolled
    over to its next generation.
    """

    REFRESH = "refresh"
    NEW_TERM = "new term"
    ROLLOVER = "rollover"

    def __repr__(self) -> str:
        return f"Upset.{self.name}"


class Blow(Enum):
    """What happens to a cluster: the node with a primary is killed, or cut off for a moment; another one joins."""

    KILL = "a node is killed"
    ISOLATE = "a node is cut off"
    SILENCE = "a link falls silent"
    JOIN = "a node joins"

    def __repr__(self) -> str:
        return f"Blow.{self.name}"


class Fault(Enum):
    """What happens to a request.

    It comes later than others, its connection is lost before the server has it or with the reply, it is refused, it is
    refused for every other item of a bulk, or the process is killed before the server has it or before the reply comes.
    On a cluster, the node with a primary may be killed while the request is under way.
    """

    LATE = "late"
    RESET = "reset"
    LOST_REPLY = "lost reply"
    BUSY = "429"
    BUSY_ITEMS = "429 by item"
    UNAVAILABLE = "503"
    KILLED = "killed"
    KILLED_UNANSWERED = "killed unanswered"
    FAILOVER = "failover"

    def __repr__(self) -> str:
        return f"Fault.{self.name}"


KILLS = (Fault.KILLED, Fault.KILLED_UNANSWERED)


# Parts of the paths of requests that are of interest; the first is in each.
KINDS = ("/", "/_bulk", "/_count", "/_mapping", "/_refresh", "/_search", "/_stats?level=shards")


@dataclass(frozen=True)
class Event:
    """What happens before, or to, the request of a number, and the next ones if it has more ``times``.

    Requests of a kind are counted apart. Others turn to another document each time; a fault goes on as long as a client
    tries again.
    """

    at: int
    what: Write | Saying | Upset | Blow | Fault
    times: int = 1
    kind: str = KINDS[0]


@dataclass(frozen=True)
class Shape:
    """An index: how many shards it has, whether it refreshes itself, and whether fields may come with documents.

    One that ``excludes`` leaves a field out of ``_source``, so that each update loses it. Each shard has ``replicas``.
    The index ``behind`` the name may roll over; the second half of its documents is then in another generation.
    """

    shards: int = 1
    refreshes: bool = False
    dynamic: bool = True
    excludes: bool = False
    replicas: int = 0
    behind: Behind = "index"


@dataclass(frozen=True)
class History:
    """A command, by its name in `verbs`, the documents that there are, and what happens in the meantime."""

    verb: str
    documents: tuple[Start, ...]
    events: tuple[Event, ...] = ()
    shape: Shape = Shape()

    @property
    def parts_nodes(self) -> bool:
        """Whether nodes do not hear each other for a while."""
        return any(event.what in (Blow.ISOLATE, Blow.SILENCE) for event in self.events)
