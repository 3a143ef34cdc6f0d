"""The common interface of all searches of `es_simhash.sketches.in_memory`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from es_simhash._core import bit_codes
from es_simhash._core.bit_codes import check_codes
from es_simhash.errors import SchemeError
from es_simhash.sketches.hamming import check_distance

if TYPE_CHECKING:
    from es_simhash._core.bit_codes import Codes
    from es_simhash.sketches.hamming import Distances

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SearchResult:
    """What a search found, and its cost. An id is a fingerprint's row in the set that is searched."""

    ids: Ids
    """All fingerprints within the distance, the nearest first, equally near ones in ascending order."""
    distances: Distances
    """Their Hamming distances."""
    candidates: int
    """The number of fingerprints that the query met and was compared with, each counted once."""
    postings: int
    """The number of index entries that were read; a fingerprint met several times counts each time."""


class Search(ABC):
    """An exact search of a fixed set of fingerprints for those within a Hamming distance of a query.

    A search is built for distances up to ``k``, which some searches need to know beforehand. All give the same ids and
    distances; they differ in time, memory, and the candidates and postings of the result.
    """

    def __init__(self, codes: Codes, bits: int, k: int) -> None:
        self.codes = check_codes(codes, bits).copy()
        self.bits = bits
        self.k = check_distance(k)

    @abstractmethod
    def search_many(self, queries: Codes, k: int) -> list[SearchResult]:
        """Find the fingerprints within ``k`` of each query."""

    def search(self, query: int, k: int) -> SearchResult:
        """Find the fingerprints within ``k`` of the query, a code given as an integer."""
        return self.search_many(bit_codes.from_ints([query], self.bits), k)[0]

    def _check(self, queries: Codes, k: int) -> None:
        check_codes(queries, self.bits)
        if check_distance(k) > self.k:
            raise SchemeError(
                f"A search built for distances up to {self.k} cannot answer for {k}. Build it with k={k}."
            )


def ranked(ids: Ids, distances: Distances, candidates: int, postings: int) -> SearchResult:
    """Return the result with the ids in their order."""
    order = np.lexsort((ids, distances))
    return SearchResult(ids[order], distances[order], candidates, postings)
