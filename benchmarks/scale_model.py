"""The arithmetic of docs/scale.md: shards and times. `es_simhash.sketches.key_plans` counts candidates."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.scale_measured import Measured
from es_simhash.groups.pairs.choose_keys import with_bands_for
from es_simhash.groups.pairs.document_links import ALL, FEW
from es_simhash.plans.find_options import MOST_CANDIDATES
from es_simhash.scheme.settings import MinHash
from es_simhash.sketches.bands import Bands

SIZES = tuple(10**power for power in range(5, 10))
DEFAULT = MinHash()

# The advice of Elastic and AWS for a shard.
SHARD_BYTES, SHARD_DOCUMENTS = 30 * 10**9, 200_000_000


# ---- shards


def shards(documents: int, bytes_a_document: float) -> int:
    """Return the number of shards of the advised size."""
    return max(math.ceil(documents * bytes_a_document / SHARD_BYTES), math.ceil(documents / SHARD_DOCUMENTS))


# ---- time


@dataclass(frozen=True)
class Finding:
    """Milliseconds of a search: of the request, per candidate to fetch and compare, and per text."""

    request: float
    candidate: float
    text: float

    @classmethod
    def of(cls, measured: Measured) -> Finding:
        """Derive them from searches that differ in candidates and in reading texts."""
        candidate = (measured.find_estimates_ms - measured.find_few_bits_ms) / (
            measured.found_candidates - measured.found_few_bits
        )
        text = (measured.find_texts_ms - measured.find_estimates_ms) / measured.found_candidates
        return cls(measured.find_estimates_ms - measured.found_candidates * candidate, candidate, text)

    def __call__(self, candidates: float) -> float:
        """Return the time of a search; no more candidates are fetched than by default."""
        return self.request + min(candidates, MOST_CANDIDATES) * (self.candidate + self.text)


def backfill_seconds(documents: int, machines: int, measured: Measured) -> float:
    """Return the time if each machine writes to its own server at the measured rate."""
    return documents / (measured.backfill_rate * machines)


# ---- groups


def grouped_by(similarity: float) -> Bands:
    """Return the bands that group documents with the default fields, limited to the bits these hold."""
    chosen = with_bands_for(DEFAULT, similarity)
    return Bands(chosen.bands, chosen.rows, chosen.rows * DEFAULT.layout.value_bits)


def pairs_a_document(sharing: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the mean number of pairs per document for keys with ``sharing`` documents (see `Linker`)."""
    first = np.minimum(sharing, ALL + 1)
    return (first * (first - 1) / 2 + FEW * (sharing - first)) / sharing
