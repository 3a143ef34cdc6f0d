"""Linking documents by their fingerprints: identical pairs, near pairs, and the groups they make.

These are the stages, and what each leaves in kept spools (see `es_simhash.groups.pairs.spool`):

| stage | spool | what it has |
|---|---|---|
| ``identical`` | ``pairs`` | the pairs of equal texts |
| ``keys``, which ends after each table of keys | ``candidates`` | the pairs that share a key, in sorted runs |
| ``compared``, which ends after each part of the candidates | ``pairs`` | the pairs of near-duplicates |

Keys are sorted, a table at a time, within its stage alone. The links are in memory, and made from the pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import partial

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash._core.stages import OnProgress, counted_arrays, counting
from es_simhash.groups.pairs.candidates import (
    POSITION_BITS,
    POSITION_MASK,
    Candidates,
    CandidatesOfTile,
    HotKeys,
    Linker,
    pair_codes,
    positions,
)
from es_simhash.groups.pairs.compare import Comparison, Pairs, equal_pairs, first_of_each, identical_pairs, pair_type
from es_simhash.groups.pairs.fingerprint_store import FingerprintStore
from es_simhash.groups.pairs.scope_columns import ScopeColumns, ScopedLinker
from es_simhash.groups.pairs.spool import Spools
from es_simhash.groups.pairs.stored_rows import Numbers, Records, SortedRuns, sorted_pieces
from es_simhash.groups.union_find import UnionFind
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.verdict.rule import EQUAL

# The number of documents sharing a key that are all compared, and the number that each further one is compared with.
ALL, FEW = 32, 2
# The memory for each sorted number, in all arrays that it passes through.
_BYTES_A_NUMBER = 192


@dataclass(frozen=True)
class HotKey:
    """A key shared by very many documents: its ``name``, their number, and the ``position`` of one of them."""

    name: str
    documents: int
    position: int


@dataclass(frozen=True)
class Links:
    """The pairs found, ``identical`` ones first, and the documents that they link; see `Counts`.

    ``is_whole`` if all documents that share a key were compared.
    """

    pairs: Records
    union: UnionFind
    identical: int
    near: int
    left_out: int
    is_whole: bool
    cut_off: int
    hot_keys: list[HotKey]


@dataclass(frozen=True, eq=False)
class Bounds:
    """Limits of linking: at most ``most`` documents of a key, and with ``new`` only pairs that have one of these."""

    most: int | None = None
    new: npt.NDArray[np.bool_] | None = None


def link(
    store: FingerprintStore,
    criteria: Criteria,
    comparison: Comparison,
    memory: int,
    spools: Spools,
    bounds: Bounds | None = None,
) -> Links:
    """Find the pairs among the documents that are compared; go on after the last stage that is kept."""
    bounds = bounds or Bounds()
    search = CandidateSearch(store, criteria, memory // _BYTES_A_NUMBER, spools, ALL, FEW, bounds.most)
    linking = _Linking(search, comparison, bounds.new)
    identical = linking.link_identical()
    keys = linking.link_near()
    names = list(store.names_of_keys(criteria))
    return Links(
        pairs=linking.pairs,
        union=linking.union,
        identical=identical,
        near=len(linking.pairs) - identical,
        left_out=keys.left_out,
        is_whole=not keys.left_out,
        cut_off=keys.cut_off,
        hot_keys=[HotKey(names[table], size, position) for size, table, position in keys.hot],
    )


class _Linking:
    """One search for all pairs, or with ``new`` for those that have one of these documents."""

    def __init__(self, search: CandidateSearch, comparison: Comparison, new: npt.NDArray[np.bool_] | None) -> None:
        self._search = search
        self._store = search.store
        self._criteria = search.criteria
        self._comparison = comparison
        self._new = new
        self._spools = search.spools
        self._stages = search.spools.stages
        self.pairs = Records(self._spools, pair_type(self._criteria), "pairs")
        self.union = UnionFind(len(self._store))

    # ---- equal texts

    def link_identical(self) -> int:
        """Pair equal texts, and count the pairs; the first stands for the others, and is compared alone, if it can."""
        note = self._stages.note("identical")
        if note is None:
            for pairs in self._identical():
                self.pairs.append(pairs)
            note = {"pairs": len(self.pairs)}
            self._stages.end("identical", note)
        for equal in self._pairs_of_equal():
            self.union.union(equal["first"], equal["second"])
            if not self._search.scopes:
                self._store.compared[equal["second"]] = False
        return int(note["pairs"])

    def _identical(self) -> Iterator[Pairs]:
        """Yield the pairs of equal texts: each with the nearest one before it, or all where a scope is by pairs."""
        candidates = self._search.with_equal_contents()
        same = (identical_pairs(self._store, each.codes, self._criteria) for each, _ in self._search.read(candidates))
        if self._search.scopes:
            yield from same
            return
        by_second = SortedRuns(self._spools, self._search.numbers)
        for pairs in same:
            by_second.add(pair_codes(pairs["second"], _before(pairs["first"])))
        for codes in by_second.pieces(1 << POSITION_BITS):
            second, before = positions(codes)
            yield first_of_each(equal_pairs(_before(before), second, self._criteria))
        by_second.close()

    def _pairs_of_equal(self) -> Iterator[Pairs]:
        for pairs in self.pairs:
            yield pairs[pairs["clause"] == EQUAL]

    # ---- near ones

    def link_near(self) -> KeyCounts:
        """Pair the near-duplicates among the documents that share a key; return what is known of the keys."""
        counts, candidates = self._sharing()
        for pairs in self._compared(candidates):
            self.pairs.append(pairs)
        for pairs in counted_arrays("Linking", self.pairs, len(self.pairs), "pairs"):
            self.union.union(pairs["first"], pairs["second"])
        return counts

    def _sharing(self) -> tuple[KeyCounts, Candidates]:
        """Collect the pairs that share a key, table by table."""
        note = self._stages.note("keys") or {"counts": {}, "tile_bits": self._store.tile_bits, "ends": []}
        name = "candidates" if self._stages.is_kept else None
        found = self._search.by_keys(note["tile_bits"], name, note["ends"])
        known = counts = KeyCounts(**note["counts"])
        for counts in self._search.with_equal_keys(found, self._new, known):
            if self._stages.is_kept:
                found.runs.end_run()
                so_far = {"counts": asdict(counts), "tile_bits": found.tile_bits, "ends": found.runs.ends}
                self._stages.end("keys", so_far)
        return counts, found

    def _compared(self, candidates: Candidates) -> Iterator[Pairs]:
        """Return the near-duplicates among candidates, from where an earlier run stopped."""
        note = self._stages.note("compared")
        if note:
            self._comparison.go_on(note["comparison"])
        for some, advance in self._search.read(candidates, note["next"] if note else 0):
            with closing(self._comparison.measured(some.codes, advance)) as measured:
                yield from map(self._comparison.near, measured)
            so_far = {"next": some.next, "comparison": self._comparison.note()}
            self._stages.end("compared", so_far)


def _before(documents: npt.NDArray[np.integer]) -> Integers:
    """Count positions from the last possible one, so that the nearest one before another comes first."""
    return int(POSITION_MASK) - documents.astype(np.int64)


# Equal texts are neighbours, except for a few others whose hashes begin alike.
_NEXT = 4

Wanted = npt.NDArray[np.bool_]


@dataclass
class KeyCounts:
    """The keys of the first ``tables`` that most documents have, and the pairs that were not compared."""

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
