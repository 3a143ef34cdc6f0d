"""The valley of a histogram of similarities: where texts part into near-duplicates and others.

Pairs that share a key are of two kinds: some share phrases, others are versions of one text. Where the kinds are
clearly apart, their similarities have two modes with few between them (Prewitt, Mendelsohn, "The analysis of cell
images", 1966). The histogram is smoothed by a Gaussian kernel. For each place, p is the height of the lower one of two
modes: the highest place on its left, and that on its right. The valley is the place of the height v that maximises
(p - v) / sqrt(p + v), where both are numbers of pairs: by how many standard errors the mode stands out (Poisson). It is
clear if that is at least 3.5, and v at most half of p. A wide valley counts by its middle: that of the places around
with seven tenths of the maximum.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from es_simhash._core.json_paths import Json
from es_simhash.groups.pairs.sorting import Numbers
from es_simhash.scheme.verdict.measures import Similarities
from es_simhash.text.hashing import poly64

# Pairs are compared down to this similarity for the histogram: below it nearly all texts are.
LEAST = 0.2
_BINS, _WIDTH = 160, 6.0
_STANDS_OUT, _SHARE, _FLOOR = 3.5, 0.5, 0.7
_MOST = 1 << 14


def valley_of(similarities: Similarities) -> float | None:
    """Return the similarity at which pairs part, or None if that is not clear; those below `LEAST` do not count."""
    counts, edges = np.histogram(similarities, _BINS, (LEAST, 1.0))
    reach = np.arange(-_BINS + 1, _BINS)
    # Each bin has as many pairs as there are within a kernel's width.
    kernel = np.exp(-0.5 * (reach / _WIDTH) ** 2)
    height = np.convolve(np.concatenate([counts[::-1], counts, counts[::-1]]), kernel, "same")[_BINS : 2 * _BINS]
    left, right = np.maximum.accumulate(height), np.maximum.accumulate(height[::-1])[::-1]
    mode = np.minimum(left, right)
    out = (mode - height) / np.sqrt(np.maximum(mode + height, 1.0))
    place = int(out.argmax())
    if out[place] < _STANDS_OUT or height[place] > _SHARE * mode[place]:
        return None
    # A valley may be wide: its middle is what chance moves least.
    rises = np.flatnonzero(out < _FLOOR * out[place])
    first = rises[rises < place].max(initial=-1) + 1
    last = rises[rises > place].min(initial=_BINS)
    return round(float(edges[first] + edges[last]) / 2, 2)


class PairSample:
    """A random sample of pairs, the same one in whatever order they come, with their similarities.

    It has the pairs whose numbers, mixed, are the lowest: `_MOST` of them, or half as many.
    """

    def __init__(self) -> None:
        self._mixed, self._similarities = np.empty(0, np.uint64), np.empty(0, np.float64)
        self._below = 1 << 64

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self._mixed)

    @classmethod
    def from_json(cls, sample: Json) -> PairSample:
        """Read what `to_json` wrote."""
        found = cls()
        found._below = sample["below"]
        found._mixed = np.array(sample["mixed"], dtype=np.uint64)
        found._similarities = np.array(sample["similarities"], dtype=np.float64)
        return found

    def to_json(self) -> Json:
        """Write the sample so far."""
        own = {"mixed": self._mixed.tolist(), "similarities": self._similarities.tolist()}
        return {"below": self._below, **own}

    def takes(self, codes: Numbers) -> npt.NDArray[np.bool_]:
        """Return which pairs belong to the sample, as far as is known."""
        are_in: npt.NDArray[np.bool_] = poly64.fmix64(codes) <= np.uint64(self._below - 1)
        return are_in

    def add(self, codes: Numbers, similarities: Similarities) -> None:
        """Add pairs that belong to the sample."""
        self._mixed = np.concatenate([self._mixed, poly64.fmix64(codes)])
        self._similarities = np.concatenate([self._similarities, similarities])
        while len(self._mixed) > _MOST:
            self._below >>= 1
            stay = self._mixed <= np.uint64(self._below - 1)
            self._mixed, self._similarities = self._mixed[stay], self._similarities[stay]

    @property
    def valley(self) -> float | None:
        """The valley of their similarities."""
        return valley_of(self._similarities)
