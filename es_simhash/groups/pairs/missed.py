"""How many near-duplicates a search by keys has missed, estimated by some documents that are compared with all others.

The documents are drawn at random, and their signatures compared with every other one, whatever keys they share. Each
near-duplicate of theirs in another group was missed. If m of n documents were drawn, and c were missed, about
n / m · c / 2 pairs are missing, since a pair has two ends. The bounds are those of the score interval of a Poisson
count at 95%: c + 1.92 ∓ 1.96 · sqrt(c + 0.96).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash._core.stages import counted_arrays
from es_simhash.groups.pairs.candidates import pair_codes
from es_simhash.groups.pairs.compare import Comparison, Pairs
from es_simhash.groups.pairs.fingerprint_store import FingerprintStore
from es_simhash.groups.pairs.pair_rows import agreements_with
from es_simhash.groups.pairs.sorting import Numbers
from es_simhash.sketches.minhash.estimate import similarities_of_shares

# Signatures compared with one another, which takes some seconds, and the most documents drawn.
_COMPARISONS, _MOST = 1 << 27, 1000
_QUANTILE = 1.96


@dataclass(frozen=True)
class Missed:
    """Of ``drawn`` documents, compared with all others, ``found`` near-duplicates are in other groups.

    So about ``pairs`` are missing among all documents, with a probability of 95% between ``low`` and ``high``.
    """

    drawn: int
    found: int
    pairs: int
    low: int
    high: int

    @classmethod
    def of(cls, drawn: int, documents: int, found: int) -> Missed:
        """Estimate what is missing among all documents; nothing is uncertain if all were drawn."""
        scale = documents / drawn / 2 if drawn else 0.0
        if drawn == documents:
            low = high = float(found)
        else:
            middle, spread = found + _QUANTILE**2 / 2, _QUANTILE * (found + _QUANTILE**2 / 4) ** 0.5
            low, high = max(middle - spread, 0.0), middle + spread
        return cls(drawn, found, *(round(scale * count) for count in (found, low, high)))


def missed(
    store: FingerprintStore,
    comparison: Comparison,
    groups: Integers,
) -> Missed:
    """Estimate how many pairs of near-duplicates are in different ``groups``, given the group of each document."""
    compared = np.flatnonzero(store.compared)
    most = min(_MOST, max(_COMPARISONS // max(len(store), 1), 1))
    drawn = np.sort(np.random.default_rng(len(store)).permutation(compared)[:most])
    note, found = comparison.note(), 0
    for codes in _similar(store, comparison.lowest, drawn):
        for pairs in comparison.measured(codes):
            found += _in_other_groups(comparison.near(pairs), groups, drawn)
    comparison.go_on(note)
    return Missed.of(len(drawn), len(compared), found)


def _in_other_groups(near: Pairs, groups: Integers, drawn: Integers) -> int:
    """Count for each document drawn its near-duplicates in other groups."""
    apart = near[groups[near["first"]] != groups[near["second"]]]
    return sum(int(np.isin(apart[side], drawn).sum()) for side in ("first", "second"))


def _similar(store: FingerprintStore, least: float, drawn: Integers) -> Iterator[Numbers]:
    """Yield the pairs of the documents drawn with all others whose estimates are not too low, each once."""
    minhash = store.settings.minhash
    assert minhash
    own, start = store.values.take(drawn), 0
    signatures = store.values.columns(range(minhash.size))
    for rows in counted_arrays("Estimating what is missed", signatures, len(store), "documents"):
        documents = np.arange(start, start + len(rows))
        shares = agreements_with(own, np.ascontiguousarray(rows), store.value_bits) / minhash.size
        alike = similarities_of_shares(shares, store.value_bits) >= least
        alike &= store.compared[documents] & (drawn[:, None] != documents)
        # Of two documents that were both drawn, the pair would come twice.
        alike &= ~(np.isin(documents, drawn) & (documents < drawn[:, None]))
        one, other = np.nonzero(alike)
        first, second = drawn[one], documents[other]
        yield np.sort(pair_codes(np.minimum(first, second), np.maximum(first, second)))
        start += len(rows)
