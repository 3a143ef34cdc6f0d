"""The levels of similarity by their names, and minimum similarities."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from es_simhash.errors import SchemeError

# How the features of two texts are compared (see `es_simhash.scheme.verdict.verifier`), how they are weighed, and which
# they are: those of the fingerprint, or the runs and numbers of the text (see `es_simhash.text.tokens.numbers`).
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
