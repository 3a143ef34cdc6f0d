"""The passages that two texts share: how much of each stands in the other, and the longest as it stands there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash._core.bit_codes import Codes
from es_simhash.plans.explain.text_differences import compared_text
from es_simhash.scheme.settings import Passages, Settings
from es_simhash.scheme.verdict.common_passages import containment
from es_simhash.text.hashing.poly64 import BASE, hash_tokens
from es_simhash.text.tokens.words import word_spans
from es_simhash.text.units import batch

# Characters of a passage to show.
_SHOWN = 300
_INVERSE = pow(BASE, -1, 1 << 64)


@dataclass(frozen=True)
class SharedPassages:
    """The share of each text that stands in the other, in passages of ``least`` words or more.

    ``words`` counts those of the longest; ``in_first`` and ``in_second`` are its beginnings as they stand there.
    """

    of_first: float
    of_second: float
    least: int
    words: int
    in_first: str
    in_second: str


def shared_passages(settings: Settings, texts: tuple[str, str]) -> SharedPassages:
    """Compare two texts by their passages, of as many words as the scheme says, or by default."""
    least = (settings.passages or Passages()).words
    found = containment(settings, *texts, least)
    first, second = (_Words.of(settings, text) for text in texts)
    a, b, length = _longest(first.hashes, second.hashes)
    return SharedPassages(
        found.of_first, found.of_second, least, length, first.passage(a, length), second.passage(b, length)
    )


@dataclass(frozen=True, eq=False)
class _Words:
    """The words of a text: hashes of what the scheme makes of them, and where they stand."""

    units: bytes
    starts: Integers
    ends: Integers
    hashes: Codes

    @classmethod
    def of(cls, settings: Settings, text: str) -> _Words:
        own = compared_text(settings, text)
        spans = word_spans(batch([own]))
        words = spans.strings()
        normalised = {word: settings.normalisation(word) for word in set(words)}
        hashes = hash_tokens([normalised[word] for word in words])
        return cls(own.encode("utf-16-le"), spans.starts, spans.ends, hashes)

    def passage(self, first: int, length: int) -> str:
        """Return the beginning of a passage."""
        if not length:
            return ""
        start, end = int(self.starts[first]), int(self.ends[first + length - 1])
        text = self.units[2 * start : 2 * end].decode("utf-16-le")
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _longest(a: Codes, b: Codes) -> tuple[int, int, int]:
    """Return where a longest common run begins in both, the first in ``a``, and its length."""
    runs = _Runs.of(a), _Runs.of(b)
    least, most = 0, min(len(a), len(b))
    while least < most:  # what has a common run of a length has shorter ones
        length = (least + most + 1) // 2
        if np.isin(runs[0].of_length(length), runs[1].of_length(length)).any():
            least = length
        else:
            most = length - 1
    if not least:
        return 0, 0, 0
    first, second = (each.of_length(least) for each in runs)
    place = int(np.flatnonzero(np.isin(first, second))[0])
    return place, int(np.flatnonzero(second == first[place])[0]), least


@dataclass(frozen=True, eq=False)
class _Runs:
    """The runs of a text of any length: polynomials of its hashes, as differences of sums from the beginning."""

    sums: Codes
    shifts: Codes

    @classmethod
    def of(cls, hashes: Codes) -> _Runs:
        sums = np.zeros(len(hashes) + 1, dtype=np.uint64)
        np.cumsum(hashes * _powers(BASE, len(hashes)), out=sums[1:])
        return cls(sums, _powers(_INVERSE, len(hashes)))

    def of_length(self, length: int) -> Codes:
        """Return the hash of the run from each place on."""
        runs: Codes = (self.sums[length:] - self.sums[:-length]) * self.shifts[: len(self.sums) - length]
        return runs


def _powers(base: int, count: int) -> Codes:
    powers = np.full(count, base, dtype=np.uint64)
    powers[:1] = 1
    return np.multiply.accumulate(powers)
