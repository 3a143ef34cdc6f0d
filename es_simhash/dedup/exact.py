"""Exact similarities of many pairs of texts, so many at a time as memory allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from es_simhash import fingerprinting
from es_simhash.arrays import Integers
from es_simhash.codes import Codes
from es_simhash.dedup.sorting import distinct
from es_simhash.dedup.spool import Strings
from es_simhash.features import FeatureBatch
from es_simhash.features import distinct as distinct_features
from es_simhash.settings import Settings, Verification
from es_simhash.verification import Similarities, Verifier, is_by_rarity, plain, rarity_of

# How much memory may be taken for each byte of a text that is compared, which becomes a hash in several arrays.
BYTES_A_BYTE = 512
# Of how many documents features are counted to tell which are common, or rare.
_SAMPLE = 1_000

# The texts of some documents, evenly spread.
Sample = Callable[[], Sequence[str]]


def sample_of(documents: int) -> Integers:
    """The positions of some among so many documents, evenly spread, to tell by them which features are common."""
    return np.unique(np.linspace(0, documents - 1, _SAMPLE).astype(np.int64)) if documents else np.empty(0, np.int64)


def verifier(settings: Settings, verification: Verification | None, sample: Sample, common: float | None) -> Verifier:
    """What compares texts: as ``verification`` says, or else by what their signatures estimate.

    Features that more than a share of documents have are ``common``, and do not count.
    """
    texts: Sequence[str] = ()
    if common is not None or is_by_rarity(settings, verification):
        texts = sample()
    left_out = None if common is None else _common_features(settings, texts, common)
    if verification is None:
        is_weighted = settings.minhash and settings.minhash.is_weighted
        of_signatures = settings if is_weighted else plain(settings)
        return Verifier(of_signatures, Verification(weights="scheme"), common=left_out)
    weights = rarity_of(settings, texts) if texts and is_by_rarity(settings, verification) else None
    return Verifier(settings, verification, weights, left_out)


def _common_features(settings: Settings, texts: Sequence[str], share: float) -> Codes:
    """The features that more than a share of some texts have, in ascending order."""
    batches = fingerprinting.in_batches(texts, lambda some: fingerprinting.features_of_texts(plain(settings), some))
    each = [distinct_features(FeatureBatch(batch.first_words, batch.offsets)).hashes for batch in batches]
    hashes, counts = np.unique(np.concatenate([np.empty(0, dtype=np.uint64), *each]), return_counts=True)
    common: Codes = hashes[counts > share * len(texts)]
    return common


def exact_similarities(
    verifier: Verifier, texts: Strings, first: Integers, second: Integers, limit: int
) -> Similarities:
    """The similarity of each pair of texts.

    The texts that are in memory at once have about ``limit`` bytes, or are those of a single pair.
    """
    found = np.empty(len(first), dtype=np.float64)
    for pairs in _in_parts(texts, first, second, limit):
        both = np.stack([first[pairs], second[pairs]])
        rows = distinct(np.sort(both, axis=None))
        found[pairs] = verifier.similarities(list(texts.take(rows)), np.searchsorted(rows, both))
    return found


def _in_parts(texts: Strings, first: Integers, second: Integers, limit: int) -> Iterator[slice]:
    """The pairs, cut where their texts exceed the limit."""
    both = np.stack([first, second])
    rows = distinct(np.sort(both, axis=None))
    ends = np.cumsum(texts.sizes(rows)[np.searchsorted(rows, both)].sum(axis=0))
    start = 0
    while start < len(first):
        read = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, read + limit, side="right")), start + 1)
        yield slice(start, stop)
        start = stop
