"""What keys of fingerprints find, and what they cost.

Candidates are the documents that the index returns for a query. The numbers here are for random documents, which have
nothing to do with the query, and whose fingerprints are uniformly random bits. Real fingerprints are skewed and meet
more.

How many bands should a candidate share with a text? The more are asked for, the fewer documents are met by chance.
Two documents of Jaccard similarity j agree on a row of their signatures with the probability j, and where they do not,
the v bits of it that a key holds agree with ``2**-v``. So they agree on a band of r rows with the probability
``(j + (1 - j) 2**-v)**r``, and the number of bands on which they agree follows the binomial distribution.

Of 36 bands of 3 rows, documents with nothing but words in common seldom share two, near-duplicates nearly always do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from math import comb
from typing import TypeAlias

from es_simhash.sketches.bands import Bands
from es_simhash.sketches.blocks import Blocks, PrefixTables


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


# Jaccard similarities of pairs of unrelated documents, each with its share of these pairs.
Similarities: TypeAlias = Sequence[tuple[float, float]]
# English film reviews of 1.3 kB on average, 6.7 million pairs (aclImdb); texts in other languages have less in common.
REVIEWS: Similarities = (
    (0.0346, 0.5),
    (0.0535, 0.4),
    (0.0723, 0.09),
    (0.0913, 0.009),
    (0.1075, 0.0009),
    (0.1219, 0.0001),
)

# The share of the pairs that are just similar enough that every search has to find, and one in a large index.
_SURELY, _MOSTLY = 0.998, 0.95
# With more candidates by chance, reading them takes longer than the search itself.
MANY = 50.0


def sharing(similarity: float, bands: Bands, shared: int) -> float:
    """Return the probability that two documents of this Jaccard similarity share at least this many bands.

    >>> f"{sharing(0.6, Bands(36, 3, 24), 2):.3f}"
    '0.998'
    """
    agree = (similarity + (1 - similarity) * 2.0**-bands.value_bits) ** bands.rows
    fewer = (comb(bands.count, n) * agree**n * (1 - agree) ** (bands.count - n) for n in range(shared))
    return max(0.0, 1.0 - sum(fewer))


def by_chance(bands: Bands, shared: int, unrelated: Similarities = REVIEWS) -> float:
    """Return the share of the documents of an index that share this many bands with a text by chance."""
    return sum(share * sharing(similarity, bands, shared) for similarity, share in unrelated)


@cache
def least_shared(bands: Bands, similarity: float) -> int:
    """Return how many bands nearly all pairs of this Jaccard similarity share: at least one.

    >>> least_shared(Bands(36, 3, 24), 0.6), least_shared(Bands(32, 4, 30), 0.6)
    (2, 1)
    """
    return _most(bands, similarity, _SURELY, 1)


@cache
def shared_among(bands: Bands, least: int, similarity: float, documents: int) -> int:
    """Return how many bands to ask for in an index: more than the ``least`` only if it would have many candidates.

    Most of the pairs of this similarity have to share as many, too.

    >>> [shared_among(Bands(36, 3, 24), 2, 0.556, documents) for documents in (100_000, 10_000_000)]
    [2, 3]
    """
    most = _most(bands, similarity, _MOSTLY, least)
    return next((n for n in range(least, most) if documents * by_chance(bands, n) <= MANY), most)


def _most(bands: Bands, similarity: float, probability: float, least: int) -> int:
    """Return the most bands that pairs share with this probability, or the ``least``."""
    shared = least
    while shared < bands.count and sharing(similarity, bands, shared + 1) >= probability:
        shared += 1
    return shared
