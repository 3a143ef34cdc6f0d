"""What two texts have in common, each feature counted once: how similar they are, and how much of one is in the other.

With A and B the features that the scheme makes of two texts::

    jaccard    |A ∩ B| / |A ∪ B|
    of_first   |A ∩ B| / |A|       how much of the first text is in the second (Broder)
    of_second  |A ∩ B| / |B|       how much of the second text is in the first
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.verifier import comparable_features, plain
from es_simhash.sketches.similarity import Hashes


@dataclass(frozen=True)
class Common:
    """The number of features that two texts share, and that each of them has."""

    shared: int
    first: int
    second: int

    @property
    def jaccard(self) -> float:
        """The share of all features that both texts have; of two texts without any, 1."""
        return _share(self.shared, self.first + self.second - self.shared)

    @property
    def of_first(self) -> float:
        """The share of the first text's features that the second has."""
        return _share(self.shared, self.first) if self.first or not self.second else 0.0

    @property
    def of_second(self) -> float:
        """The share of the second text's features that the first has."""
        return _share(self.shared, self.second) if self.second or not self.first else 0.0


def in_common(settings: Settings, texts: Sequence[str], others: Sequence[str]) -> Iterator[list[Common]]:
    """Yield, for each of the others, what each of the texts has in common with it."""
    own = list(distinct_features(settings, texts))
    for there in distinct_features(settings, others):
        yield [common(here, there) for here in own]


def common(a: Hashes, b: Hashes) -> Common:
    """Return what two texts have in common, given their `distinct_features`."""
    fewer, more = (a, b) if len(a) <= len(b) else (b, a)
    places = np.minimum(np.searchsorted(more, fewer), len(more) - 1)
    return Common(int(np.count_nonzero(more[places] == fewer)), len(a), len(b))


def distinct_features(settings: Settings, texts: Sequence[str]) -> Iterator[Hashes]:
    """Yield the hashes of the features of each text, in order and each once."""
    for features in comparable_features(plain(settings), texts):
        assert not isinstance(features, tuple)
        yield features


def _share(shared: int, whole: int) -> float:
    return shared / whole if whole else 1.0
