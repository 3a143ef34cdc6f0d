"""The similarity of two texts: exact, from all their features, and estimated from their signatures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from es_simhash._core.json_paths import Json
from es_simhash.scheme import own_fields
from es_simhash.scheme.own_fields import StoredFingerprint
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.verdict.verifier import comparable_features
from es_simhash.sketches import similarity
from es_simhash.sketches.minhash.estimate import estimate, standard_error


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
    share enough numbers (see `es_simhash.scheme.verdict.shared_numbers`).
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
    a, b = (_signature(scheme, each) for each in held)
    if a is None or b is None:
        return Similarity(exact.weighted, exact.signed, None, None, 0, 0, threshold)
    (first, bits), (second, _) = a, b
    estimated = estimate(first, second, bits)
    error = standard_error(estimated, len(first), bits)
    return Similarity(exact.weighted, exact.signed, estimated, error, len(first), bits, threshold)


def _signature(scheme: Scheme, held: Json) -> tuple[npt.NDArray[np.uint32], int] | None:
    """Return the signature in a document's fields, and the number of bits of each value."""
    stored: StoredFingerprint | None = own_fields.read(scheme, scheme.id, held)
    if scheme.minhash is None or stored is None:
        return None
    if stored.signature is not None:
        return own_fields.signature_codec(scheme).from_text(stored.signature), scheme.layout.signature_bits
    bands = scheme.minhash.layout
    assert stored.band_keys is not None
    return bands.signatures_of_keys([stored.band_keys])[0], bands.value_bits
