"""How much of a text stands in another: the share of its words that lie in passages which both have.

With w the words of a text A (see `es_simhash.scheme.passages`), n the ``words`` of a passage, and B another text::

    containment of A in B = |{ i : some n consecutive words of A, w_i among them, stand in B }| / |A|

A text of fewer words is one passage as a whole; an empty one stands in no other. The containment is 1 if A stands in B,
whatever else does. Containment by features (Broder, "On the resemblance and containment of documents", 1997; see
`es_simhash.sketches.similarity`) counts what long texts share by chance, and a changed word removes many
features at once. Here it takes away that word alone, unless another one is changed within n words of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from es_simhash._core.arrays import Codes, distinct_numbers
from es_simhash.scheme.passages import words_of
from es_simhash.scheme.settings import Settings
from es_simhash.sketches.winnowing import grams


@dataclass(frozen=True)
class Containment:
    """The share of the first text that stands in the second, and the other way round."""

    of_first: float
    of_second: float


@dataclass(frozen=True, eq=False)
class WordsOfText:
    """The words of a text, by their hashes, in order; what was asked of their runs is kept."""

    hashes: Codes
    _kept: dict[int, Codes] = field(default_factory=dict, repr=False)

    def share_in(self, other: WordsOfText, n: int) -> float:
        """Return the share of the words that lie in passages of ``n`` words or more which the other text has."""
        count = len(self.hashes)
        n = min(n, count)
        if not n or n > len(other.hashes):
            return 0.0
        runs, there = _runs(self.hashes, n), other.distinct_runs(n)
        places = np.minimum(np.searchsorted(there, runs), len(there) - 1)
        starts = np.flatnonzero(there[places] == runs)
        change = np.zeros(count + 1, dtype=np.int64)
        change[starts] += 1
        change[starts + n] -= 1
        return int(np.count_nonzero(np.cumsum(change[:-1]))) / count

    def distinct_runs(self, n: int) -> Codes:
        """Return the runs of ``n`` words, each once, in the order of their hashes."""
        if n not in self._kept:
            self._kept[n] = distinct_numbers(_runs(self.hashes, n))
        return self._kept[n]


def words_of_texts(settings: Settings, texts: Sequence[str]) -> Iterator[WordsOfText]:
    """Yield the words of each text."""
    for text in texts:
        yield WordsOfText(words_of(settings, [text])[0])


def containment(settings: Settings, first: str, second: str, n: int) -> Containment:
    """Return how much of each text stands in the other, in passages of ``n`` words or more."""
    a, b = words_of_texts(settings, [first, second])
    return Containment(a.share_in(b, n), b.share_in(a, n))


def _runs(hashes: Codes, n: int) -> Codes:
    return grams(hashes, np.array([0, len(hashes)]), n)[0]
