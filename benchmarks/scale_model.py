"""What docs/scale.md computes with: the default scheme, how it searches and groups, and the sizes of indices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from es_simhash import Scheme
from es_simhash.groups.corpus import ALL, FEW
from es_simhash.groups.pairs.fingerprint_store import value_tables
from es_simhash.scheme.query import Criteria, shared_bands
from es_simhash.scheme.settings import MinHash, SimHash
from es_simhash.scheme.verification import Level
from es_simhash.sketches.keys import Bands, block_candidates

SIZES = tuple(10**power for power in range(5, 10))
MINHASH, SIMHASH = MinHash(), SimHash()


def criteria(level: Level) -> Criteria:
    """Return what near-duplicates at a level are."""
    scheme = Scheme()
    return Criteria.of(scheme, "minhash", similarity=level, verification=scheme.verification)


def shared(documents: int, level: Level = "near") -> int:
    """Return how many bands a candidate shares in an index of this size."""
    return shared_bands(MINHASH, criteria(level), documents)


def tables(level: Level = "near") -> Sequence[Sequence[int]]:
    """Return the tables by which `group` finds near-duplicates, each the places of its values."""
    return value_tables(MINHASH, criteria(level))


def in_words(bands: Bands, shared: int) -> str:
    """Describe keys, and how many a candidate shares."""
    return f"{shared} of {bands.count} × {bands.rows}, {bands.key_bits} bits"


def by_bits(distance: int, blocks: int = SIMHASH.blocks) -> float:
    """Return the share of random documents that are candidates within ``distance`` of 64 bits."""
    return block_candidates(SIMHASH.bits, blocks, blocks - distance, 1)


def pairs_a_document(sharing: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the mean number of pairs per document for keys with ``sharing`` documents (see `Linker`)."""
    first = np.minimum(sharing, ALL + 1)
    return (first * (first - 1) / 2 + FEW * (sharing - first)) / sharing
