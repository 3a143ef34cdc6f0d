"""The ceiling of any fingerprint: all pairs by the exact Jaccard similarity of their features.

Counting the postings of a document's features, as in a search engine, gives the number of features that it shares with
every other document, without candidates. If all features are too many, samples of them estimate it (see
`es_simhash.quality.feature_samples`). If the texts are too many for that, a MinHash of 256 values finds pairs with a
probability of 0.999 at the lowest similarity, and they are compared exactly.

The keys of a scheme are below the ceiling: they find the pairs that share enough of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash._core.stages import counted_each
from es_simhash.groups.of_texts import group_texts
from es_simhash.groups.options import GroupOptions
from es_simhash.groups.pairs.candidates import pair_codes, positions
from es_simhash.groups.pairs.stored_rows import Numbers
from es_simhash.quality.feature_samples import MOST, FeatureSamples, sampled, standard_error
from es_simhash.quality.predictions import PredictedPairs, predict_pairs
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.fingerprint import STATUSES, Fingerprints
from es_simhash.scheme.query import Criteria, shared_bands
from es_simhash.scheme.settings import MinHash, Settings
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.scheme.verdict.verifier import plain
from es_simhash.text.features import FeatureBatch, distinct

# The lowest similarity of the pairs.
LEAST = 0.2
# The most postings to count, which takes some ten seconds.
_MOST_POSTINGS = 2_000_000_000
_SIZE = 256
# Pairs whose keys are compared at once.
_AT_ONCE = 1 << 14

Jaccards: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SimilarPairs:
    """All pairs with at least the similarity ``least``; ``is_complete`` unless some may be missing.

    Estimates have a ``standard_error`` of at most this much; 0 if all similarities are exact.
    """

    predicted: PredictedPairs
    least: float
    is_complete: bool
    standard_error: float = 0.0


def similar_pairs(
    settings: Settings,
    texts: Iterable[str],
    originals: Integers,
    most_postings: int = _MOST_POSTINGS,
    most_features: int = MOST,
) -> SimilarPairs:
    """Find all similar pairs of texts by the Jaccard similarity of their sets of features.

    ``texts`` are read once or twice, and ``originals`` are their `first_positions`. Up to ``most_features`` are held in
    memory, and up to ``most_postings`` counted one by one.
    """
    read = counted_each("Reading features", texts, len(originals))
    samples = sampled(feature_batches(settings, read), most_features)
    found = similar_among(samples, most_postings) if samples else None
    return found or _by_keys(settings, texts, originals)


def similar_among(samples: FeatureSamples, most_postings: int = _MOST_POSTINGS) -> SimilarPairs | None:
    """Find the similar pairs of texts by samples of their features; return None if that would take too long."""
    while samples.postings > most_postings:
        fewer = samples.halved()
        if fewer is None:
            return None
        samples = fewer
    pairs, jaccards, features = _counted(samples)
    levels = samples.levels[np.stack(positions(pairs))].max(axis=0)
    estimated = levels > 0
    error = standard_error(jaccards[estimated], features[estimated])
    predicted = PredictedPairs(pairs, jaccards, ~estimated, np.full(len(pairs), -1, dtype=np.int64))
    return SimilarPairs(predicted, LEAST, samples.are_complete, error)


class KeyMatcher:
    """The keys of texts: bands if similarities count, blocks if distances do."""

    def __init__(self, settings: Settings, criteria: Criteria, batches: Iterable[Fingerprints]) -> None:
        bands = settings.minhash.layout if settings.minhash and criteria.similarity is not None else None
        blocks = settings.simhash.layout if settings.simhash and criteria.distance is not None else None
        statuses, of_bands, of_blocks = [np.empty(0, dtype=np.uint8)], [], []
        for batch in batches:
            statuses.append(batch.statuses)
            if bands and batch.signatures is not None:
                of_bands.append(bands.values(batch.signatures))
            if blocks and batch.simhashes is not None:
                of_blocks.append(blocks.values(batch.simhashes))
        self._has_keys = np.concatenate(statuses) != STATUSES.index("empty")
        # The keys of each kind, a row for each text, and the number that must be shared.
        self._kinds: list[tuple[npt.NDArray[np.uint64], int]] = []
        if of_bands and settings.minhash:
            shared = shared_bands(settings.minhash, criteria, sum(map(len, of_bands)))
            self._kinds.append((np.concatenate(of_bands), shared))
        if of_blocks and blocks and criteria.distance is not None:
            self._kinds.append((np.concatenate(of_blocks), blocks.min_shared(criteria.distance)))

    @classmethod
    def of(cls, settings: Settings, criteria: Criteria, texts: Iterable[str]) -> KeyMatcher:
        """Make the keys of texts by a scheme."""

        def made(some: Sequence[str]) -> Fingerprints:
            return fingerprinting.fingerprints_of_texts(settings, some)

        return cls(settings, criteria, fingerprinting.in_batches(texts, made))

    def meet(self, pairs: Numbers) -> npt.NDArray[np.bool_]:
        """Return whether each pair shares enough keys that a search for one compares the other."""
        parts = [self._meet(pairs[start : start + _AT_ONCE]) for start in range(0, len(pairs), _AT_ONCE)]
        return np.concatenate([np.empty(0, dtype=np.bool_), *parts])

    def _meet(self, pairs: Numbers) -> npt.NDArray[np.bool_]:
        first, second = positions(pairs)
        met = np.zeros(len(pairs), dtype=np.bool_)
        for keys, least in self._kinds:
            met |= (keys[first] == keys[second]).sum(axis=1) >= least
        return met & self._has_keys[first] & self._has_keys[second]


def feature_batches(settings: Settings, texts: Iterable[str]) -> Iterator[FeatureBatch]:
    """Yield the distinct features of texts, in batches."""
    made = fingerprinting.in_batches(texts, lambda some: fingerprinting.features_of_texts(plain(settings), some))
    return (distinct(FeatureBatch(batch.first_words, batch.offsets)) for batch in made)


def _counted(samples: FeatureSamples) -> tuple[Numbers, Jaccards, Integers]:
    """Return the similar pairs, their similarities, and the number of features that these were computed from."""
    features, totals = samples.features, samples.totals()
    _, feature, documents = np.unique(features.hashes, return_inverse=True, return_counts=True)
    feature = feature.reshape(-1)
    counts = np.diff(features.offsets)
    postings = np.repeat(np.arange(len(counts)), counts)[np.argsort(feature, kind="stable")]
    ends = np.cumsum(documents)
    # For each feature the position after the last document seen.
    seen = ends - documents
    pairs, jaccards, unions = [np.empty(0, np.uint64)], [np.empty(0, np.float64)], [np.empty(0, np.int64)]
    for document in counted_each("Comparing all", range(len(counts)), len(counts)):
        own = feature[features.offsets[document] : features.offsets[document + 1]]
        seen[own] += 1
        open_ = own[seen[own] < ends[own]]
        if not len(open_):
            continue
        slices = zip(seen[open_].tolist(), ends[open_].tolist(), strict=True)
        following = np.concatenate([postings[start:end] for start, end in slices])
        shared = np.bincount(following)
        others = np.flatnonzero(shared)
        one = np.full(len(others), document)
        first, second = samples.totals_of(totals, one, others)
        union = first + second - shared[others]
        jaccard = shared[others] / union
        near = jaccard >= LEAST
        pairs.append(pair_codes(one[near], others[near]))
        jaccards.append(jaccard[near])
        unions.append(union[near])
    return np.concatenate(pairs), np.concatenate(jaccards), np.concatenate(unions)


def _by_keys(settings: Settings, texts: Iterable[str], originals: Integers) -> SimilarPairs:
    minhash = MinHash(size=_SIZE, similarity=LEAST)
    by_features = Verification.of_fingerprints(LEAST)
    generous = replace(plain(settings), simhash=None, minhash=minhash, verification=by_features)
    numbered = ((str(number), text) for number, text in enumerate(texts))
    with group_texts(numbered, generous, GroupOptions(similarity=LEAST)) as groups:
        return SimilarPairs(predict_pairs(groups, originals), LEAST, False)
