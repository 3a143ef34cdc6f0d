"""What two fingerprints and two texts have in common: bits, keys, features, passages, and how similar they are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from es_simhash._core.arrays import Codes, Integers
from es_simhash._core.json_codec import Json
from es_simhash.plans.text_differences import compared_text
from es_simhash.scheme import fingerprinting, own_fields
from es_simhash.scheme.own_fields import KINDS, Kind
from es_simhash.scheme.passages import containment, runs_of
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import Passages, Settings
from es_simhash.scheme.verifier import comparable_features
from es_simhash.sketches import hamming, similarity
from es_simhash.sketches.minhash.common import estimate, standard_error
from es_simhash.text.features import UNIT, batch
from es_simhash.text.hashing import hash_tokens
from es_simhash.text.words import word_spans


@dataclass(frozen=True)
class ExactSimilarity:
    """Similarities of the texts themselves: ``weighted`` is what a search with ``verify`` compares.

    ``signed`` is what the signatures estimate: unweighted, unless they take weights into account. ``cosine`` is what
    SimHash preserves.
    """

    weighted: float
    signed: float
    cosine: float


@dataclass(frozen=True)
class Similarity:
    """The Jaccard similarity, exact and estimated, and the ``threshold`` for a match.

    ``signed`` is the exact similarity that the signatures estimate: unweighted, unless the kind of MinHash takes
    weights into account. ``standard_error`` is that of the estimate, from ``values`` values of ``value_bits`` bits
    each. ``verified`` is the result of comparing the texts as a search does, which may not
    share enough numbers (see `es_simhash.scheme.verifier`).
    """

    exact: float
    signed: float
    estimate: float | None
    standard_error: float | None
    values: int
    value_bits: int
    threshold: float | None
    verified: float | None = None
    meets: bool = True


def exact_similarity(scheme: Scheme, texts: tuple[str, str]) -> ExactSimilarity:
    """Compute the similarities of the features of two texts."""
    a, b = comparable_features(scheme, texts)
    weighted = similarity.weighted_jaccard(a, b)
    heeds_weights = scheme.minhash is not None and scheme.minhash.is_weighted
    signed = weighted if heeds_weights else similarity.jaccard(a, b)
    return ExactSimilarity(weighted, signed, similarity.cosine(a, b))


def compare_signatures(
    scheme: Scheme, held: tuple[Json, Json], exact: ExactSimilarity, threshold: float | None
) -> Similarity:
    """Estimate the similarity from the fields of both, next to the exact one of the texts."""
    stored = own_fields.read_all(scheme, scheme.id, held)
    if stored.values is None or len(stored.places) < len(held):
        return Similarity(exact.weighted, exact.signed, None, None, 0, 0, threshold)
    (first, second), (values, bits) = stored.values, own_fields.estimated_by(scheme)
    estimated = estimate(first, second, bits)
    error = standard_error(estimated, values, bits)
    return Similarity(exact.weighted, exact.signed, estimated, error, values, bits, threshold)


@dataclass(frozen=True)
class Bits:
    """Two SimHashes of ``size`` bits as hexadecimal digits, and the positions at which they differ.

    Position 0 is the most significant bit. ``expected`` is the distance expected from the features' cosine similarity;
    ``threshold`` is the distance within which a search matches, None where it does not compare distances.
    """

    a: str
    b: str
    size: int
    differing: list[int]
    distance: int
    expected: float
    threshold: int | None

    @property
    def is_met(self) -> bool:
        """Whether the distance is small enough for a search that compares distances."""
        return self.threshold is not None and self.distance <= self.threshold


def compare_bits(settings: Settings, held: tuple[Json, Json], cosine: float, threshold: int | None) -> Bits | None:
    """Compare the SimHashes in the fields of both; return None if one has none."""
    first, second = (own_fields.read_simhash(settings, fields) for fields in held)
    simhash = settings.simhash
    if simhash is None or first is None or second is None:
        return None
    return Bits(
        own_fields.hexadecimal(simhash, first),
        own_fields.hexadecimal(simhash, second),
        simhash.bits,
        [place for place in range(simhash.bits) if (first ^ second) >> (simhash.bits - 1 - place) & 1],
        hamming.distance(first, second),
        expected_distance(cosine, simhash.bits),
        threshold,
    )


def expected_distance(cosine: float, bits: int) -> float:
    """Return the mean number of differing bits: each has probability arccos(cosine) / π (Charikar, STOC 2002)."""
    return bits * math.acos(max(-1.0, min(1.0, cosine))) / math.pi


@dataclass(frozen=True)
class Keys:
    """The keys of both documents in order, and the positions of the first one's keys that the second shares.

    ``needed`` shared keys make a candidate; None where a search by these criteria ignores these keys. ``probability``
    is that of this many shared keys at the true similarity, if known. ``engine`` holds the positions that the engine
    reports, if it was asked.
    """

    a: list[str]
    b: list[str]
    agree: list[int]
    needed: int | None
    probability: float | None
    engine: list[int] | None

    @property
    def is_contradicted(self) -> bool:
        """Whether the engine reports other positions than the stored keys have."""
        return self.engine is not None and self.engine != self.agree

    @property
    def is_candidate(self) -> bool:
        """Whether a search finds one by the other; the engine's report counts, if there is one."""
        found = self.agree if self.engine is None else self.engine
        return self.needed is not None and len(found) >= self.needed

    @property
    def chance(self) -> str:
        """The probability as text; one close to 0 or 1 is not rounded to it."""
        if self.probability is None:
            return "unknown"
        if 0.01 <= self.probability <= 0.99:
            return f"{self.probability:.2f}"
        return "below 0.01" if self.probability < 0.01 else "above 0.99"


def compare_keys(
    kind: Kind,
    held: tuple[Json, Json],
    *,
    needed: int | None,
    probability: float | None,
    named: Iterable[str] | None,
) -> Keys:
    """Compare the keys of a kind; ``named`` holds the names of `named_clauses` that the engine matched."""
    a, b = (terms(fields, kind) for fields in held)
    others = set(b)
    places = [place for place, term in enumerate(a) if term in others]
    engine = None
    if named is not None:
        found = set(named)
        engine = [place for place in range(len(a)) if _name(kind, place) in found]
    return Keys([key for _, key in a], [key for _, key in b], places, needed, probability, engine)


def named_clauses(held: Json, prefix: str) -> list[Json]:
    """Return a named clause for each key in a document's fields; the engine reports the names that match."""
    return [
        {"term": {f"{prefix}.{field}": {"value": key, "_name": _name(kind, place)}}}
        for kind in KINDS
        for place, (field, key) in enumerate(terms(held, kind))
    ]


def terms(held: Json, kind: Kind) -> list[tuple[str, str]]:
    """Return the (field, key) pairs in a document's fields, in the order of the keys (see `Layout`)."""
    return sorted(own_fields.terms_in(held, kind), key=lambda term: (len(term[0]), term[0]))


def _name(kind: Kind, place: int) -> str:
    return f"{kind} {place}"


# Number of features listed in each group.
_LISTED = 20


@dataclass(frozen=True)
class Feature:
    """A token, and its weight in each of the texts."""

    text: str
    weight_a: float
    weight_b: float

    @property
    def weight(self) -> float:
        """The weight that both texts share, or its weight in the only text that has it."""
        shared = min(self.weight_a, self.weight_b)
        return shared or max(self.weight_a, self.weight_b, key=abs)


@dataclass(frozen=True)
class FeatureGroup:
    """Features that both texts have, or only one of them: their number, total weight, and the heaviest."""

    count: int
    weight: float
    heaviest: tuple[Feature, ...]


@dataclass(frozen=True)
class Features:
    """The features of two texts; among features of equal weight, the first in their text are listed."""

    shared: FeatureGroup
    only_a: FeatureGroup
    only_b: FeatureGroup


def compare_features(settings: Settings, texts: tuple[str, str]) -> Features:
    """Return the features that two texts share, and those that they do not."""
    a, b = (_weighed(settings, features) for features in comparable_features(settings, texts))
    tokens_a, tokens_b = (readable_features(settings, text) for text in texts)
    shared = [Feature(token, a[code], b[code]) for code, token in tokens_a.items() if code in b]
    only_a = [Feature(token, a[code], 0.0) for code, token in tokens_a.items() if code not in b]
    only_b = [Feature(token, 0.0, b[code]) for code, token in tokens_b.items() if code not in a]
    return Features(_group(shared), _group(only_a), _group(only_b))


def readable_features(settings: Settings, text: str) -> dict[int, str]:
    """Return the token of each feature of a text, by the first 64 bits of the feature's hash, in text order."""
    spans, _ = settings.tokens.cut(fingerprinting.normalised(settings, [text]))
    tokens = list(dict.fromkeys(spans.strings()))
    hashed = fingerprinting.features_of_tokens(settings, [[token] for token in tokens])
    codes: dict[int, str] = {}
    for code, token in zip(hashed.first_words.tolist(), tokens, strict=True):
        codes.setdefault(code, token)
    return codes


def _weighed(settings: Settings, features: similarity.Features) -> dict[int, float]:
    """Return the weight of each feature by its hash."""
    assert isinstance(features, np.ndarray | tuple)
    hashes, weights = features if isinstance(features, tuple) else (features, np.ones(len(features)))
    unit = UNIT if settings.idf else 1
    return dict(zip(hashes.tolist(), (weights / unit).tolist(), strict=True))


def _group(features: Sequence[Feature]) -> FeatureGroup:
    heaviest = sorted(features, key=lambda feature: -feature.weight)[:_LISTED]
    return FeatureGroup(len(features), sum(feature.weight for feature in features), tuple(heaviest))


# Characters of a passage to show.
_SHOWN = 300


@dataclass(frozen=True)
class SharedPassages:
    """The share of each text that stands in the other, in passages of ``least`` words or more.

    ``words`` counts those of the longest; ``in_first`` and ``in_second`` are its beginnings as they stand there.
    """

    of_first: float
    of_second: float
    least: int
    words: int
    in_first: str
    in_second: str


def shared_passages(settings: Settings, texts: tuple[str, str]) -> SharedPassages:
    """Compare two texts by their passages, of as many words as the scheme says, or by default."""
    least = (settings.passages or Passages()).words
    found = containment(settings, *texts, least)
    first, second = (_Words.of(settings, text) for text in texts)
    a, b, length = _longest(first.hashes, second.hashes)
    return SharedPassages(
        found.of_first, found.of_second, least, length, first.passage(a, length), second.passage(b, length)
    )


@dataclass(frozen=True, eq=False)
class _Words:
    """The words of a text: hashes of what the scheme makes of them, and where they stand."""

    units: bytes
    starts: Integers
    ends: Integers
    hashes: Codes

    @classmethod
    def of(cls, settings: Settings, text: str) -> _Words:
        own = compared_text(settings, text)
        spans = word_spans(batch([own]))
        words = spans.strings()
        normalised = {word: settings.normalisation(word) for word in set(words)}
        hashes = hash_tokens([normalised[word] for word in words])
        return cls(own.encode("utf-16-le"), spans.starts, spans.ends, hashes)

    def passage(self, first: int, length: int) -> str:
        """Return the beginning of a passage."""
        if not length:
            return ""
        start, end = int(self.starts[first]), int(self.ends[first + length - 1])
        text = self.units[2 * start : 2 * end].decode("utf-16-le")
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _longest(a: Codes, b: Codes) -> tuple[int, int, int]:
    """Return where a longest common run begins in both, the first in ``a``, and its length."""
    least, most = 0, min(len(a), len(b))
    while least < most:  # what has a common run of a length has shorter ones
        length = (least + most + 1) // 2
        if np.isin(runs_of(a, length), runs_of(b, length)).any():
            least = length
        else:
            most = length - 1
    if not least:
        return 0, 0, 0
    first, second = runs_of(a, least), runs_of(b, least)
    place = int(np.flatnonzero(np.isin(first, second))[0])
    return place, int(np.flatnonzero(second == first[place])[0]), least
