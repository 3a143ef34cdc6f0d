"""The search for candidates in a store of fingerprints: its tables of keys are sorted, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import numpy.typing as npt

from es_simhash._core.stages import OnProgress, counted_arrays, counting
from es_simhash.groups.pairs.candidates import (
    POSITION_BITS,
    Candidates,
    CandidatesOfTile,
    HotKeys,
    Linker,
    positions,
)
from es_simhash.groups.pairs.fingerprint_store import FingerprintStore
from es_simhash.groups.pairs.scope_columns import ScopeColumns
from es_simhash.groups.pairs.scoped_linker import ScopedLinker
from es_simhash.groups.pairs.sorting import Numbers, sorted_pieces
from es_simhash.groups.pairs.spool import Spools
from es_simhash.scheme.query import Criteria

# Equal texts are neighbours, except for a few others whose hashes begin alike.
_NEXT = 4

Wanted = npt.NDArray[np.bool_]


@dataclass
class KeyCounts:
    """What is known of the keys of the first ``tables``: those of the most documents, and what was not compared."""

    tables: int = 0
    left_out: int = 0
    cut_off: int = 0
    hot: list[tuple[int, int, int]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class CandidateSearch:
    """What to search, and the ``numbers`` to sort at once.

    ``all`` documents sharing a key are all compared, each further one with ``few``, and none of more than ``most``.
    """

    store: FingerprintStore
    criteria: Criteria
    numbers: int
    spools: Spools
    all: int
    few: int
    most: int | None = None

    @property
    def scopes(self) -> ScopeColumns | None:
        """The scope, if not all documents that are near-duplicates of one another may stand for one another."""
        return self.store.scopes if self.store.scopes and self.store.scopes.by_pairs else None

    def none(self) -> Candidates:
        """Return no candidates, to which some can be added."""
        return Candidates(self.spools, self.numbers, self.store.tile_bits)

    def by_keys(self, tile_bits: int, name: str | None, ends: Sequence[int]) -> Candidates:
        """Return candidates to which `with_equal_keys` adds pairs, after those that are kept."""
        return Candidates(self.spools, self.numbers, tile_bits, name, ends)

    def with_equal_contents(self) -> Candidates:
        """Return the pairs of neighbours whose texts may be equal."""
        found = self.none()
        linker = self._linker() if self.scopes else Linker(_NEXT, _NEXT)
        contents = counted_arrays(
            "Finding equal texts", self.store.by_content(), self.store.compared_count, "documents"
        )
        for codes in linker.pairs(self._sorted(contents)):
            found.add(codes)
        return found

    def with_equal_keys(self, into: Candidates, wanted: Wanted | None, after: KeyCounts) -> Iterator[KeyCounts]:
        """Add the pairs that share a key, or those that have a wanted document; yield the counts after each table."""
        hot = HotKeys(found=after.hot)
        linker = self._linker(self.most, hot)
        linker.left_out, linker.cut_off = after.left_out, after.cut_off
        tables, compared = len(list(self.store.names_of_keys(self.criteria))), self.store.compared_count
        with counting("Sorting keys", tables * compared, "keys") as advance:
            for number, entries in enumerate(self.store.by_key(self.criteria)):
                if number >= after.tables:
                    for codes in linker.pairs(self._sorted(entries), number):
                        into.add(codes if wanted is None else codes[_have(wanted, codes)])
                    yield KeyCounts(number + 1, linker.left_out, linker.cut_off, list(hot))
                advance((number + 1) * compared)

    def read(self, candidates: Candidates, low: int = 0) -> Iterator[tuple[CandidatesOfTile, OnProgress[int]]]:
        """Yield candidates tile by tile, while the rows of the tile are kept at hand; free them at the end.

        With them comes what to call with the number of those that are compared.
        """
        with counting("Comparing", len(candidates.runs), "pairs") as advance:
            for some in candidates.distinct(low):
                self.store.keep(some.tile)
                yield some, partial(_advance, advance, some)
        self.store.keep(None)
        candidates.runs.close()

    def _linker(self, most: int | None = None, hot: HotKeys | None = None) -> Linker | ScopedLinker:
        limits = self.all, self.few, most, hot
        return ScopedLinker(self.scopes, *limits) if self.scopes else Linker(*limits)

    def _sorted(self, entries: Iterable[Numbers]) -> Iterator[Numbers]:
        return sorted_pieces(entries, self.spools, self.numbers, self._grain)

    @property
    def _grain(self) -> int:
        return 1 << POSITION_BITS if self.scopes else 1


def _advance(advance: OnProgress[int], some: CandidatesOfTile, compared: int) -> None:
    advance(some.part_of_all(compared))


def _have(wanted: Wanted, codes: Numbers) -> Wanted:
    first, second = positions(codes)
    found: Wanted = wanted[first] | wanted[second]
    return found
