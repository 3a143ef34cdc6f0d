"""Search by a plain inverted index of bit positions, counting the positions where fingerprints agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from es_simhash._core import bit_codes
from es_simhash.sketches.in_memory.base import Search, SearchResult, ranked

if TYPE_CHECKING:
    from es_simhash._core.bit_codes import Codes


class BitPositions(Search):
    """A posting list for each bit position and value: for 64 bits, 64 maps of two keys.

    A query reads, for each position, the list of its own bit. A fingerprint in c of the lists is at distance
    ``bits - c``, so nothing needs to be compared; but each list holds half of all fingerprints, and a query meets
    nearly every one. It shows why an index needs longer keys.
    """

    def __init__(self, codes: Codes, bits: int, k: int) -> None:
        super().__init__(codes, bits, k)
        columns = [bit_codes.extract(codes, bits, position, 1) for position in range(bits)]
        self._postings = [
            tuple(np.flatnonzero(column == value).astype(np.uint32) for value in (0, 1)) for column in columns
        ]

    def search_many(self, queries: Codes, k: int) -> list[SearchResult]:
        """Find the fingerprints within ``k`` of each query."""
        self._check(queries, k)
        return [self._search(query, k) for query in bit_codes.to_ints(queries)]

    def _search(self, query: int, k: int) -> SearchResult:
        agreeing = np.zeros(len(self.codes), dtype=np.uint8)
        postings = 0
        for position, lists in enumerate(self._postings):
            ids = lists[query >> (self.bits - 1 - position) & 1]
            agreeing[ids] += np.uint8(1)
            postings += len(ids)
        distances = np.uint8(self.bits) - agreeing
        found = np.flatnonzero(distances <= k)
        return ranked(found, distances[found], int(np.count_nonzero(agreeing)), postings)
