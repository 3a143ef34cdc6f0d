"""Normalise many texts at once, with the same result as `es_simhash.text.normalise` text by text.

Most characters become one character whatever stands beside them: a table of UTF-16 units maps those of a whole batch
in one look-up; it is filled in when a unit is first met. The others (combining marks, Hangul jamo, ligatures, …) are
normalised in segments: a character with the marks that may combine with it. Nothing combines across the boundaries of
segments, so each is normalised by the definition, once for all its occurrences.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import cast

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import distinct_sorted, spread
from es_simhash.text.normalise import Normalisation, is_unassigned
from es_simhash.text.units import Offsets, TextBatch, Units, encode, is_continuation, join, offsets_of, strip

_SPACE = " "
_HIGH_SURROGATES = range(0xD800, 0xDC00)
_LOW_SURROGATES = range(0xDC00, 0xE000)
# Three values that no unit becomes: one not met yet, one that begins a segment, and one that belongs to the segment
# before it. The surrogates with these values are in segments themselves.
_UNKNOWN, _BEGINS, _JOINS = 0xDFFD, 0xDFFE, 0xDFFF
# Beside what has a combining class: what composes with the character before it, or is a Hangul jamo that does.
_JAMO = frozenset((*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)))
_COMPOSING = _JAMO | {
    *(0x9BE, 0x9D7, 0xB3E, 0xB56, 0xB57, 0xBBE, 0xBD7, 0xCC2, 0xCD5, 0xCD6, 0xD3E, 0xD57, 0xDCF, 0xDDF, 0x102E, 0x1B35),
    *(0x11127, 0x1133E, 0x11357, 0x114B0, 0x114BA, 0x114BD, 0x115AF, 0x11930),
}
# How many segments are remembered at most, and how many units one has that is looked up with all alike.
_SEGMENTS, _SHORT = 1 << 16, 4


def normalise_batch(texts: Sequence[str], normalisation: Normalisation) -> TextBatch:
    """Return the normalised ``texts`` as a batch; a lone surrogate or a non-string is a `TextError`."""
    unit_map = _unit_map(normalisation)
    if not normalisation.whitespace:
        return _map_units(texts, unit_map)
    return _collapse_spaces(_map_units(strip(texts), unit_map))


class _UnitMap:
    """What each UTF-16 unit becomes, learnt unit by unit."""

    def __init__(self, normalisation: Normalisation) -> None:
        self.normalisation = normalisation
        self._table = np.full(1 << 16, _UNKNOWN, dtype=np.uint16)
        self._segments: dict[str, str] = {}
        self._ascii = bytes(self._learn(unit) for unit in range(128)).ljust(256, b"\0")

    def map_ascii(self, text: str) -> npt.NDArray[np.uint8]:
        return np.frombuffer(text.encode("ascii").translate(self._ascii), dtype=np.uint8)

    def map(self, units: Units) -> npt.NDArray[np.uint16]:
        """Map ``units``; to `_BEGINS` or `_JOINS` where one unit does not decide."""
        mapped = self._table.take(units)
        unknown = mapped == _UNKNOWN
        if not unknown.any():
            return mapped
        for unit in np.flatnonzero(np.bincount(units[unknown])).tolist():
            self._table[unit] = self._learn(unit)
        return self._table.take(units)

    def _learn(self, unit: int) -> int:
        if unit in _HIGH_SURROGATES:
            return self._learn_block(unit)
        if unit in _LOW_SURROGATES:
            return unit if unit < _UNKNOWN else _JOINS
        character = chr(unit)
        if self.normalisation.whitespace and character.isspace():
            return ord(_SPACE)
        folded = self.normalisation.of_characters(character)
        if any(map(_joins, character + folded[:1])):
            return _JOINS
        return ord(folded) if len(folded) == 1 and ord(folded) < 1 << 16 else _BEGINS

    def _learn_block(self, high_surrogate: int) -> int:
        """Map the 1,024 code points that begin with this surrogate: to themselves, if none changes or joins."""
        first = 0x10000 + (high_surrogate - _HIGH_SURROGATES[0]) * 0x400
        characters = list(map(chr, range(first, first + 0x400)))
        if any(map(_joins, characters)):
            return _JOINS
        return high_surrogate if all(self.normalisation.of_characters(c) == c for c in characters) else _BEGINS

    def fold_segment(self, segment: str) -> str:
        """Return the segment as the definition folds it, with white space as spaces."""
        folded = self._segments.get(segment)
        if folded is None:
            if len(self._segments) >= _SEGMENTS:
                self._segments.clear()
            folded = self.normalisation.of_characters(segment)
            if self.normalisation.whitespace:
                folded = re.sub(r"\s", _SPACE, folded)
            self._segments[segment] = folded
        return folded


def _joins(character: str) -> bool:
    """Return whether the character may combine with, compose with, or be reordered among those before it."""
    if is_unassigned(character):
        return False
    forms = (character, unicodedata.normalize("NFKD", character), character.casefold())
    return any(unicodedata.combining(form[0]) or ord(form[0]) in _COMPOSING for form in forms)


@cache
def _unit_map(normalisation: Normalisation) -> _UnitMap:
    return _UnitMap(normalisation)


def _map_units(texts: Sequence[str], unit_map: _UnitMap) -> TextBatch:
    joined = join(texts)
    if joined.isascii():
        return TextBatch(unit_map.map_ascii(joined), offsets_of(texts))
    units, offsets = encode(texts)
    mapped = unit_map.map(units)
    joins = mapped == _JOINS
    odd = np.flatnonzero(joins | (mapped == _BEGINS))
    if not len(odd):
        return TextBatch(mapped, offsets)
    is_first = ~(joins | is_continuation(units))
    is_first[offsets[:-1][np.diff(offsets) > 0]] = True
    firsts = np.append(np.flatnonzero(is_first), len(units))
    segments = distinct_sorted(np.searchsorted(firsts, odd, side="right") - 1)
    return _fold_segments(units, TextBatch(mapped, offsets), firsts[segments], firsts[segments + 1], unit_map)


def _fold_segments(units: Units, mapped: TextBatch, begin: Offsets, end: Offsets, unit_map: _UnitMap) -> TextBatch:
    """Return the batch with the segments of ``units`` in the place of what they were ``mapped`` to."""
    distinct, which = _distinct(units, begin, end)
    folded, bounds = encode([unit_map.fold_segment(each) for each in distinct])
    sizes = np.diff(bounds)[which]
    growth = np.zeros(len(units) + 1, dtype=np.int64)
    growth[end] = sizes - (end - begin)
    moved = np.cumsum(growth)
    segment, place = spread(sizes)
    bound = np.zeros(len(units) + 1, dtype=np.int8)
    bound[begin] += 1
    bound[end] -= 1
    is_kept = np.cumsum(bound[:-1], dtype=np.int8) == 0
    result = np.empty(len(units) + int(moved[-1]), dtype=np.uint16)
    result[np.flatnonzero(is_kept) + moved[:-1][is_kept]] = mapped.units[is_kept]
    result[(begin + moved[begin])[segment] + place] = folded[bounds[which][segment] + place]
    return TextBatch(result, mapped.offsets + moved[mapped.offsets])


def _distinct(units: Units, begin: Offsets, end: Offsets) -> tuple[list[str], Offsets]:
    """Return the distinct segments, and which of them each one is; long ones count anew each time."""
    sizes, data = end - begin, units.astype("<u2").tobytes()
    is_short = sizes <= _SHORT
    place = begin[is_short, np.newaxis] + np.arange(_SHORT)
    padded = np.append(units, np.zeros(_SHORT, dtype="<u2")).astype("<u2", copy=False)
    keys = np.where(place < end[is_short, np.newaxis], padded[place], 0).astype("<u2", copy=False)
    short, which_short = _unique(keys.view("<u8").ravel())
    long_ones = np.flatnonzero(~is_short).tolist()
    which = np.empty(len(begin), dtype=np.int64)
    which[is_short], which[long_ones] = which_short, len(short) + np.arange(len(long_ones))
    # No segment ends with NUL, which is no mark.
    distinct = [key.tobytes().decode("utf-16-le").rstrip("\0") for key in short]
    distinct += [data[2 * begin[i] : 2 * end[i]].decode("utf-16-le") for i in long_ones]
    return distinct, which


def _unique(keys: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.uint64], Offsets]:
    """Return what `numpy.unique` does, with the inverse, in half of its time."""
    order = np.argsort(keys)
    ordered = keys[order]
    is_new = np.append(True, ordered[1:] != ordered[:-1])[: len(keys)]
    which = np.empty(len(keys), dtype=np.int64)
    which[order] = np.cumsum(is_new) - 1
    return ordered[is_new], which


def _collapse_spaces(batch: TextBatch) -> TextBatch:
    """Return the texts with one space for each run of spaces, and none at their beginnings and ends."""
    space = batch.units == ord(_SPACE)
    after_space = np.append(True, space[:-1])[: len(space)]
    filled = np.diff(batch.offsets) > 0
    after_space[batch.offsets[:-1][filled]] = True
    batch = _without(batch, np.flatnonzero(space & after_space))
    last = batch.offsets[1:][np.diff(batch.offsets) > 0] - 1
    return _without(batch, last[batch.units[last] == ord(_SPACE)])


def _without(batch: TextBatch, positions: Offsets) -> TextBatch:
    """Return the texts without the units at these positions."""
    if not len(positions):
        return batch
    units = cast("Units", np.delete(batch.units, positions))
    return TextBatch(units, batch.offsets - np.searchsorted(positions, batch.offsets))
