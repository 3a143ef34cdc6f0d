"""What keys of fingerprints find, and what they cost.

Candidates are the documents that the index returns for a query. The numbers here are for random documents, which have
nothing to do with the query, and whose fingerprints are uniformly random bits. Real fingerprints are skewed and meet
more.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from es_simhash.sketches.blocks import Blocks
from es_simhash.sketches.manku import PrefixTables

if TYPE_CHECKING:
    from collections.abc import Sequence


def block_candidates(bits: int, blocks: int, min_shared: int, documents: int) -> float:
    """Return the expected number of random documents that share at least ``min_shared`` of the blocks with a query.

    Manku's tables with prefixes of ``min_shared`` blocks meet the same documents.
    """
    return documents * at_least([2.0**-width for width in Blocks(bits, blocks).widths], min_shared)


def manku_postings(bits: int, blocks: int, distance: int, documents: int) -> float:
    """Return the expected number of random entries in all of Manku's tables that have the query's prefix.

    A document in several tables counts each time; `block_candidates` says how many different ones there are.
    """
    return documents * sum(2.0**-width for width in PrefixTables(bits, blocks, distance).prefix_bits)


def band_probability(similarity: float, bands: int, rows: int) -> float:
    """Return the probability that a pair of Jaccard similarity j shares at least one band: 1 - (1 - j**r)**b."""
    return 1.0 - (1.0 - similarity**rows) ** bands


def at_least(probabilities: Sequence[float], count: int) -> float:
    """Return the probability that at least ``count`` of independent events of these probabilities happen."""
    happened = [1.0] + [0.0] * len(probabilities)
    for probability in probabilities:
        for events in range(len(probabilities), 0, -1):
            happened[events] += probability * (happened[events - 1] - happened[events])
        happened[0] *= 1.0 - probability
    return math.fsum(happened[count:])


def expected_choices(probabilities: Sequence[float], count: int) -> float:
    """Return the expected number of choices of ``count`` events of these probabilities that all happen.

    It is the elementary symmetric polynomial of that degree.
    """
    sums = [1.0] + [0.0] * count
    for probability in probabilities:
        for events in range(count, 0, -1):
            sums[events] += probability * sums[events - 1]
    return sums[count]
