"""The ceiling of any fingerprint: all pairs by the exact Jaccard similarity of their features.

Counting the postings of a document's features, as in a search engine, gives the number of features that it shares with
every other document, without candidates. If all features are too many, samples of them estimate it. If the texts are
too many for that, a MinHash of 256 values finds pairs with a probability of 0.999 at the lowest similarity, and they
are compared exactly.

The hashes of features are mixed to numbers that are as good as random. A sample of the level l has the features whose
number begins with l zero bits: about one in 2**l. If all features are too many, texts with the most of them get the
lowest level at which they have no more than a limit: 4,096, or half of that and so on, the largest that suffices
(Flajolet, "On adaptive sampling", 1990). Two texts are compared by their features of the higher level of both, which
both samples have: with j of k features shared, their Jaccard similarity is about j / k, with the standard error
sqrt(j / k * (1 - j / k) / k) (Broder, "On the resemblance and containment of documents", 1997).

The keys of a scheme are below the ceiling: they find the pairs that share enough of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Codes, Integers, offsets_from_counts, rows_of, select
from es_simhash._core.stages import counted_each
from es_simhash.groups.of_texts import group_texts
from es_simhash.groups.options import GroupOptions
from es_simhash.groups.pairs.candidates import pair_codes, positions
from es_simhash.groups.pairs.stored_rows import Numbers
from es_simhash.quality.predictions import PredictedPairs, predict_pairs
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.fingerprint import EMPTY, Fingerprints
from es_simhash.scheme.query import Criteria, shared_bands
from es_simhash.scheme.settings import MinHash, Settings
from es_simhash.scheme.verdict.rule import Flags, Similarities
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.scheme.verdict.verifier import plain
from es_simhash.text.features import FeatureBatch, distinct
from es_simhash.text.hashing import registry

# The lowest similarity of the pairs.
LEAST = 0.2
# The most postings to count, which takes some ten seconds.
_MOST_POSTINGS = 2_000_000_000
# The most features of all texts: of 10 MB of English, or of 20 million documents' worth of samples.
_MOST_FEATURES = 1 << 21
# The limits to try; a sample has at least half as many features, unless the text has fewer.
_LEAST, _LARGEST, _NONE = 1 << 8, 1 << 12, 1 << 60
_BITS = 64
_SIZE = 256
# Pairs whose keys are compared at once.
_AT_ONCE = 1 << 14


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
    most_features: int = _MOST_FEATURES,
) -> SimilarPairs:
    """Find all similar pairs of texts by the Jaccard similarity of their sets of features.

    ``texts`` are read once or twice, and ``originals`` are their `first_positions`. Up to ``most_features`` are held in
    memory, and up to ``most_postings`` counted one by one.
    """
    read = counted_each("Reading features", texts, len(originals))
    samples = sampled(feature_batches(settings, read), most_features)
    while samples and samples.postings > most_postings:
        samples = samples.halved()
    if samples is None:
        return _by_keys(settings, texts, originals)
    pairs, jaccards, features = _counted(samples)
    is_estimated = samples.levels[np.stack(positions(pairs))].max(axis=0) > 0
    errors = np.sqrt(jaccards * (1 - jaccards) / np.maximum(features, 1))[is_estimated]
    predicted = PredictedPairs(pairs, jaccards, ~is_estimated, np.full(len(pairs), -1, dtype=np.int64))
    return SimilarPairs(predicted, LEAST, not samples.levels.any(), float(errors.max(initial=0.0)))


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
        self._has_keys = np.concatenate(statuses) != EMPTY
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


@dataclass(frozen=True, eq=False)
class FeatureSamples:
    """The distinct features of each text whose numbers begin with as many zero bits as its level says."""

    features: FeatureBatch
    levels: Integers

    @property
    def postings(self) -> int:
        """The number of pairs of texts that each feature makes, summed over all features."""
        _, documents = np.unique(self.features.hashes, return_counts=True)
        return int((documents * (documents - 1)).sum()) // 2

    def totals(self) -> Integers:
        """Return for each text, in a row, the number of its features at each level."""
        width, rows = int(self.levels.max(initial=0)) + 1, rows_of(self.features.offsets)
        cells = rows * width + np.minimum(_zeros(self.features.hashes), width - 1)
        counts = np.bincount(cells, minlength=len(self.levels) * width).reshape(-1, width)
        totals: Integers = counts[:, ::-1].cumsum(axis=1)[:, ::-1]
        return totals

    def totals_of(self, totals: Integers, first: Integers, second: Integers) -> tuple[Integers, Integers]:
        """Return the totals of both texts of each pair, at the higher level of both."""
        level = np.maximum(self.levels[first], self.levels[second])
        return totals[first, level], totals[second, level]

    def halved(self) -> FeatureSamples | None:
        """Return samples of at most half as many features a text, or None if they would say too little."""
        limit = 1 << (int(np.diff(self.features.offsets).max(initial=1)) - 1).bit_length() - 1
        return self.thinned(limit) if limit >= _LEAST else None

    def thinned(self, limit: int) -> FeatureSamples:
        """Raise the levels of texts until each has at most this number of features."""
        features, levels = self.features, self.levels
        while (many := np.diff(features.offsets) > limit).any():
            levels = levels + many
            hashes, offsets = select(
                features.hashes, features.offsets, _zeros(features.hashes) >= levels[rows_of(features.offsets)]
            )
            features = FeatureBatch(hashes, offsets)
        return FeatureSamples(features, levels)


def sampled(batches: Iterable[FeatureBatch], most: int = _MOST_FEATURES) -> FeatureSamples | None:
    """Sample the distinct features of texts, ``most`` in all; None if there are too many texts for that."""
    made: list[FeatureSamples] = []
    count, limit = 0, _NONE
    for batch in batches:
        made.append(FeatureSamples(batch, np.zeros(len(batch), dtype=np.int64)).thinned(limit))
        count += len(made[-1].features.hashes)
        while count > most:
            limit = min(limit // 2, _LARGEST)
            if limit < _LEAST:
                return None
            made = [some.thinned(limit) for some in made]
            count = sum(len(some.features.hashes) for some in made)
    counts = np.concatenate([np.empty(0, np.int64), *(np.diff(some.features.offsets) for some in made)])
    hashes = np.concatenate([np.empty(0, np.uint64), *(some.features.hashes for some in made)])
    levels = np.concatenate([np.empty(0, np.int64), *(some.levels for some in made)])
    return FeatureSamples(FeatureBatch(hashes, offsets_from_counts(counts)), levels)


def _zeros(hashes: Codes) -> Integers:
    """Return how many zero bits the number of each feature begins with."""
    # The exponent of a float of at most 53 bits is the number of its bits.
    lengths = np.frexp((registry.fmix64(hashes) >> np.uint64(11)).astype(np.float64))[1]
    zeros: Integers = (_BITS - 11 - lengths).astype(np.int64)
    return zeros


def _counted(samples: FeatureSamples) -> tuple[Numbers, Similarities, Integers]:
    """Return the similar pairs, their similarities, and the number of features that these were computed from."""
    features, totals = samples.features, samples.totals()
    _, feature, documents = np.unique(features.hashes, return_inverse=True, return_counts=True)
    feature = feature.reshape(-1)
    postings = rows_of(features.offsets)[np.argsort(feature, kind="stable")]
    ends = np.cumsum(documents)
    # For each feature the position after the last document seen.
    seen = ends - documents
    pairs, jaccards, unions = [np.empty(0, np.uint64)], [np.empty(0, np.float64)], [np.empty(0, np.int64)]
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
