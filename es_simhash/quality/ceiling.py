"""The ceiling of any fingerprint: all pairs by the exact Jaccard similarity of their features.

Counting the postings of a document's features, as in a search engine, gives the number of features that it shares with
every other document, without candidates. If there are too many features for that, a MinHash of 256 values finds pairs,
and they are compared exactly: of 3,000 generated texts all from a similarity of 0.3 on, and nine of ten from 0.2 on.

The keys of a scheme are below the ceiling: they find the pairs that share enough of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers, offsets_from_counts, rows_of
from es_simhash._core.batches import counted_each
from es_simhash.groups.of_texts import group_texts
from es_simhash.groups.options import GroupOptions
from es_simhash.groups.pairs.candidates import pair_codes, positions
from es_simhash.groups.pairs.stored_rows import Numbers
from es_simhash.quality.labels import PredictedPairs, predict_pairs
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.fingerprinting import EMPTY_STATUS, Fingerprints
from es_simhash.scheme.query import Criteria, shared_bands
from es_simhash.scheme.settings import MinHash, Settings
from es_simhash.scheme.verification import Verification
from es_simhash.scheme.verifier import Flags, Similarities, plain
from es_simhash.text.features import FeatureBatch, distinct

# The lowest similarity of the pairs.
LEAST = 0.2
# The most postings to count, which takes some ten seconds.
_MOST_POSTINGS = 2_000_000_000
# The most features of all texts: of 20 MB of English.
_MOST_FEATURES = 1 << 22
_SIZE = 256
# Pairs whose keys are compared at once.
_AT_ONCE = 1 << 14


@dataclass(frozen=True, eq=False)
class SimilarPairs:
    """All pairs with at least the similarity ``least``; ``is_complete`` unless some may be missing."""

    predicted: PredictedPairs
    least: float
    is_complete: bool


def similar_pairs(
    settings: Settings,
    texts: Iterable[str],
    originals: Integers,
    most_postings: int = _MOST_POSTINGS,
    most_features: int = _MOST_FEATURES,
) -> SimilarPairs:
    """Find all similar pairs of texts by the Jaccard similarity of their sets of features.

    ``texts`` are read once or twice, and ``originals`` are their `first_positions`. Up to ``most_features`` are held in
    memory, and up to ``most_postings`` counted one by one.
    """
    read = counted_each("Reading features", texts, len(originals))
    features = _all_of(feature_batches(settings, read), most_features)
    if features is None or _postings(features) > most_postings:
        return _by_keys(settings, texts, originals)
    pairs, jaccards = _counted(features)
    distances = np.full(len(pairs), -1, dtype=np.int64)
    return SimilarPairs(PredictedPairs(pairs, jaccards, np.ones(len(pairs), np.bool_), distances), LEAST, True)


class KeyMatcher:
    """The keys of texts: bands if similarities count, blocks if distances do."""

    def __init__(self, settings: Settings, criteria: Criteria, texts: Iterable[str]) -> None:
        bands = settings.minhash.layout if settings.minhash and criteria.similarity is not None else None
        blocks = settings.simhash.layout if settings.simhash and criteria.distance is not None else None
        statuses, of_bands, of_blocks = [np.empty(0, dtype=np.uint8)], [], []

        def made(some: Sequence[str]) -> Fingerprints:
            return fingerprinting.fingerprints_of_texts(settings, some)

        for batch in fingerprinting.in_batches(texts, made):
            statuses.append(batch.statuses)
            if bands and batch.signatures is not None:
                of_bands.append(bands.values(batch.signatures))
            if blocks and batch.simhashes is not None:
                of_blocks.append(blocks.values(batch.simhashes))
        self._has_keys = np.concatenate(statuses) != EMPTY_STATUS
        # The keys of each kind, a row for each text, and the number that must be shared.
        self._kinds: list[tuple[npt.NDArray[np.uint64], int]] = []
        if of_bands and settings.minhash:
            shared = shared_bands(settings.minhash, criteria, len(self._has_keys))
            self._kinds.append((np.concatenate(of_bands), shared))
        if of_blocks and blocks and criteria.distance is not None:
            self._kinds.append((np.concatenate(of_blocks), blocks.min_shared(criteria.distance)))

    def meet(self, pairs: Numbers) -> Flags:
        """Return whether each pair shares enough keys that a search for one compares the other."""
        found = np.zeros(len(pairs), dtype=np.bool_)
        for start in range(0, len(pairs), _AT_ONCE):
            met = found[start : start + _AT_ONCE]
            first, second = positions(pairs[start : start + _AT_ONCE])
            for keys, least in self._kinds:
                met |= (keys[first] == keys[second]).sum(axis=1) >= least
            met &= self._has_keys[first] & self._has_keys[second]
        return found


def feature_batches(settings: Settings, texts: Iterable[str]) -> Iterator[FeatureBatch]:
    """Yield the distinct features of texts, in batches."""
    made = fingerprinting.in_batches(texts, lambda some: fingerprinting.features_of_texts(plain(settings), some))
    return (distinct(FeatureBatch(batch.first_words, batch.offsets)) for batch in made)


def _all_of(batches: Iterable[FeatureBatch], most: int) -> FeatureBatch | None:
    """Return the features of all texts; None if they are more than ``most``."""
    hashes, counts = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    for batch in batches:
        hashes.append(batch.hashes)
        counts.append(np.diff(batch.offsets))
        most -= len(batch.hashes)
        if most < 0:
            return None
    return FeatureBatch(np.concatenate(hashes), offsets_from_counts(np.concatenate(counts)))


def _postings(features: FeatureBatch) -> int:
    """Return the number of pairs of texts that each feature makes, summed over all features."""
    _, documents = np.unique(features.hashes, return_counts=True)
    return int((documents * (documents - 1)).sum()) // 2


def _counted(features: FeatureBatch) -> tuple[Numbers, Similarities]:
    """Return the similar pairs, and their similarities."""
    totals = np.diff(features.offsets)
    _, feature, documents = np.unique(features.hashes, return_inverse=True, return_counts=True)
    feature = feature.reshape(-1)
    postings = rows_of(features.offsets)[np.argsort(feature, kind="stable")]
    ends = np.cumsum(documents)
    # For each feature the position after the last document seen.
    seen = ends - documents
    pairs, jaccards = [np.empty(0, np.uint64)], [np.empty(0, np.float64)]
    for document in counted_each("Comparing all", range(len(features)), len(features)):
        own = feature[features.offsets[document] : features.offsets[document + 1]]
        seen[own] += 1
        open_ = own[seen[own] < ends[own]]
        if not len(open_):
            continue
        slices = zip(seen[open_].tolist(), ends[open_].tolist(), strict=True)
        following = np.concatenate([postings[start:end] for start, end in slices])
        shared = np.bincount(following)
        others = np.flatnonzero(shared)
        jaccard = shared[others] / (totals[document] + totals[others] - shared[others])
        near = jaccard >= LEAST
        others = others[near]
        pairs.append(pair_codes(np.full(len(others), document), others))
        jaccards.append(jaccard[near])
    return np.concatenate(pairs), np.concatenate(jaccards)


def _by_keys(settings: Settings, texts: Iterable[str], originals: Integers) -> SimilarPairs:
    minhash = MinHash(size=_SIZE, similarity=LEAST)
    by_features = Verification.of_fingerprints(LEAST)
    generous = replace(plain(settings), simhash=None, minhash=minhash, verification=by_features)
    numbered = ((str(number), text) for number, text in enumerate(texts))
    with group_texts(numbered, generous, GroupOptions(similarity=LEAST)) as groups:
        return SimilarPairs(predict_pairs(groups, originals), LEAST, False)
