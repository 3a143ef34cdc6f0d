"""Normalisation of many texts at once, with the same result as `es_simhash.text.normalise` text by text.

Most characters become one character whatever stands beside them: a table of UTF-16 units maps those of a whole batch
in one look-up. The table is filled in when a unit is first met. Texts with any other character (combining marks,
Hangul jamo, ligatures, …) are normalised one by one, by the definition.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from typing import cast

import numpy as np
import numpy.typing as npt

from es_simhash._core.native import compiled
from es_simhash.text.normalise import Normalisation, is_unassigned
from es_simhash.text.units import TextBatch, Units, encode, join, offsets_of, strip

_SPACE = " "
_HIGH_SURROGATES = range(0xD800, 0xDC00)
_LOW_SURROGATES = range(0xDC00, 0xE000)
# Two values that no unit becomes: texts with the surrogates themselves are normalised by the definition.
_UNKNOWN, _BY_DEFINITION = 0xDFFE, 0xDFFF
_HANGUL_JAMO = (range(0x1100, 0x1200), range(0xA960, 0xA980), range(0xD7B0, 0xD800))


def normalise_batch(texts: Sequence[str], normalisation: Normalisation) -> TextBatch:
    """The normalised ``texts`` as a batch; a lone surrogate or a non-string is a `TextError`."""
    unit_map = _unit_map(normalisation)
    if not normalisation.whitespace:
        return _map_units(texts, unit_map)
    return _collapse_spaces(_map_units(strip(texts), unit_map))


class _UnitMap:
    """What each UTF-16 unit becomes, learnt unit by unit."""

    def __init__(self, normalisation: Normalisation) -> None:
        self.normalisation = normalisation
        self._table = np.full(1 << 16, _UNKNOWN, dtype=np.uint16)
        self._ascii = bytes(self._learn(unit) for unit in range(128)).ljust(256, b"\0")

    def map_ascii(self, text: str) -> npt.NDArray[np.uint8]:
        data = text.encode("ascii")
        if kernels := compiled(len(data)):
            steps = (self.normalisation.casefold, self.normalisation.whitespace)
            return cast("npt.NDArray[np.uint8]", kernels.map_ascii(np.frombuffer(data, dtype=np.uint8), *steps))
        return np.frombuffer(data.translate(self._ascii), dtype=np.uint8)

    def map(self, units: Units) -> npt.NDArray[np.uint16]:
        """What ``units`` become; `_BY_DEFINITION` where a look at one unit is not enough."""
        mapped = self._look_up(units)
        unknown = mapped == _UNKNOWN
        if not unknown.any():
            return mapped
        for unit in np.flatnonzero(np.bincount(units[unknown])).tolist():
            self._table[unit] = self._learn(unit)
        return self._look_up(units)

    def _look_up(self, units: Units) -> npt.NDArray[np.uint16]:
        if kernels := compiled(len(units)):
            return cast("npt.NDArray[np.uint16]", kernels.look_up(self._table, units))
        return self._table.take(units)

    def _learn(self, unit: int) -> int:
        if unit in _HIGH_SURROGATES:
            return unit if self._is_fixed_block(unit) else _BY_DEFINITION
        if unit in _LOW_SURROGATES:
            return unit if unit < _UNKNOWN else _BY_DEFINITION
        if self.normalisation.whitespace and chr(unit).isspace():
            return ord(_SPACE)
        folded = self.normalisation.fold(chr(unit))
        alone = len(folded) == 1 and ord(folded) < 1 << 16 and _stands_alone(chr(unit)) and _stands_alone(folded)
        return ord(folded) if alone else _BY_DEFINITION

    def _is_fixed_block(self, high_surrogate: int) -> bool:
        """Whether none of the 1,024 code points that begin with this surrogate is changed or combines."""
        first = 0x10000 + (high_surrogate - _HIGH_SURROGATES[0]) * 0x400
        characters = map(chr, range(first, first + 0x400))
        return all(_stands_alone(c) and self.normalisation.fold(c) == c for c in characters)


def _stands_alone(character: str) -> bool:
    """Whether no normalisation combines, reorders or composes the character with those before it."""
    jamo = any(ord(character) in block for block in _HANGUL_JAMO)
    mark = unicodedata.category(character).startswith("M") or unicodedata.combining(character)
    return is_unassigned(character) or not (jamo or mark)


@cache
def _unit_map(normalisation: Normalisation) -> _UnitMap:
    return _UnitMap(normalisation)


def _map_units(texts: Sequence[str], unit_map: _UnitMap) -> TextBatch:
    joined = join(texts)
    if joined.isascii():
        return TextBatch(unit_map.map_ascii(joined), offsets_of(texts))
    units, offsets = encode(texts)
    mapped = TextBatch(unit_map.map(units), offsets)
    odd_units = np.flatnonzero(mapped.units == _BY_DEFINITION)
    if not len(odd_units):
        return mapped
    odd_texts = np.unique(np.searchsorted(offsets, odd_units, side="right") - 1)
    return _replace(mapped, {i: unit_map.normalisation(texts[i]) for i in odd_texts.tolist()})


def _replace(batch: TextBatch, replacements: Mapping[int, str]) -> TextBatch:
    """The batch with some of its texts replaced."""
    bounds = batch.offsets.tolist()
    parts = [
        encode([replacements[i]])[0] if i in replacements else batch.units[bounds[i] : bounds[i + 1]]
        for i in range(len(batch))
    ]
    return TextBatch(np.concatenate(parts, dtype=np.uint16), offsets_of(parts))


def _collapse_spaces(batch: TextBatch) -> TextBatch:
    """One space for each run of them, in texts which neither begin nor end with one."""
    space = batch.units == ord(_SPACE)
    superfluous = np.flatnonzero(space[1:] & space[:-1])
    if not len(superfluous):
        return batch
    dropped_before = np.searchsorted(superfluous + 1, batch.offsets)
    units = cast("Units", np.delete(batch.units, superfluous))
    return TextBatch(units, batch.offsets - dropped_before)
