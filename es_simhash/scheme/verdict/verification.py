"""What decides whether two texts are near-duplicates, as settings of a scheme."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from es_simhash.errors import SchemeError
from es_simhash.scheme.verdict.levels import LEVELS, Level, Measure, check_similarity, similarity_of

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
