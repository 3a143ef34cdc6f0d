"""The arithmetic of scale: candidates, bytes, shards, and hours of so many documents.

Two documents of Jaccard similarity j agree on a row of their signatures with the probability j, and where they do not,
the v bits of it that a key holds agree with 2**-v. A band of r rows agrees with (j + (1 - j) 2**-v)**r. Documents that
have nothing in common at all, j = 0, give what `es_simhash.sketches.tradeoffs.band_candidates` tells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from benchmarks.scale_measured import Measured
from es_simhash.errors import SchemeError
from es_simhash.groups.pairs.linking import ALL, FEW
from es_simhash.groups.pairs.tables import with_bands_for
from es_simhash.plans.find_options import MOST_CANDIDATES
from es_simhash.scheme.settings import MinHash
from es_simhash.sketches.bands import BITS_A_DIGIT, Bands
from es_simhash.sketches.tradeoffs import BlockPlan, plan_bands, plan_blocks

SIZES = tuple(10**power for power in range(5, 10))
DEFAULT = MinHash()

# What Elastic and AWS advise for a shard, and what Lucene can number.
SHARD_BYTES, SHARD_DOCUMENTS, LUCENE_DOCUMENTS = 30 * 10**9, 200_000_000, 2_147_483_519

# Signatures and keys that the planner is asked for.
SIGNATURES, KEY_BITS = (64, 128, 256, 512, 1024), (30, 36, 42, 48, 54, 60)
RECALL = 0.99

# Similarities of pairs of documents that are no duplicates, each with its share of such pairs.
Similarities: TypeAlias = Sequence[tuple[float, float]]
UNLIKE: Similarities = ((0.0, 1.0),)


# ---- candidates


def agreeing(similarity: float, bands: Bands) -> float:
    """The probability that two documents have the same key of one band."""
    return (similarity + (1 - similarity) * 2.0**-bands.value_bits) ** bands.rows


def meeting(similarity: float, bands: Bands) -> float:
    """The probability that two documents have the same key of any band."""
    return -math.expm1(bands.count * math.log1p(-agreeing(similarity, bands)))


def in_vain(bands: Bands, similarities: Similarities) -> float:
    """The share of the documents that are candidates of a query, and no duplicates."""
    return sum(share * meeting(similarity, bands) for similarity, share in similarities)


# ---- bytes and shards


@dataclass(frozen=True)
class KeyBytes:
    """What a document's fields take: all but the bands, and for each key of a band, and each character of it."""

    others: float
    key: float
    character: float

    @classmethod
    def of(cls, measured: Measured) -> KeyBytes:
        """By the layouts that were measured, which differ in their bands only."""
        bands, digits = DEFAULT.bands, DEFAULT.layout.key_digits
        shorter, longer = 24 // BITS_A_DIGIT, 36 // BITS_A_DIGIT
        character = (measured.bytes_of_36_bits - measured.bytes_of_24_bits) / (bands * (longer - shorter))
        key = (measured.default_bytes - measured.simhash_bytes) / bands - digits * character
        return cls(measured.simhash_bytes, key, character)

    def __call__(self, bands: Bands) -> float:
        """The bytes of a document with these bands."""
        return self.others + bands.count * (self.key + bands.key_digits * self.character)


def shards(documents: int, bytes_a_document: float) -> int:
    """So many that each is of the advised size."""
    return max(math.ceil(documents * bytes_a_document / SHARD_BYTES), math.ceil(documents / SHARD_DOCUMENTS))


# ---- layouts


def layouts(similarity: float) -> Iterator[Bands]:
    """What the planner makes of signatures and keys of all sizes for pairs of this similarity."""
    for size in SIGNATURES:
        for bits in KEY_BITS:
            try:
                plan = plan_bands(similarity, RECALL, size, 0, bits)
            except SchemeError:
                continue
            yield Bands(plan.bands, plan.rows, bits)


def smallest(similarity: float, is_enough: Callable[[Bands], bool], key_bytes: KeyBytes) -> Bands | None:
    """The layout of the fewest bytes of those that are enough; None if there is none."""
    return min(filter(is_enough, layouts(similarity)), key=key_bytes, default=None)


def blocks(bits: int, distance: int, documents: int, most: float) -> BlockPlan | None:
    """The planner's blocks; None if it has none with so few candidates."""
    try:
        return plan_blocks(bits, distance, documents, most)
    except SchemeError:
        return None


# ---- time


@dataclass(frozen=True)
class Finding:
    """Milliseconds of a search: the request, and each candidate that is fetched and compared, its text too."""

    request: float
    candidate: float
    text: float

    @classmethod
    def of(cls, measured: Measured) -> Finding:
        """By searches that differ in their candidates, and in whether texts are read."""
        candidate = (measured.find_bits_ms - measured.find_few_bits_ms) / (
            measured.found_bits - measured.found_few_bits
        )
        text = (measured.find_texts_ms - measured.find_estimates_ms) / measured.found_candidates
        return cls(measured.find_estimates_ms - measured.found_candidates * candidate, candidate, text)

    def __call__(self, candidates: float) -> float:
        """The time of a search with so many candidates; no more are fetched than a search does unless told to."""
        return self.request + min(candidates, MOST_CANDIDATES) * (self.candidate + self.text)


def backfill_seconds(documents: int, machines: int, measured: Measured) -> float:
    """The time if each machine writes to a server of its own as fast as the one that was measured."""
    return documents / (measured.backfill_rate * machines)


def grouping_seconds(documents: int, measured: Measured) -> float:
    """The time on one machine that sorts a table at once."""
    return documents * (measured.group_reading + measured.group_rest) / 1_000_000


# ---- groups

# As `es_simhash.groups.pairs` has it: what is kept of a document that is compared by MinHash (the hash of its text, its
# SimHash, a byte of each value), the memory for a number that is sorted, and how much smaller parts are made.
KEPT_BYTES = 16 + 8 + DEFAULT.layout.size
SORTED_BYTES, SLACK = 128, 1.25
UNION_BYTES = 4
# A row of Spark's widest step, as docs/spark.md has it.
SPARK_ROW_BYTES = 16


def grouped_by(similarity: float) -> Bands:
    """The bands by which documents with the default fields are grouped, of the bits that these hold."""
    chosen = with_bands_for(DEFAULT, similarity)
    return Bands(chosen.bands, chosen.rows, chosen.rows * DEFAULT.layout.value_bits)


def pairs_a_document(sharing: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """How many pairs are made for each document on average, where so many have a key (see `Linker` for which)."""
    first = np.minimum(sharing, ALL + 1)
    return (first * (first - 1) / 2 + FEW * (sharing - first)) / sharing


def passes(documents: int, memory: int) -> int:
    """How often each table of keys is read, so that what is sorted at a time fits the memory."""
    limit = memory // SORTED_BYTES
    return 1 if documents <= limit else int(SLACK * documents / limit) + 1
