"""The ceiling of any fingerprint: all pairs by the exact Jaccard similarity of their features.

Counting the postings of a document's features, as in a search engine, gives the number of features that it shares with
every other document, without estimates or candidates. Where that would take too long, a MinHash of 256 values finds
pairs with a probability of 0.999 at the lowest similarity, and they are compared exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers, offsets_from_counts
from es_simhash.groups.pairs.candidates import pair_codes
from es_simhash.groups.pairs.deduplicator import Deduplicator
from es_simhash.quality.predictions import PredictedPairs, predict_pairs
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.settings import MinHash, Settings
from es_simhash.scheme.verdict.verifier import plain
from es_simhash.text.features import FeatureBatch, distinct

# The lowest similarity of the pairs.
LEAST = 0.2
# The most postings to count, which takes some ten seconds.
_MOST_POSTINGS = 2_000_000_000
_SIZE = 256

Jaccards: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SimilarPairs:
    """All pairs with at least the similarity ``least``; ``is_complete`` unless some may be missing."""

    predicted: PredictedPairs
    least: float
    is_complete: bool


def similar_pairs(
    settings: Settings, texts: Sequence[str], originals: Integers, most: int = _MOST_POSTINGS
) -> SimilarPairs:
    """Find all similar pairs of texts by the exact Jaccard similarity of their sets of features.

    ``originals`` are the `first_positions` of the texts; up to ``most`` postings are counted one by one.
    """
    features = plain_features(settings, texts)
    _, feature, documents = np.unique(features.hashes, return_inverse=True, return_counts=True)
    # For each posting, those that follow it are counted.
    postings = int((documents * (documents - 1)).sum()) // 2
    if postings <= most:
        return SimilarPairs(_counted(features, feature.reshape(-1), documents), LEAST, True)
    return _by_keys(settings, texts, originals)


def plain_features(settings: Settings, texts: Sequence[str]) -> FeatureBatch:
    """Return the distinct features of each text."""
    made = fingerprinting.in_batches(texts, lambda some: fingerprinting.features_of_texts(plain(settings), some))
    batches = [distinct(FeatureBatch(batch.first_words, batch.offsets)) for batch in made]
    counts = np.concatenate([np.empty(0, np.int64), *(np.diff(batch.offsets) for batch in batches)])
    hashes = np.concatenate([np.empty(0, np.uint64), *(batch.hashes for batch in batches)])
    return FeatureBatch(hashes, offsets_from_counts(counts))


def _counted(features: FeatureBatch, feature: Integers, documents: Integers) -> PredictedPairs:
    counts = np.diff(features.offsets)
    postings = np.repeat(np.arange(len(counts)), counts)[np.argsort(feature, kind="stable")]
    ends = np.cumsum(documents)
    # For each feature the position after the last document seen.
    seen = ends - documents
    pairs, jaccards = [np.empty(0, np.uint64)], [np.empty(0, np.float64)]
    for document, size in enumerate(counts.tolist()):
        own = feature[features.offsets[document] : features.offsets[document + 1]]
        seen[own] += 1
        open_ = own[seen[own] < ends[own]]
        if not len(open_):
            continue
        slices = zip(seen[open_].tolist(), ends[open_].tolist(), strict=True)
        following = np.concatenate([postings[start:end] for start, end in slices])
        shared = np.bincount(following)
        others = np.flatnonzero(shared)
        jaccard = shared[others] / (size + counts[others] - shared[others])
        near = jaccard >= LEAST
        pairs.append(pair_codes(np.full(int(near.sum()), document), others[near]))
        jaccards.append(jaccard[near])
    found = np.concatenate(pairs)
    are_exact = np.ones(len(found), dtype=np.bool_)
    return PredictedPairs(found, np.concatenate(jaccards), are_exact, np.full(len(found), -1, dtype=np.int64))


def _by_keys(settings: Settings, texts: Sequence[str], originals: Integers) -> SimilarPairs:
    minhash = MinHash(size=_SIZE, similarity=LEAST)
    generous = replace(plain(settings), simhash=None, minhash=minhash, verification=None)
    with Deduplicator(generous, similarity=LEAST, verify="exact").run(_numbered(texts)) as duplicates:
        return SimilarPairs(predict_pairs(duplicates, originals), LEAST, False)


def _numbered(texts: Sequence[str]) -> list[tuple[str, str]]:
    return [(str(number), text) for number, text in enumerate(texts)]
