"""Keys for an index of a given size: a model of candidates in vain, and the smallest bands that keep them few.

Two documents of Jaccard similarity j agree on a row of their signatures with the probability j, and where they do not,
the v bits of it that a key holds agree with ``2**-v``. A band of r rows agrees with ``(j + (1 - j) 2**-v)**r``.
Documents that have nothing in common, j = 0, give the result of `es_simhash.sketches.band_candidates`; real ones share
phrases, and meet more often.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from es_simhash.errors import SchemeError
from es_simhash.sketches.bands import BITS_A_DIGIT, Bands
from es_simhash.sketches.minhash.estimate import standard_error
from es_simhash.sketches.tradeoffs import fewest_bands

# Similarities of pairs of documents that are not near-duplicates, each with its share of these pairs.
Similarities: TypeAlias = Sequence[tuple[float, float]]
UNLIKE: Similarities = ((0.0, 1.0),)
# The texts of the benchmarks (the table "Similarities of unrelated documents" of benchmarks/simulated.md), in short.
TYPICAL: Similarities = (
    (0.0185, 0.0248),
    (0.0261, 0.5450),
    (0.0335, 0.4080),
    (0.0421, 0.0205),
    (0.0862, 0.00059),
    (0.0957, 0.00056),
    (0.1044, 0.00053),
    (0.1164, 0.00029),
    (0.1350, 0.00003),
)

# Bits of keys to choose from, and the fewest of them for a row, below which similarities are not estimated well.
KEY_BITS = range(24, 61, BITS_A_DIGIT)
LEAST_VALUE_BITS = 3
MOST_ROWS = KEY_BITS[-1] // LEAST_VALUE_BITS
# The most keys that a document gets, and values of its signature.
_MOST_BANDS, _MOST_VALUES = 300, 2048
# Keys are the signature, too: by it candidates are ranked and dropped.
_STANDARD_ERROR = 0.07
# What a key takes in the terms and postings of an index beside its digits: measured in docs/benchmarks.md, rounded up.
_BYTES_BESIDE_DIGITS = 1


@dataclass(frozen=True)
class Goal:
    """The goal for keys in a corpus of ``documents``: a ``recall``, with at most ``most`` false candidates a query.

    Without ``most``, the limit is a hundredth of the documents, but between 20 and 100: among them a search takes about
    as long in a large index as in a small one.
    """

    documents: int
    recall: float = 0.99
    most: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.recall < 1:
            raise SchemeError(f"Keys cannot have a recall of {self.recall!r}. Choose one above 0 and below 1.")
        if self.documents < 1:
            raise SchemeError(f"A corpus cannot have {self.documents} documents. Say how many the index will hold.")

    @property
    def candidates(self) -> float:
        """The limit of false candidates a query."""
        return min(max(self.documents / 100, 20.0), 100.0) if self.most is None else self.most


def agreeing(similarity: float, bands: Bands) -> float:
    """Return the probability that two documents have the same key in one band."""
    return (similarity + (1 - similarity) * 2.0**-bands.value_bits) ** bands.rows


def meeting(similarity: float, bands: Bands) -> float:
    """Return the probability that two documents have the same key in any band."""
    agree = agreeing(similarity, bands)
    return 1.0 if agree >= 1 else -math.expm1(bands.count * math.log1p(-agree))


def false_share(bands: Bands, similarities: Similarities) -> float:
    """Return the share of the documents that are candidates of a query but not near-duplicates."""
    return sum(share * meeting(similarity, bands) for similarity, share in similarities)


def indexed_bytes(bands: Bands) -> int:
    """Return about what the keys of bands take in an index, beside the documents: a document's."""
    return bands.count * (bands.key_digits + _BYTES_BESIDE_DIGITS)


def bytes_of(bands: Bands) -> int:
    """Return about what the keys of bands add to an index, a document: they stand there, too."""
    return bands.count * bands.key_digits + indexed_bytes(bands)


def bands_for(similarity: float, recall: float) -> Iterator[Bands]:
    """Yield the fewest bands of each number of rows that find this share of the pairs, with keys of all widths."""
    for rows in range(1, MOST_ROWS + 1):
        count = fewest_bands(similarity, recall, rows, _MOST_BANDS)
        if count is None:
            return
        for bits in KEY_BITS:
            if bits // rows >= LEAST_VALUE_BITS and count * rows <= _MOST_VALUES:
                bands = Bands(count, rows, bits)
                if standard_error(similarity, bands.size, bands.value_bits) <= _STANDARD_ERROR:
                    yield bands


def plan_keys(similarity: float, goal: Goal, similarities: Similarities = TYPICAL) -> Bands | None:
    """Choose the smallest bands that find the goal's share of the pairs of ``similarity``, with few enough candidates.

    If none have few enough, these are the ones with the fewest; None if no bands find as many pairs. ``similarities``
    are those of documents that are not near-duplicates.
    """
    found = [(goal.documents * false_share(each, similarities), each) for each in bands_for(similarity, goal.recall)]
    few = [(bytes_of(bands), candidates, bands) for candidates, bands in found if candidates <= goal.candidates]
    if few:
        return min(few, key=lambda each: each[:2])[-1]
    return min(found, key=lambda each: (each[0], bytes_of(each[1])), default=(0.0, None))[1]
