"""A simulated group run on several machines, each with a range of the keys and their pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from benchmarks.tables import Table
from es_simhash._core.arrays import Integers
from es_simhash.groups.pairs.candidates import POSITION_BITS, Linker, entries, positions
from es_simhash.groups.pairs.document_links import ALL, FEW
from es_simhash.groups.union_find import Groups, UnionFind

MACHINES = "Keys and pairs by machine"

Keys = npt.NDArray[np.uint32]

DOCUMENTS, TABLES, _MACHINES = 100_000, 8, (4, 16, 64)
# The probability that a document has its group's key in a table: that of four rows at a similarity of .88.
_KEPT = 0.6


def simulated(share: float = 1.0) -> Iterator[Table]:
    """Simulate documents, half of them in groups, without and with a key that one in twenty shares."""
    table = Table(
        MACHINES,
        [
            *("one key in common", "machines", "keys, most ÷ mean", "pairs, most ÷ mean", "pairs if all were made"),
            *("of these, most ÷ mean", "links to merge, % of the pairs", "groups"),
        ],
        f"{DOCUMENTS:,} documents with {TABLES} keys each; every machine has a range of the keys.",
    )
    documents = int(DOCUMENTS * share)
    for common in (0.0, 0.05):
        run = Run.of(keys(documents, common))
        for machines in _MACHINES:
            _add(table, common, machines, run)
    yield table


def keys(documents: int, common: float) -> Keys:
    """Draw the keys of documents, one row each; the share ``common`` has the same key in the first table."""
    rng = np.random.default_rng(4)
    sizes = np.minimum(1 + rng.pareto(1.2, documents), documents / 100).astype(np.int64)
    groups = np.repeat(np.arange(documents), sizes)[: documents // 2]
    of_groups = rng.integers(0, 1 << 32, (documents, TABLES), dtype=np.uint32)
    found = rng.integers(0, 1 << 32, (documents, TABLES), dtype=np.uint32)
    has = rng.random((len(groups), TABLES)) < _KEPT
    places = rng.permutation(documents)
    found[places[: len(groups)]] = np.where(has, of_groups[groups], found[places[: len(groups)]])
    found[places[: int(common * documents)], 0] = 0
    return found


@dataclass(frozen=True, eq=False)
class Run:
    """Hashes of all keys with their numbers of documents; pairs, and the hash that made each."""

    documents: int
    hashes: Integers
    sizes: Integers
    first: Integers
    second: Integers
    made_by: Integers

    @classmethod
    def of(cls, keys: Keys) -> Run:
        """Make the pairs of the keys as `es_simhash.groups.pairs` does, table by table."""
        hashes, sizes, pairs, made_by = [], [], [], []
        linker = Linker(ALL, FEW)
        for column in keys.T:
            own = entries(column.reshape(-1, 1), 0)
            of_documents = (own >> np.uint64(POSITION_BITS)).astype(np.int64)
            distinct, counts = np.unique(of_documents, return_counts=True)
            hashes.append(distinct)
            sizes.append(counts)
            for some in linker.pairs(iter([np.sort(own)])):
                pairs.append(some)
                made_by.append(of_documents[positions(some)[1]])
        first, second = positions(np.concatenate(pairs))
        return cls(len(keys), np.concatenate(hashes), np.concatenate(sizes), first, second, np.concatenate(made_by))

    @cached_property
    def groups(self) -> Groups:
        """Groups of all pairs, made in one place."""
        return _groups(self.documents, self.first, self.second)

    def stars(self, machines: int) -> tuple[Integers, Integers]:
        """Make each machine's links, as stars, before they are merged."""
        places = machine_of(self.made_by, machines)
        found = [_stars(self.first[places == each], self.second[places == each]) for each in range(machines)]
        return np.concatenate([first for first, _ in found]), np.concatenate([second for _, second in found])


def machine_of(hashes: Integers, machines: int) -> Integers:
    """Return the machine of each hash."""
    return hashes * machines >> (64 - POSITION_BITS)


def _stars(first: Integers, second: Integers) -> tuple[Integers, Integers]:
    """Link the documents of each component to its first."""
    documents, places = np.unique(np.concatenate([first, second]), return_inverse=True)
    groups = _groups(len(documents), *np.split(places, 2))
    later = ~groups.is_first
    return documents[groups.firsts[later]], documents[later]


def _groups(documents: int, first: Integers, second: Integers) -> Groups:
    union = UnionFind(documents)
    union.union(first, second)
    return union.groups()


def _add(table: Table, common: float, machines: int, run: Run) -> None:
    of_keys, of_pairs = machine_of(run.hashes, machines), machine_of(run.made_by, machines)
    of_all = run.sizes * (run.sizes - 1) // 2
    links = run.stars(machines)
    groups = _groups(run.documents, *links)
    assert np.array_equal(groups.firsts, run.groups.firsts)
    table.add(
        f"{common:.0%} of the documents" if common else "none",
        str(machines),
        _uneven(np.bincount(of_keys, run.sizes, machines)),
        _uneven(np.bincount(of_pairs, minlength=machines)),
        f"{of_all.sum() / len(run.first):.1f} times as many",
        _uneven(np.bincount(of_keys, of_all, machines)),
        f"{100 * len(links[0]) / len(run.first):.0f}",
        f"{len(groups):,}",
    )


def _uneven(loads: npt.NDArray[np.generic]) -> str:
    return f"{loads.max() / loads.mean():.2f}"
