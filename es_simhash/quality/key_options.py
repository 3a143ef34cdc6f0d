"""Keys for a wanted recall: what they find, how much they let meet in vain, and what they cost; none for nothing.

Recall is expected by arithmetic, and measured on pairs that should be found. With bands a pair of Jaccard similarity j
meets with the probability 1 - (1 - j**r)**b. Each bit of two SimHashes differs with the probability arccos(c) / π
(Charikar, "Similarity estimation techniques from rounding algorithms", 2002), where sets of features of about the same
size have the cosine c = 2 j / (1 + j); within k bits they are by the binomial distribution.

Candidates of a query are told twice: those whose random keys collide, by arithmetic (see `sketches.tradeoffs`); and as
many as random texts of the sample, which share phrases, are to each other, scaled to the corpus.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from time import process_time

import numpy as np
import numpy.typing as npt

from es_simhash.errors import SchemeError
from es_simhash.groups.pairs.candidates import pair_codes, positions
from es_simhash.groups.pairs.sorting import Numbers
from es_simhash.live.doctor.disk import json_bytes
from es_simhash.quality.key_matches import KeyMatcher
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.fingerprint import Fingerprints
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import SimHash
from es_simhash.scheme.verification import Similarities
from es_simhash.sketches.hamming import distances
from es_simhash.sketches.tradeoffs import band_candidates, block_candidates, plan_blocks
from es_simhash.text.features import FeatureBatch
from es_simhash.text.hashing import poly64

SIZES, BITS = (64, 128, 256), (64, 128)
RECALLS = (0.9, 0.95, 0.99, 0.999)
# How many rows fewer than the most that suffice are tried: fewer keys, and more candidates.
_ROWS = 3
# A key of 30 bits holds three of each of so many rows; of fewer, similarities cannot be estimated well.
_MOST_ROWS = 10
# A difference of processor time that is no accident of measuring.
_CPU = 1.1
# With so many times the candidates that are asked for nobody wants an option.
_TOO_MANY = 10
_WORD = 64


@dataclass(frozen=True)
class Goal:
    """What is asked of keys: that they find the share ``recall`` of the pairs, with few candidates a query.

    A corpus of ``documents`` is searched; without ``most``, few are a hundredth of them, but 20 to 1,000.
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
        """How many candidates in vain are few."""
        return min(max(self.documents / 100, 20.0), 1_000.0) if self.most is None else self.most


@dataclass(frozen=True)
class KeyOption:
    """A scheme with what it finds and what it costs: candidates are of a query, bytes and seconds of a document."""

    scheme: Scheme
    expected_recall: float
    recall: float
    random_candidates: float
    candidates: float
    json_bytes: int
    cpu_seconds: float

    def is_beaten_by(self, other: KeyOption) -> bool:
        """Whether another is better in something, and worse in nothing.

        Blocks are compared with blocks only: bits alone decide then, and no text is read.
        """
        if (self.scheme.minhash is None) != (other.scheme.minhash is None):
            return False
        is_no_worse = all(b <= a for a, b in zip(self._worth, other._worth, strict=True))
        return is_no_worse and other._worth != self._worth and other.cpu_seconds <= _CPU * self.cpu_seconds

    @property
    def _worth(self) -> tuple[float, float, int]:
        """What makes a difference to somebody who has to choose; the less the better."""
        return -round(self.expected_recall, 3), float(f"{self.candidates:.1g}"), self.json_bytes


@dataclass(frozen=True, eq=False)
class Probe:
    """What options are measured on.

    ``texts`` are random ones, of which the pairs ``alike`` are no candidates in vain; ``pairs`` are to be found among
    the texts of ``wanted``, and ``jaccards`` are the plain similarities of such pairs.
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
        """The fingerprints of the texts that are to be found."""
        if isinstance(self.wanted, FeatureBatch):
            return [fingerprinting.fingerprints(scheme, _as_wide(self.wanted, scheme.hash_bits))]
        return list(scheme.fingerprint_batches(self.wanted))


def _as_wide(features: FeatureBatch, bits: int) -> FeatureBatch:
    """The features with hashes of so many bits; further ones are made of the first 64."""
    if bits <= _WORD:
        return features
    return replace(features, hashes=np.stack([features.hashes, poly64.fmix64(features.hashes)], axis=1))


def key_options(base: Scheme, probe: Probe, goal: Goal) -> list[KeyOption]:
    """The options of which none is beaten, by their expected recall.

    ``base`` has the features, the verification, and the similarity of MinHash, from which pairs are to be found.
    """
    found = sorted([*_by_bands(base, probe, goal), *_by_blocks(base, probe, goal)], key=lambda each: each.candidates)
    found = [each for each in found if each.candidates <= _TOO_MANY * goal.candidates] or found
    front = [each for each in found if not any(each.is_beaten_by(other) for other in found)]
    return sorted(front, key=lambda each: (each.expected_recall, -each.candidates))


def choose(front: Sequence[KeyOption], goal: Goal) -> KeyOption:
    """Of those that find enough, and whose texts are compared, the smallest with few enough candidates.

    Where all have more, that with the fewest candidates.
    """
    by_texts = [each for each in front if each.scheme.minhash]
    if not by_texts:
        raise SchemeError("No keys find pairs that are so little similar. Ask for a higher similarity.")
    enough = [each for each in by_texts if each.expected_recall >= goal.recall] or by_texts
    few = [each for each in enough if each.candidates <= goal.candidates]
    if few:
        return min(few, key=lambda each: (each.json_bytes, each.candidates))
    return min(enough, key=lambda each: (each.candidates, each.json_bytes))


# ---- bands


def _by_bands(base: Scheme, probe: Probe, goal: Goal) -> Iterator[KeyOption]:
    assert base.minhash
    for size in SIZES:
        layouts = sorted(set(_layouts(probe.jaccards, size, {*RECALLS, goal.recall})))
        if not layouts:
            continue
        signed = replace(base, simhash=None, minhash=replace(base.minhash, size=size, bands=1, rows=1))
        measuring = _Measuring(signed, probe, goal)
        for bands, rows in layouts:
            minhash = replace(base.minhash, size=size, bands=bands, rows=rows)
            yield measuring.option(
                replace(signed, minhash=minhash),
                Criteria(None, minhash.similarity),
                _expected(probe.jaccards, bands, rows),
                band_candidates(bands, rows * minhash.layout.value_bits, goal.documents),
            )


def _layouts(jaccards: Similarities, size: int, recalls: Iterable[float]) -> Iterator[tuple[int, int]]:
    """For each recall the fewest bands that are expected to have it, of the most rows that can be and of some fewer."""
    for recall in recalls:
        most = min(size, _MOST_ROWS)
        there = ((_fewest(jaccards, rows, size // rows, recall), rows) for rows in range(most, 0, -1))
        enough = ((bands, rows) for bands, rows in there if bands)
        yield from (layout for layout, _ in zip(enough, range(_ROWS), strict=False))


def _fewest(jaccards: Similarities, rows: int, most: int, recall: float) -> int:
    """The fewest bands with the recall; 0 if so many have not."""
    if _expected(jaccards, most, rows) < recall:
        return 0
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _expected(jaccards, middle, rows) >= recall else (middle, high)
    return high


def _expected(jaccards: Similarities, bands: int, rows: int) -> float:
    """The share of pairs that are expected to share a band."""
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
                continue  # so far apart are random texts too
            measuring = measuring or _Measuring(plain, probe, goal)
            yield measuring.option(
                replace(plain, simhash=SimHash(bits, plan.blocks, distance)),
                Criteria(distance, None),
                _within(probe.jaccards, bits, distance),
                block_candidates(bits, plan.blocks, plan.min_shared, goal.documents),
            )


def _within(jaccards: Similarities, bits: int, distance: int) -> float:
    """The share of pairs whose SimHashes are expected to be within so many bits."""
    differ = np.arccos(np.clip(2 * jaccards / (1 + jaccards), 0.0, 1.0)) / math.pi
    terms = (math.comb(bits, k) * differ**k * (1 - differ) ** (bits - k) for k in range(distance + 1))
    return float(np.minimum(sum(terms, np.zeros(len(jaccards))), 1.0).mean())


# ---- measuring


class _Measuring:
    """Measures keys that are made of the same fingerprints, which are made once."""

    def __init__(self, scheme: Scheme, probe: Probe, goal: Goal) -> None:
        self._probe, self._goal = probe, goal
        list(scheme.fingerprint_batches(probe.texts[:1]))  # what is loaded when it is first needed
        started = process_time()
        self._random = list(scheme.fingerprint_batches(probe.texts))
        self._seconds = (process_time() - started) / max(len(probe.texts), 1)
        self._wanted = probe.fingerprints(scheme)

    def option(self, scheme: Scheme, criteria: Criteria, expected: float, random: float) -> KeyOption:
        """What a scheme with these fingerprints finds and costs."""
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
        """Whether each pair that should be found is: it meets, or is within the distance, and then is sure to meet."""
        if criteria.distance is None:
            return KeyMatcher(scheme, criteria, self._wanted).meet(self._probe.pairs)
        simhashes = np.concatenate([batch.simhashes for batch in self._wanted if batch.simhashes is not None])
        first, second = positions(self._probe.pairs)
        return distances(simhashes[first], simhashes[second]) <= criteria.distance


def _mean(met: npt.NDArray[np.bool_]) -> float:
    return float(met.mean()) if len(met) else math.nan
