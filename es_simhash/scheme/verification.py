"""What decides whether two texts are near-duplicates, as settings of a scheme: measures, levels, thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from es_simhash.errors import SchemeError

# How the features of two texts are compared (see `es_simhash.scheme.verifier`), how they are weighed, and which
# they are: those of the fingerprint, or the runs and numbers of the text (see `es_simhash.text.numbers`).
Measure: TypeAlias = Literal["jaccard", "balanced"]

# The same text but for a few words; what a reader takes for the same text; an earlier or later version of it,
# rewritten in good part.
Level: TypeAlias = Literal["copies", "near", "versions"]

# The minimum similarity of each level. Those of the balanced measure were chosen on labelled documents; two texts of
# one length that have it share 90%, 71% and 59% of their features, which gives the others. The containment is that of
# passages (see `es_simhash.scheme.passages`).
LEVELS: dict[Measure | Literal["containment"], dict[Level, float]] = {
    "balanced": {"copies": 0.85, "near": 0.63, "versions": 0.5},
    "jaccard": {"copies": 0.8, "near": 0.55, "versions": 0.4},
    "containment": {"copies": 0.9, "near": 0.75, "versions": 0.6},
}

NAMES: tuple[Level, ...] = get_args(Level)


def similarity_of(given: float | Level, measure: Measure | Literal["containment"]) -> float:
    """Return a minimum similarity, which may be given by the name of a level, by a measure."""
    if not isinstance(given, str):
        return check_similarity(given)
    if given not in NAMES:
        raise SchemeError(f"Unknown level {given!r}. Choose from: {', '.join(NAMES)}, or a similarity.")
    return LEVELS[measure][given]


def check_similarity(similarity: float) -> float:
    """Return ``similarity`` if it can be asked for."""
    if isinstance(similarity, bool) or not isinstance(similarity, int | float) or not 0 < similarity <= 1:
        raise SchemeError(f"The minimum similarity cannot be {similarity!r}. Choose one above 0, up to 1.")
    return similarity


VerificationWeights: TypeAlias = Literal["rarity", "scheme"]
VerificationFeatures: TypeAlias = Literal["scheme", "text"]


@dataclass(frozen=True)
class Verification:
    """What a text and a candidate's must have in common, where texts are compared.

    The ``measure`` of their features must be at least ``similarity`` (`at` takes the name of a level). These are the
    runs of characters and the numbers of the ``text``, whatever the scheme's tokens, unless they are a caller's own;
    with ``features="scheme"``, those of the fingerprint. With the weights "rarity" each feature counts once, and weighs
    more the fewer documents have it; with "scheme" features weigh as in the fingerprint.

    Similar texts may still be different records, which their ``numbers`` distinguish: the share of those in the text
    with fewer that the other must have; by default none.

    >>> Verification().similarity, Verification.at("copies").similarity
    (0.63, 0.85)
    """

    similarity: float = LEVELS["balanced"]["near"]
    measure: Measure = "balanced"
    weights: VerificationWeights = "rarity"
    numbers: float = 0.0
    features: VerificationFeatures = "text"

    @classmethod
    def at(cls, level: Level) -> Verification:
        """Return the rule at a level: ``copies``, ``near`` or ``versions``.

        >>> Verification.at("versions").similarity
        0.5
        """
        return cls(similarity_of(level, "balanced"))

    @classmethod
    def of_fingerprints(
        cls, similarity: float, measure: Measure = "jaccard", weights: VerificationWeights = "scheme"
    ) -> Verification:
        """Compare the features of the fingerprints and nothing else, as signatures estimate it.

        >>> Verification.of_fingerprints(0.8).features
        'scheme'
        """
        return cls(similarity, measure, weights, features="scheme")

    def __post_init__(self) -> None:
        check_similarity(self.similarity)
        for name, value, choices in (
            ("measure", self.measure, get_args(Measure)),
            ("weights to verify by", self.weights, get_args(VerificationWeights)),
            ("kind of features to verify by", self.features, get_args(VerificationFeatures)),
        ):
            if value not in choices:
                raise SchemeError(f"Unknown {name} {value!r}. Choose from: {', '.join(choices)}.")
        share = self.numbers
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            raise SchemeError(f"The share of numbers cannot be {share!r}. Choose one from 0, which is none, to 1.")
