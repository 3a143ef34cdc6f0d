"""The similarity of two texts: exact, by all their features, and as their signatures tell it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from es_simhash._core.json_paths import Json
from es_simhash.scheme import own_fields
from es_simhash.scheme.own_fields import Stored
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.verification import comparable_features
from es_simhash.sketches import similarity
from es_simhash.sketches.minhash.estimate import estimate, standard_error


@dataclass(frozen=True)
class ExactSimilarity:
    """Of the texts themselves: ``weighted`` is the similarity that a search with ``verify`` goes by.

    ``signed`` is the one that the signatures estimate, without weights unless they heed them. ``cosine`` is that which
    SimHash preserves.
    """

    weighted: float
    signed: float
    cosine: float


@dataclass(frozen=True)
class Similarity:
    """The Jaccard similarity: exact, estimated, and the ``threshold`` from which a search that goes by it matches.

    ``signed`` is the exact one of what the signatures heed: it leaves out weights, unless the kind of MinHash heeds
    them. ``standard_error`` is that of the estimate, which is made of so many ``values`` of ``value_bits`` bits each.
    ``verified`` is what a search finds that compares texts, which then decides; else the estimate does.
    """

    exact: float
    signed: float
    estimate: float | None
    standard_error: float | None
    values: int
    value_bits: int
    threshold: float | None
    verified: float | None = None

    @property
    def decisive(self) -> float | None:
        """The similarity that decides."""
        return self.estimate if self.verified is None else self.verified

    @property
    def is_met(self) -> bool:
        """Whether the similarity is high enough for a search that goes by it."""
        return self.threshold is not None and self.decisive is not None and self.decisive >= self.threshold


def exact_similarity(scheme: Scheme, texts: tuple[str, str]) -> ExactSimilarity:
    """The similarities of the features of two texts."""
    a, b = comparable_features(scheme, texts)
    weighted = similarity.weighted_jaccard(a, b)
    heeds_weights = scheme.minhash is not None and scheme.minhash.is_weighted
    signed = weighted if heeds_weights else similarity.jaccard(a, b)
    return ExactSimilarity(weighted, signed, similarity.cosine(a, b))


def compare_signatures(
    scheme: Scheme, held: tuple[Json, Json], exact: ExactSimilarity, threshold: float | None
) -> Similarity:
    """The similarity that the fields of both tell, beside the exact one of the texts."""
    a, b = (_signature(scheme, each) for each in held)
    if a is None or b is None:
        return Similarity(exact.weighted, exact.signed, None, None, 0, 0, threshold)
    (first, bits), (second, _) = a, b
    estimated = estimate(first, second, bits)
    error = standard_error(estimated, len(first), bits)
    return Similarity(exact.weighted, exact.signed, estimated, error, len(first), bits, threshold)


def _signature(scheme: Scheme, held: Json) -> tuple[npt.NDArray[np.uint32], int] | None:
    """The signature in a document's fields, and how many bits of each value it has."""
    stored: Stored | None = own_fields.read(scheme, scheme.id, held)
    if scheme.minhash is None or stored is None:
        return None
    if stored.signature is not None:
        return own_fields.signature_codec(scheme).from_text(stored.signature), scheme.layout.signature_bits
    bands = scheme.minhash.layout
    assert stored.band_keys is not None
    return bands.signatures_of_keys([stored.band_keys])[0], bands.value_bits
