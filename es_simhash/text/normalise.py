"""Normalising texts: markup, Unicode, case, width, spaces, and characters that are taken for one; of one or of many."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, TypeAlias, cast, get_args

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers, distinct_sorted, spread
from es_simhash.errors import MissingExtraError, SchemeError
from es_simhash.text.features import TextBatch, Units, encode, is_continuation, join, offsets_of, strip


@dataclass(frozen=True)
class Normalisation:
    """The steps of normalisation; by default all of them but ``fold``, which names kinds of folding.

    >>> Normalisation(fold=("han", "kana"))("漢字、カナ") == "汉字、かな"
    True
    """

    nfkc: bool = True
    casefold: bool = True
    whitespace: bool = True
    fold: tuple[Folding, ...] = ()

    def __post_init__(self) -> None:
        for step in (self.nfkc, self.casefold, self.whitespace):
            if not isinstance(step, bool):
                raise SchemeError(f"A step of the normalisation cannot be {step!r}. Give True or False.")
        object.__setattr__(self, "fold", checked_kinds(self.fold))

    def __call__(self, text: str) -> str:
        """Normalise a text."""
        text = self.of_characters(text)
        return " ".join(text.split()) if self.whitespace else text

    def of_characters(self, text: str) -> str:
        """Take the first three steps, which look at characters and their combinations only."""
        if text.isascii():
            return text.lower() if self.casefold else text
        parts = _unassigned().split(text)
        parts[::2] = map(self._fold_assigned, parts[::2])
        text = "".join(parts)
        return text.translate(folded_characters(self.fold)) if self.fold else text

    def _fold_assigned(self, text: str) -> str:
        if self.nfkc:
            text = unicodedata.normalize("NFKC", text)
        if self.casefold:
            text = text.casefold()
            if self.nfkc:
                text = unicodedata.normalize("NFKC", text)
        return text


def is_unassigned(character: str) -> bool:
    """Return whether Unicode 13.0 has no such character."""
    return _unassigned().match(character) is not None


def unassigned_ranges() -> list[tuple[int, int]]:
    """Return the first and the last of each run of code points that Unicode 13.0 has not assigned."""
    ranges = files(__package__).joinpath("unassigned.txt").read_text(encoding="ascii").split()
    bounds = (line.split("-") for line in ranges)
    return [(int(first, 16), int(last, 16)) for first, last in bounds]


@cache
def _unassigned() -> re.Pattern[str]:
    return re.compile("([" + "".join(f"\\U{low:08X}-\\U{high:08X}" for low, high in unassigned_ranges()) + "]+)")


_SPACE = " "
_HIGH_SURROGATES = range(0xD800, 0xDC00)
_LOW_SURROGATES = range(0xDC00, 0xE000)
# Three values that no unit becomes: one not met yet, one that begins a segment, and one that belongs to the segment
# before it. The surrogates with these values are in segments themselves.
_UNKNOWN, _BEGINS, _JOINS = 0xDFFD, 0xDFFE, 0xDFFF
# In addition to characters with a combining class: those that compose with the one before, also Hangul jamo.
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


def _fold_segments(units: Units, mapped: TextBatch, begin: Integers, end: Integers, unit_map: _UnitMap) -> TextBatch:
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


def _distinct(units: Units, begin: Integers, end: Integers) -> tuple[list[str], Integers]:
    """Return the distinct segments, and which of them each one is; long ones count again each time."""
    sizes, data = end - begin, units.astype("<u2").tobytes()
    is_short = sizes <= _SHORT
    place = begin[is_short, np.newaxis] + np.arange(_SHORT)
    padded = np.append(units, np.zeros(_SHORT, dtype="<u2")).astype("<u2", copy=False)
    keys = np.where(place < end[is_short, np.newaxis], padded[place], 0).astype("<u2", copy=False)
    short, which_short = _unique(keys.view("<u8").ravel())
    long_ones = np.flatnonzero(~is_short).tolist()
    which = np.empty(len(begin), dtype=np.int64)
    which[is_short], which[long_ones] = which_short, len(short) + np.arange(len(long_ones))
    # No segment ends with NUL, which is not a mark.
    distinct = [key.tobytes().decode("utf-16-le").rstrip("\0") for key in short]
    distinct += [data[2 * begin[i] : 2 * end[i]].decode("utf-16-le") for i in long_ones]
    return distinct, which


def _unique(keys: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.uint64], Integers]:
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


def _without(batch: TextBatch, positions: Integers) -> TextBatch:
    """Return the texts without the units at these positions."""
    if not len(positions):
        return batch
    units = cast("Units", np.delete(batch.units, positions))
    return TextBatch(units, batch.offsets - np.searchsorted(positions, batch.offsets))


Folding: TypeAlias = Literal["han", "kana", "accents"]
KINDS: tuple[Folding, ...] = get_args(Folding)

HAN_VARIANTS = "han_variants.txt"
# Katakana which have hiragana, and how far these are from them.
_KATAKANA, _TO_HIRAGANA = (*range(0x30A1, 0x30F7), 0x30FD, 0x30FE), -0x60
# Letters of the Latin and Greek scripts with accents, and the marks that are taken from them.
_ACCENTED, _MARKS = (*range(0xC0, 0x250), *range(0x370, 0x400), *range(0x1E00, 0x2000)), range(0x300, 0x370)


def checked_kinds(kinds: Iterable[Folding]) -> tuple[Folding, ...]:
    """Return kinds of folding, each once, in their order.

    >>> checked_kinds(["kana", "han"])
    ('han', 'kana')
    """
    asked = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    for kind in asked:
        if kind not in KINDS:
            raise SchemeError(f"Unknown folding {kind!r}. Choose from: {', '.join(KINDS)}.")
    return tuple(kind for kind in KINDS if kind in asked)


@cache
def folded_characters(kinds: tuple[Folding, ...]) -> Mapping[int, str]:
    """Return what each character becomes that these kinds of folding change; for `str.translate`.

    >>> "愛はカ".translate(folded_characters(("han", "kana")))
    '爱はか'
    """
    tables = {"han": _han, "kana": _kana, "accents": _accents}
    return {point: folded for kind in kinds for point, folded in tables[kind]().items()}


def _han() -> dict[int, str]:
    lines = files(__package__).joinpath(HAN_VARIANTS).read_text(encoding="utf-8").splitlines()
    classes = (each for line in lines if not line.startswith("#") for each in line.split())
    return {ord(other): each[0] for each in classes for other in each[1:]}


def _kana() -> dict[int, str]:
    return {point: chr(point + _TO_HIRAGANA) for point in _KATAKANA}


def _accents() -> dict[int, str]:
    found = dict.fromkeys(_MARKS, "")
    for point in _ACCENTED:
        decomposed = unicodedata.normalize("NFKD", chr(point))
        letter, marks = decomposed[0], decomposed[1:]
        if marks and letter != " " and all(ord(mark) in _MARKS for mark in marks):
            found[point] = letter
    return found


_UNSEEN = ("script", "style", "template", "noscript", "head")


def strip_html(html: str) -> str:
    """Return what a reader sees: the text nodes outside of scripts and styles, with a space between each two."""
    try:
        from selectolax.lexbor import LexborHTMLParser
    except ImportError:
        raise MissingExtraError("selectolax, which strips HTML,", "html") from None
    if not html.strip():
        return ""
    tree = LexborHTMLParser(html)
    tree.strip_tags(list(_UNSEEN))
    return str(tree.text(separator=" ", strip=False))


# Each of these zeros is followed by the other nine digits of its script.
ZEROS = (
    *(0x30, 0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xDE6, 0xE50, 0xED0),
    *(0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620),
    *(0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10, 0x104A0, 0x10D30, 0x11066, 0x110F0, 0x11136, 0x111D0),
    *(0x112F0, 0x11450, 0x114D0, 0x11650, 0x116C0, 0x11730, 0x118E0, 0x11950, 0x11C50, 0x11D50, 0x11DA0, 0x16A60),
    *(0x16B50, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6, 0x1E140, 0x1E2F0, 0x1E950, 0x1FBF0),
)

# The value of each digit.
VALUES = {chr(zero + value): value for zero in ZEROS for value in range(10)}
