"""Bands and blocks for a recall goal: what they find, how many false candidates they make, and what they cost.

The expected recall is computed, and the recall is measured on pairs that should be found. With bands, a pair with the
Jaccard similarity j shares a key with the probability 1 - (1 - j**r)**b. Each bit of two SimHashes differs with the
probability arccos(c) / π (Charikar, "Similarity estimation techniques from rounding algorithms", 2002), where sets of
features of about the same size have the cosine c = 2 j / (1 + j); the distance follows the binomial distribution.

The false candidates of a query are given twice: random collisions of keys, computed (see `sketches.tradeoffs`); and
those among random texts of the sample, which share phrases, measured and scaled to the corpus.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from time import process_time

import numpy as np
import numpy.typing as npt

from es_simhash._core.stages import counted_each
from es_simhash.errors import SchemeError
from es_simhash.groups.pairs.candidates import pair_codes, positions
from es_simhash.groups.pairs.sorting import Numbers
from es_simhash.quality.key_matches import KeyMatcher
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.field_bytes import json_bytes
from es_simhash.scheme.fingerprint import Fingerprints
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import SimHash
from es_simhash.scheme.verdict.measures import Similarities
from es_simhash.sketches.hamming import distances
from es_simhash.sketches.key_plans import KEY_BITS, LEAST_VALUE_BITS, MOST_ROWS, Goal
from es_simhash.sketches.tradeoffs import band_candidates, block_candidates, plan_blocks
from es_simhash.text.features import FeatureBatch
from es_simhash.text.hashing import poly64

SIZES, BITS = (64, 128, 256, 512), (64, 128)
RECALLS = (0.9, 0.95, 0.99, 0.999)
# The number of row counts to try, from the largest that suffices down: fewer keys, and more candidates.
_ROWS = 3
# A ratio of processor times beyond measurement noise.
_CPU = 1.1
# Wider keys must have fewer candidates than this multiple.
_FEWER = 0.9
# Options with more than this multiple of the wanted candidates are dropped.
_TOO_MANY = 10
_WORD = 64


@dataclass(frozen=True)
class KeyOption:
    """A scheme with its recall and costs: candidates per query, bytes and seconds per document."""

    scheme: Scheme
    expected_recall: float
    recall: float
    random_candidates: float
    candidates: float
    json_bytes: int
    cpu_seconds: float

    def is_beaten_by(self, other: KeyOption) -> bool:
        """Return whether another option is better in some respect and worse in none.

        Blocks are compared with blocks only: with them bits alone decide, and no text is read.
        """
        if (self.scheme.minhash is None) != (other.scheme.minhash is None):
            return False
        is_no_worse = all(b <= a for a, b in zip(self._worth, other._worth, strict=True))
        return is_no_worse and other._worth != self._worth and other.cpu_seconds <= _CPU * self.cpu_seconds

    @property
    def _worth(self) -> tuple[float, float, int]:
        """The criteria of a choice, rounded; less is better."""
        return -round(self.expected_recall, 3), float(f"{self.candidates:.1g}"), self.json_bytes


@dataclass(frozen=True, eq=False)
class Probe:
    """The data that options are measured on.

    ``texts`` are random ones; their pairs ``alike`` are no false candidates. ``pairs`` should be found among the texts
    or features ``wanted``, and ``jaccards`` are the plain similarities of such pairs.
    """

    texts: Sequence[str]
    alike: Numbers
    wanted: Sequence[str] | FeatureBatch
    pairs: Numbers
    jaccards: Similarities

    @cached_property
    def others(self) -> Numbers:
        """All other pairs of the random texts."""
        first, second = np.triu_indices(len(self.texts), 1)
        return np.setdiff1d(pair_codes(first, second), self.alike, assume_unique=True)

    def fingerprints(self, scheme: Scheme) -> list[Fingerprints]:
        """Fingerprint the texts that should be found."""
        if isinstance(self.wanted, FeatureBatch):
            return [fingerprinting.fingerprints(scheme, _as_wide(self.wanted, scheme.hash_bits))]
        return list(scheme.fingerprint_batches(self.wanted))


def _as_wide(features: FeatureBatch, bits: int) -> FeatureBatch:
    """Widen the hashes of features to this number of bits, derived from the first 64."""
    if bits <= _WORD:
        return features
    return replace(features, hashes=np.stack([features.hashes, poly64.fmix64(features.hashes)], axis=1))


def key_options(base: Scheme, probe: Probe, goal: Goal) -> list[KeyOption]:
    """Return the options that no other beats, ordered by expected recall.

    ``base`` has the features, the verification, and MinHash's minimum similarity of pairs.
    """
    found = sorted([*_by_bands(base, probe, goal), *_by_blocks(base, probe, goal)], key=lambda each: each.candidates)
    found = [each for each in found if each.candidates <= _TOO_MANY * goal.candidates] or found
    front = [each for each in found if not any(each.is_beaten_by(other) for other in found)]
    return sorted(front, key=lambda each: (each.expected_recall, -each.candidates))


def choose(front: Sequence[KeyOption], goal: Goal) -> KeyOption:
    """Choose the smallest bands with enough recall and few enough candidates; failing that, the fewest candidates."""
    by_texts = [each for each in front if each.scheme.minhash]
    if not by_texts:
        raise SchemeError("No keys find pairs of so low a similarity. Ask for a higher one.")
    enough = [each for each in by_texts if each.expected_recall >= goal.recall] or by_texts
    few = [each for each in enough if each.candidates <= goal.candidates]
    if few:
        return min(few, key=lambda each: (each.json_bytes, each.candidates))
    return min(enough, key=lambda each: (each.candidates, each.json_bytes))


# ---- bands


def _by_bands(base: Scheme, probe: Probe, goal: Goal) -> Iterator[KeyOption]:
    assert base.minhash
    for size in counted_each("Measuring keys", SIZES, len(SIZES), "sizes"):
        layouts = sorted(set(_layouts(probe.jaccards, size, {*RECALLS, goal.recall})))
        if not layouts:
            continue
        signed = replace(base, simhash=None, minhash=replace(base.minhash, size=size, bands=1, rows=1))
        measuring = _Measuring(signed, probe, goal)
        for bands, rows in layouts:
            yield from _of_all_widths(measuring, signed, goal, probe, bands, rows)


def _of_all_widths(
    measuring: _Measuring, signed: Scheme, goal: Goal, probe: Probe, bands: int, rows: int
) -> Iterator[KeyOption]:
    """Measure keys of these bands, from the shortest on, as long as wider ones have fewer candidates."""
    assert signed.minhash
    expected, fewest = _expected(probe.jaccards, bands, rows), math.inf
    for bits in KEY_BITS:
        if bits // rows < LEAST_VALUE_BITS:
            continue
        minhash = replace(signed.minhash, bands=bands, rows=rows, key_bits=bits)
        by_chance = band_candidates(bands, rows * minhash.layout.value_bits, goal.documents)
        criteria = Criteria(None, minhash.similarity)
        option = measuring.option(replace(signed, minhash=minhash), criteria, expected, by_chance)
        if option.candidates + by_chance >= _FEWER * fewest:
            return
        fewest = option.candidates + by_chance
        yield option


def _layouts(jaccards: Similarities, size: int, recalls: Iterable[float]) -> Iterator[tuple[int, int]]:
    """Yield for each recall the fewest bands expected to reach it, with the most rows possible and some fewer."""
    for recall in recalls:
        most = min(size, MOST_ROWS)
        there = ((_fewest(jaccards, rows, size // rows, recall), rows) for rows in range(most, 0, -1))
        enough = ((bands, rows) for bands, rows in there if bands)
        yield from (layout for layout, _ in zip(enough, range(_ROWS), strict=False))


def _fewest(jaccards: Similarities, rows: int, most: int, recall: float) -> int:
    """Return the fewest bands with the recall; 0 if ``most`` bands miss it."""
    if _expected(jaccards, most, rows) < recall:
        return 0
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _expected(jaccards, middle, rows) >= recall else (middle, high)
    return high


def _expected(jaccards: Similarities, bands: int, rows: int) -> float:
    """Return the expected share of pairs with an equal band."""
    return float((1.0 - (1.0 - jaccards**rows) ** bands).mean())


# ---- blocks


def _by_blocks(base: Scheme, probe: Probe, goal: Goal) -> Iterator[KeyOption]:
    for bits in BITS:
        plain = replace(base, simhash=SimHash(bits, max(2, bits // 16), 1), minhash=None, verification=None)
        measuring: _Measuring | None = None
        for recall in sorted({*RECALLS, goal.recall}):
            distance = next(k for k in range(bits + 1) if _within(probe.jaccards, bits, k) >= recall or k == bits)
            try:
                plan = plan_blocks(bits, distance, goal.documents, goal.candidates)
            except SchemeError:
                continue  # random texts are as near
            measuring = measuring or _Measuring(plain, probe, goal)
            yield measuring.option(
                replace(plain, simhash=SimHash(bits, plan.blocks, distance)),
                Criteria(distance, None),
                _within(probe.jaccards, bits, distance),
                block_candidates(bits, plan.blocks, plan.min_shared, goal.documents),
            )


def _within(jaccards: Similarities, bits: int, distance: int) -> float:
    """Return the expected share of pairs whose SimHashes differ in at most ``distance`` bits."""
    differ = np.arccos(np.clip(2 * jaccards / (1 + jaccards), 0.0, 1.0)) / math.pi
    terms = (math.comb(bits, k) * differ**k * (1 - differ) ** (bits - k) for k in range(distance + 1))
    return float(np.minimum(sum(terms, np.zeros(len(jaccards))), 1.0).mean())


# ---- measuring


class _Measuring:
    """Measures different keys of the same fingerprints."""

    def __init__(self, scheme: Scheme, probe: Probe, goal: Goal) -> None:
        self._probe, self._goal = probe, goal
        list(scheme.fingerprint_batches(probe.texts[:1]))  # loads what is loaded on first use
        started = process_time()
        self._random = list(scheme.fingerprint_batches(probe.texts))
        self._seconds = (process_time() - started) / max(len(probe.texts), 1)
        self._wanted = probe.fingerprints(scheme)

    def option(self, scheme: Scheme, criteria: Criteria, expected: float, random: float) -> KeyOption:
        """Measure a scheme with these fingerprints."""
        probe, documents = self._probe, len(self._probe.texts)
        in_vain = KeyMatcher(scheme, criteria, self._random).meet(probe.others).sum()
        others = max(documents * (documents - 1) / 2, 1)
        return KeyOption(
            scheme=scheme,
            expected_recall=expected,
            recall=_mean(self._found(scheme, criteria)),
            random_candidates=random,
            candidates=float(in_vain / others * max(self._goal.documents - 1, 0)),
            json_bytes=json_bytes(scheme),
            cpu_seconds=self._seconds,
        )

    def _found(self, scheme: Scheme, criteria: Criteria) -> npt.NDArray[np.bool_]:
        """Return whether each pair shares a key; within the distance, it is sure to share enough blocks."""
        if criteria.distance is None:
            return KeyMatcher(scheme, criteria, self._wanted).meet(self._probe.pairs)
        simhashes = np.concatenate([batch.simhashes for batch in self._wanted if batch.simhashes is not None])
        first, second = positions(self._probe.pairs)
        return distances(simhashes[first], simhashes[second]) <= criteria.distance


def _mean(met: npt.NDArray[np.bool_]) -> float:
    return float(met.mean()) if len(met) else math.nan
