"""Search by comparing the query with every fingerprint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from es_simhash.sketches import hamming
from es_simhash.sketches.in_memory.base import Search, SearchResult, ranked

if TYPE_CHECKING:
    from es_simhash._core.bit_codes import Codes


class BruteForce(Search):
    """No index: all N fingerprints are candidates of every query."""

    def search_many(self, queries: Codes, k: int) -> list[SearchResult]:
        """Find the fingerprints within ``k`` of each query."""
        self._check(queries, k)
        return [self._search(query, k) for query in queries]

    def _search(self, query: Codes, k: int) -> SearchResult:
        distances = hamming.distances(self.codes, query)
        ids = np.flatnonzero(distances <= k)
        return ranked(ids, distances[ids], len(self.codes), len(self.codes))
