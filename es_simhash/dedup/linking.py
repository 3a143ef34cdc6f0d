"""From what is kept of all documents to their links: identical pairs, near pairs, and the groups they make."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from es_simhash.dedup.candidates import Candidates, Linker
from es_simhash.dedup.compare import Comparison, Pairs, identical_pairs, pair_type
from es_simhash.dedup.kept import Kept
from es_simhash.dedup.sorting import Numbers, Read, sorted_pieces
from es_simhash.dedup.spool import Records, Room
from es_simhash.groups import UnionFind
from es_simhash.query import Criteria

# How many documents that share a key are all compared, and with how many of these each further one is.
_ALL, _FEW = 32, 2
# Equal texts are next to one another, but for the few others whose hashes begin alike.
_NEXT = 4
# How much memory may be taken for a number that is sorted, in all arrays that it passes through.
_BYTES_A_NUMBER = 128


@dataclass(frozen=True)
class Links:
    """The pairs that were found, ``identical`` ones first, and what they link; see `es_simhash.dedup.result.Counts`."""

    pairs: Records
    union: UnionFind
    identical: int
    near: int
    left_out: int


def link(kept: Kept, criteria: Criteria, comparison: Comparison, memory: int, room: Room) -> Links:
    """Find the pairs among documents; those that ``kept`` says are compared."""
    linking = _Linking(kept, criteria, comparison, memory // _BYTES_A_NUMBER, room)
    identical = linking.add(linking.identical())
    linker = Linker(_ALL, _FEW)
    near = linking.add(linking.near(linker))
    return Links(linking.pairs, linking.union, identical, near, linker.left_out)


class _Linking:
    """One search for all pairs; ``numbers`` are sorted at once."""

    def __init__(self, kept: Kept, criteria: Criteria, comparison: Comparison, numbers: int, room: Room) -> None:
        self._kept = kept
        self._criteria = criteria
        self._comparison = comparison
        self._numbers = numbers
        self._room = room
        self.pairs = Records(room, pair_type(criteria))
        self.union = UnionFind(len(kept))

    def add(self, batches: Iterator[Pairs]) -> int:
        """Keep pairs, and how many there are."""
        before = len(self.pairs)
        for pairs in batches:
            self.pairs.append(pairs)
            self.union.union(pairs["first"], pairs["second"])
        return len(self.pairs) - before

    def identical(self) -> Iterator[Pairs]:
        """The pairs of equal texts, of which only the first is compared from then on."""
        for codes in Linker(_NEXT, _NEXT).pairs(self._sorted(self._kept.by_content())):
            pairs = identical_pairs(self._kept, codes, self._criteria)
            # Of those with the same second document, the rest may come with the next codes.
            new = pairs[self._kept.compared[pairs["second"]]]
            self._kept.compared[new["second"]] = False
            yield new

    def near(self, linker: Linker) -> Iterator[Pairs]:
        """The pairs that meet the criteria among those that share a key."""
        candidates = Candidates(self._room, self._numbers)
        for table in self._tables():
            for codes in linker.pairs(self._sorted(table)):
                candidates.add(codes)
        for codes in candidates.distinct(len(self._kept)):
            yield from self._comparison.matches(codes)

    def _tables(self) -> Iterator[Read]:
        yield from self._kept.by_band()
        if self._criteria.distance is not None:
            yield from self._kept.by_simhash(self._criteria.distance)

    def _sorted(self, read: Read) -> Iterator[Numbers]:
        return sorted_pieces(read, len(self._kept), 1 << 64, self._numbers)
