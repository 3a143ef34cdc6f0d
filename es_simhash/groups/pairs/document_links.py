"""Linking documents by their fingerprints: identical pairs, near pairs, and the groups they make."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash.groups.pairs.candidates import POSITION_BITS, Candidates, HotKeys, Linker, positions
from es_simhash.groups.pairs.compare import Comparison, Pairs, first_of_each, identical_pairs, pair_type
from es_simhash.groups.pairs.fingerprint_store import FingerprintStore
from es_simhash.groups.pairs.scoped_linker import ScopedLinker
from es_simhash.groups.pairs.sorting import Numbers, Read, sorted_pieces
from es_simhash.groups.pairs.spool import Records, Spools
from es_simhash.groups.union_find import UnionFind
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.verdict.surroundings import Surroundings
from es_simhash.scheme.verdict.verification import Crowding

# The number of documents sharing a key that are all compared, and the number that each further one is compared with.
ALL, FEW = 32, 2
# Equal texts are neighbours, except for a few others whose hashes begin alike.
_NEXT = 4
# The memory for each sorted number, in all arrays that it passes through.
_BYTES_A_NUMBER = 128


@dataclass(frozen=True)
class HotKey:
    """A key shared by very many documents: its ``name``, their number, and the ``position`` of one of them."""

    name: str
    documents: int
    position: int


@dataclass(frozen=True)
class Links:
    """The pairs found, ``identical`` ones first, and the documents that they link; see `Counts`.

    ``surroundings`` are those of all documents, if they count.
    """

    pairs: Records
    union: UnionFind
    identical: int
    near: int
    left_out: int
    cut_off: int
    hot_keys: list[HotKey]
    surroundings: Surroundings | None


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
    """Find the pairs among the documents that are compared."""
    bounds, hot = bounds or Bounds(), HotKeys()
    linking = _Linking(store, criteria, comparison, memory // _BYTES_A_NUMBER, spools, bounds)
    identical = linking.add(linking.identical())
    linker = linking.linker(ALL, FEW, bounds.most, hot)
    near = linking.add(linking.near(linker, bounds.most))
    names = list(store.names_of_keys(criteria))
    hot_keys = [HotKey(names[table], size, position) for size, table, position in hot]
    return Links(
        linking.pairs, linking.union, identical, near, linker.left_out, linker.cut_off, hot_keys, linking.surroundings
    )


class _Linking:
    """One search for all pairs; this many ``numbers`` are sorted at once."""

    def __init__(
        self,
        store: FingerprintStore,
        criteria: Criteria,
        comparison: Comparison,
        numbers: int,
        spools: Spools,
        bounds: Bounds,
    ) -> None:
        self._new = bounds.new
        self._store = store
        # Documents of the same class of a scope may stand for one another, unless pairs must differ or be near in time.
        self._scopes = store.scopes if store.scopes and store.scopes.by_pairs else None
        self._criteria = criteria
        self._comparison = comparison
        self._numbers = numbers
        self._spools = spools
        self.pairs = Records(spools, pair_type(criteria))
        self.union = UnionFind(len(store))
        self.surroundings: Surroundings | None = None

    def linker(self, all: int, few: int, most: int | None = None, hot: HotKeys | None = None) -> Linker | ScopedLinker:
        """Return what links the documents that share a key."""
        return ScopedLinker(self._scopes, all, few, most, hot) if self._scopes else Linker(all, few, most, hot)

    def add(self, batches: Iterator[Pairs]) -> int:
        """Store and count pairs."""
        before = len(self.pairs)
        for pairs in batches:
            self.pairs.append(pairs)
            self.union.union(pairs["first"], pairs["second"])
        return len(self.pairs) - before

    def identical(self) -> Iterator[Pairs]:
        """Yield the pairs of equal texts; the first stands for the others, and is compared alone, if it can."""
        if self._scopes:
            for codes in self.linker(ALL, FEW).pairs(self._sorted(self._store.by_content())):
                yield identical_pairs(self._store, codes, self._criteria)
            return
        for codes in Linker(_NEXT, _NEXT).pairs(self._sorted(self._store.by_content())):
            pairs = first_of_each(identical_pairs(self._store, codes, self._criteria))
            # More pairs with the same second document may come with the next codes.
            new = pairs[self._store.compared[pairs["second"]]]
            self._store.compared[new["second"]] = False
            yield new

    def near(self, linker: Linker | ScopedLinker, most: int | None) -> Iterator[Pairs]:
        """Yield the pairs that share a key and are near-duplicates."""
        measured = self._measured(linker, self._new)
        crowding = self._criteria.crowding
        if crowding:
            # Only when all pairs are known, so are the surroundings by which each is judged.
            self.surroundings = self._around_copies(crowding)
            kept = Records(self._spools, pair_type(self._criteria))
            for pairs in measured:
                kept.append(pairs)
                self.surroundings.add(pairs["first"], pairs["second"], pairs["similarity"], crowding)
            self._add_surroundings_of_old(kept, crowding, self.linker(ALL, FEW, most))
            measured = iter(kept)
        for pairs in measured:
            yield self._comparison.near(pairs, self.surroundings)

    def _around_copies(self, crowding: Crowding) -> Surroundings:
        """Return the surroundings that equal texts make; so far only these are linked."""
        if self._scopes:
            found = Surroundings.of_copies(np.ones(len(self._store), dtype=np.int64))
            for pairs in self.pairs:
                found.add(pairs["first"], pairs["second"], np.ones(len(pairs)), crowding)
            return found
        firsts = self.union.groups().firsts
        counts: Integers = np.bincount(firsts, minlength=len(firsts))[firsts]
        return Surroundings.of_copies(counts)

    def _add_surroundings_of_old(self, kept: Records, crowding: Crowding, linker: Linker | ScopedLinker) -> None:
        """Take in what is around the old documents that new ones are similar to: other old ones."""
        if self._new is None or self.surroundings is None:
            return
        touched = np.zeros(len(self._new), dtype=np.bool_)
        for pairs in kept:
            touched[pairs["first"]] = touched[pairs["second"]] = True
        touched &= ~self._new
        for pairs in self._measured(linker, touched):
            old = pairs[~(self._new[pairs["first"]] | self._new[pairs["second"]])]
            self.surroundings.add(old["first"], old["second"], old["similarity"], crowding)

    def _measured(self, linker: Linker | ScopedLinker, wanted: npt.NDArray[np.bool_] | None) -> Iterator[Pairs]:
        """Compare the pairs that share a key, or those that have a wanted document."""
        candidates = Candidates(self._spools, self._numbers)
        for number, table in enumerate(self._store.by_key(self._criteria)):
            for codes in linker.pairs(self._sorted(table), number):
                candidates.add(_with(wanted, codes))
        for codes in candidates.distinct(len(self._store)):
            yield from self._comparison.measured(codes)

    def _sorted(self, read: Read) -> Iterator[Numbers]:
        grain = 1 << POSITION_BITS if self._scopes else 1
        return sorted_pieces(read, len(self._store), 1 << 64, self._numbers, grain)


def _with(wanted: npt.NDArray[np.bool_] | None, codes: Numbers) -> Numbers:
    """Return the pairs that have a wanted document."""
    if wanted is None:
        return codes
    first, second = positions(codes)
    return codes[wanted[first] | wanted[second]]
