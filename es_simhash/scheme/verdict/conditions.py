"""What texts must have in common in addition to similar features: their lengths, their numbers, their first lines.

Forms filled in with other numbers, editions of a report and parts of a series are as similar as copies, but different
documents. Each condition compares one trait of two texts, and measures how far it agrees, from 0 to 1:

``lengths``      the characters of the shorter text as a share of those of the longer one
``numbers``      the share of the distinct numbers (see `es_simhash.text.tokens.numbers`), of the text with fewer of
                 them, that the other has too; 1 if one of them has none
``first_lines``  the Jaccard similarity of the first lines that are not blank, by their character 3-grams: that of the
                 first source field, if it has one line, as titles do
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash.scheme.fingerprinting import stripped
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.measures import Flags
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.sketches.similarity import jaccard
from es_simhash.text.tokens.numbers import numbers_of

Normalise: TypeAlias = Callable[[str], str]
Trait: TypeAlias = Callable[[Normalise, str], Any]
Agreement: TypeAlias = Callable[[Any, Any], float]

_N = 3


def are_met(settings: Settings, verification: Verification, texts: Sequence[str], pairs: Integers) -> Flags:
    """Return which pairs of texts, given as two rows of positions, meet all conditions that are on."""
    found = np.ones(pairs.shape[1], dtype=np.bool_)
    for name, least in verification.conditions.items():
        found &= condition_values(name, traits_of(settings, [name], texts)[name], pairs) >= least
    return found


def condition_values(name: str, traits: Sequence[Any], pairs: Integers) -> npt.NDArray[np.float64]:
    """Return how far each pair of texts agrees in what a condition compares, given that `traits_of` each text."""
    _, agreement = CONDITIONS[name]
    both = zip(*pairs.tolist(), strict=True)
    return np.array([agreement(traits[a], traits[b]) for a, b in both], dtype=np.float64)


def traits_of(settings: Settings, names: Iterable[str], texts: Iterable[str]) -> dict[str, list[Any]]:
    """Return what each of these conditions compares of each text; texts are read once."""
    normalise = lru_cache(maxsize=1)(settings.normalisation)  # several conditions compare the whole text
    traits: dict[str, list[Any]] = {name: [] for name in names}
    for text in texts:
        [own] = stripped(settings, [text])
        for name, found in traits.items():
            trait, _ = CONDITIONS[name]
            found.append(trait(normalise, own))
    return traits


def _length(normalise: Normalise, text: str) -> int:
    return len(normalise(text))


def _of_lengths(a: int, b: int) -> float:
    return min(a, b) / max(a, b) if a or b else 1.0


def _numbers(normalise: Normalise, text: str) -> AbstractSet[str]:
    return frozenset(numbers_of(normalise(text)))


def _of_numbers(a: AbstractSet[str], b: AbstractSet[str]) -> float:
    return len(a & b) / min(len(a), len(b)) if a and b else 1.0


def _first_line(normalise: Normalise, text: str) -> AbstractSet[str]:
    """Return the n-grams of the first line; of a shorter one, the line itself."""
    line = next(filter(None, map(normalise, text.splitlines())), "")
    return frozenset(line[i : i + _N] for i in range(max(len(line) - _N + 1, 1)))


CONDITIONS: dict[str, tuple[Trait, Agreement]] = {
    "lengths": (_length, _of_lengths),
    "numbers": (_numbers, _of_numbers),
    "first_lines": (_first_line, jaccard),
}
