"""Search by looking up all variants of the query, the codes within the distance, in a map of exact codes."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from es_simhash._core import bit_codes
from es_simhash.errors import SchemeError
from es_simhash.sketches import hamming
from es_simhash.sketches.in_memory.base import Search, SearchResult, ranked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from es_simhash._core.bit_codes import Codes

_MAX_VARIANTS = 1 << 20


def variant_count(bits: int, k: int) -> int:
    """Count the codes within ``k`` of any one code: the sum of C(bits, i) for i from 0 to k."""
    return sum(comb(bits, i) for i in range(min(k, bits) + 1))


class Variants(Search):
    """A map from codes to ids, in which all variants of a query are looked up: 43,745 for 64 bits and k = 3.

    All fingerprints met match, and the cost of a query does not depend on the size of the map.
    """

    def __init__(self, codes: Codes, bits: int, k: int) -> None:
        super().__init__(codes, bits, k)
        count = variant_count(bits, k)
        if count > _MAX_VARIANTS:
            raise SchemeError(
                f"A code of {bits} bits has {count:,} variants within distance {k}, more than "
                f"{_MAX_VARIANTS:,}. Choose a smaller k or another search."
            )
        self._ids: defaultdict[int, list[int]] = defaultdict(list)
        for row, code in enumerate(bit_codes.to_ints(codes)):
            self._ids[code].append(row)
        self._masks = list(_masks(bits, k))

    def search_many(self, queries: Codes, k: int) -> list[SearchResult]:
        """Find the fingerprints within ``k`` of each query."""
        self._check(queries, k)
        masks = self._masks[: variant_count(self.bits, k)]
        return [self._search(query, masks) for query in bit_codes.to_ints(queries)]

    def _search(self, query: int, masks: list[int]) -> SearchResult:
        met = [query ^ mask for mask in masks if query ^ mask in self._ids]
        ids = np.array([row for code in met for row in self._ids[code]], dtype=np.int64)
        distances = hamming.distances(self.codes[ids], bit_codes.from_ints([query], self.bits))
        return ranked(ids, distances, len(ids), len(ids))


def _masks(bits: int, k: int) -> Iterator[int]:
    """Yield what to flip for each variant, those with fewer flipped bits first."""
    single = [1 << position for position in range(bits)]
    for flips in range(min(k, bits) + 1):
        for chosen in combinations(single, flips):
            yield sum(chosen)
