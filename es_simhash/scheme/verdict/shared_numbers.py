"""The numbers that texts must have in common in addition to similar features, where a caller asks for a share of them.

Forms filled in with other numbers, editions of a report and parts of a series are as similar as copies, but different
documents. The share is that of the distinct numbers (see `es_simhash.text.tokens.numbers`), of the text with fewer of
them, that the other has too; 1 if one of them has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash.scheme.fingerprinting import stripped
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.measures import Flags
from es_simhash.text.tokens.numbers import numbers_of


def share_numbers(settings: Settings, least: float, texts: Sequence[str], pairs: Integers) -> Flags:
    """Return which pairs of texts, given as two rows of positions, share at least this many of their numbers."""
    numbers = [numbers_in(settings, text) for text in texts]
    return np.array([shared(numbers[a], numbers[b]) >= least for a, b in pairs.T.tolist()], dtype=np.bool_)


def numbers_in(settings: Settings, text: str) -> AbstractSet[str]:
    """Return the distinct numbers of a text."""
    [own] = stripped(settings, [text])
    return frozenset(numbers_of(settings.normalisation(own)))


def shared(a: AbstractSet[str], b: AbstractSet[str]) -> float:
    """Return the share of the numbers of the text with fewer that the other has."""
    return len(a & b) / min(len(a), len(b)) if a and b else 1.0
