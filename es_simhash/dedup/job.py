"""The steps of a deduplication: read all documents, pair the identical ones, pair the near ones, group them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from es_simhash.dedup.candidates import Candidates, Linker
from es_simhash.dedup.compare import Comparison, Pairs, Verify, identical_pairs, pair_type
from es_simhash.dedup.kept import Kept
from es_simhash.dedup.result import Counts, Duplicates
from es_simhash.dedup.sorting import Numbers, Read, sorted_pieces
from es_simhash.dedup.spool import Records, Room, Strings
from es_simhash.dedup.workers import condense_all
from es_simhash.errors import DocumentError
from es_simhash.groups import UnionFind
from es_simhash.query import Criteria
from es_simhash.settings import Settings

Documents = Iterable[tuple[str, str]]
Progress = Callable[[int], object]

# How many documents that share a key are all compared, and with how many of these each further one is.
_ALL, _FEW = 32, 2
# Equal texts are next to one another, but for the few others whose hashes begin alike.
_NEXT = 4
# How much memory may be taken for a number that is sorted, in all arrays that it passes through; and for each byte of
# a text that is compared exactly, which becomes a hash in several arrays.
_BYTES_A_NUMBER = 128
_BYTES_A_BYTE = 512


class Job:
    """One deduplication."""

    def __init__(self, settings: Settings, criteria: Criteria, verify: Verify, memory: int, room: Room) -> None:
        self._settings = settings
        self._criteria = criteria
        self._room = room
        self._numbers = memory // _BYTES_A_NUMBER
        self._ids = Strings(room)
        self._texts = Strings(room) if criteria.similarity is not None and verify != "estimate" else None
        self._kept = Kept(settings, room)
        self._pairs = Records(room, pair_type(criteria))
        self._comparison = Comparison(self._kept, criteria, verify, self._texts, memory // _BYTES_A_BYTE)

    def read(self, documents: Documents, processes: int, progress: Progress) -> None:
        """Keep what is needed of each document."""
        for condensed in condense_all(self._settings, self._noted(documents), processes):
            self._kept.add(condensed)
            progress(len(self._kept))
        self._ids.flush()
        if self._texts is not None:
            self._texts.flush()
        self._kept.complete()

    def _noted(self, documents: Documents) -> Iterator[str]:
        for position, document in enumerate(documents):
            if not isinstance(document, tuple) or len(document) != 2 or not isinstance(document[0], str):
                raise DocumentError("is no pair of an id and a text, both strings. Give such pairs.", position)
            id, text = document
            self._ids.append(id)
            if self._texts is not None and isinstance(text, str):
                self._texts.append(text)
            yield text

    def result(self) -> Duplicates:
        """Compare what is kept."""
        compared = int(self._kept.compared.sum())
        union = UnionFind(len(self._kept))
        identical = self._add(union, self._identical())
        linker = Linker(_ALL, _FEW)
        near = self._add(union, self._near(linker))
        groups = union.groups()
        counts = Counts(
            documents=len(self._kept),
            empty=len(self._kept) - compared,
            identical=identical,
            near=near,
            groups=len(groups),
            duplicates=int(np.count_nonzero(~groups.is_first)),
            compared=self._comparison.compared,
            verified=self._comparison.verified,
            left_out=linker.left_out,
        )
        return Duplicates(self._room, self._ids, self._pairs, groups, counts)

    def _add(self, union: UnionFind, batches: Iterator[Pairs]) -> int:
        """Keep pairs, and how many there are."""
        before = len(self._pairs)
        for pairs in batches:
            self._pairs.append(pairs)
            union.union(pairs["first"], pairs["second"])
        return len(self._pairs) - before

    def _identical(self) -> Iterator[Pairs]:
        """The pairs of equal texts, of which only the first is compared from then on."""
        for codes in Linker(_NEXT, _NEXT).pairs(self._sorted(self._kept.by_content())):
            pairs = identical_pairs(self._kept, codes, self._criteria)
            # Of those with the same second document, the rest may come with the next codes.
            new = pairs[self._kept.compared[pairs["second"]]]
            self._kept.compared[new["second"]] = False
            yield new

    def _near(self, linker: Linker) -> Iterator[Pairs]:
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
