"""The groups that were found in an index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType

from es_simhash.dedup.result import Counts
from es_simhash.dedup.spool import Room, Strings
from es_simhash.grouping.members import Nearness


@dataclass(frozen=True)
class Member:
    """A document of a group, and how near it is to the one that stands for the group."""

    index: str
    id: str
    distance: int | None
    similarity: float | None


@dataclass(frozen=True)
class Group:
    """A group of near-duplicates; the first of its members stands for it."""

    members: tuple[Member, ...]

    @property
    def canonical(self) -> Member:
        """The member that stands for the group."""
        return self.members[0]


def places_of(places: Strings, positions: Sequence[int]) -> list[tuple[str, str]]:
    """The index and the id of documents, which were kept with a slash between them."""
    ascending = sorted(positions)
    found = dict(zip(ascending, places.take(ascending), strict=True))
    split = (found[position].partition("/") for position in positions)
    return [(index, id_) for index, _, id_ in split]


class Grouped:
    """All groups; ids and links may lie in temporary files: close it, or use it in a ``with`` statement.

    ``others`` is how many documents have no fingerprint of the scheme, or an empty text, so that they are in no group.
    """

    def __init__(
        self,
        room: Room,
        places: Strings,
        positions: list[list[int]],
        nearness: Nearness,
        counts: Counts,
        others: int,
    ) -> None:
        self._room = room
        self._places = places
        self._positions = positions
        self._nearness = nearness
        self.counts = counts
        self.others = others

    def __len__(self) -> int:
        """The number of groups."""
        return len(self._positions)

    def __iter__(self) -> Iterator[Group]:
        """Each group, the one with the most members first."""
        for positions in self._positions:
            nearness = zip(*self._nearness.to_first(positions), strict=True)
            places = places_of(self._places, positions)
            members = [Member(*place, *near) for place, near in zip(places, nearness, strict=True)]
            yield Group(tuple(members))

    def close(self) -> None:
        """Remove what was kept in temporary files."""
        self._room.close()

    def __enter__(self) -> Grouped:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
