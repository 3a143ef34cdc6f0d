"""Tokens as spans of an array of UTF-16 units: the output of every tokenizer, and the input of hash functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np

from es_simhash._core.arrays import Integers, offsets_from_counts, positions_in_rows, select
from es_simhash.errors import TextError
from es_simhash.text.units import Units, encode, offsets_of

_SEPARATOR = ord(" ")


@dataclass(frozen=True, eq=False)
class Spans:
    """The tokens of many texts.

    Token ``i`` is ``units[starts[i]:ends[i]]``; text ``d`` has the tokens from ``offsets[d]`` to ``offsets[d + 1]``.
    """

    units: Units
    starts: Integers
    ends: Integers
    offsets: Integers

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.offsets) - 1

    def strings(self) -> list[str]:
        """Return all tokens as strings."""
        data = self.units.astype("<u2").tobytes()
        spans = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        text = data.decode("utf-16-le")
        if len(text) == len(self.units):  # no character of two units
            return [text[start:end] for start, end in spans]
        return [data[2 * start : 2 * end].decode("utf-16-le") for start, end in spans]

    def lists(self) -> list[list[str]]:
        """Return the tokens of each text as strings."""
        strings = self.strings()
        bounds = self.offsets.tolist()
        return [strings[start:end] for start, end in pairwise(bounds)]

    def without(self, unwanted: Iterable[str]) -> Spans:
        """Return the tokens that are not ``unwanted``."""
        words = frozenset(unwanted)
        kept = np.array([token not in words for token in self.strings()], dtype=np.bool_)
        starts, offsets = select(self.starts, self.offsets, kept)
        return Spans(self.units, starts, self.ends[kept], offsets)

    def shingles(self, n: int) -> Spans:
        """Return each run of ``n`` tokens joined by spaces; a text with fewer tokens has one run of all of them."""
        if n == 1:
            return self
        joined = self._separated()
        counts = np.diff(self.offsets)
        shingles = np.where(counts > 0, np.maximum(counts - n + 1, 1), 0)
        offsets = offsets_from_counts(shingles)
        first = np.repeat(self.offsets[:-1], shingles) + positions_in_rows(shingles)
        last = np.minimum(first + n, np.repeat(self.offsets[1:], shingles)) - 1
        return Spans(joined.units, joined.starts[first], joined.ends[last], offsets)

    def _separated(self) -> Spans:
        """Return the same tokens with exactly one space between each two."""
        lengths = self.ends - self.starts
        starts = offsets_from_counts(lengths + 1)
        units = np.full(starts[-1], _SEPARATOR, dtype=self.units.dtype)
        inside = positions_in_rows(lengths)
        units[np.repeat(starts[:-1], lengths) + inside] = self.units[np.repeat(self.starts, lengths) + inside]
        return Spans(units, starts[:-1], starts[1:] - 1, self.offsets)


def spans_from_lists(lists: Sequence[Sequence[str]]) -> Spans:
    """Return the spans of tokens given as strings."""
    offsets = offsets_of(lists)
    try:
        units, bounds = encode(list(chain.from_iterable(lists)))
    except TextError as error:
        if error.position is None:
            raise
        text = int(np.searchsorted(offsets, error.position, side="right")) - 1
        raise TextError(f"has a token that {error.problem}", text) from None
    return Spans(units, bounds[:-1], bounds[1:], offsets)
