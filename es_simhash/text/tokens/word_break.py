"""The default word boundaries of Unicode (UAX #29, rules WB1 to WB999), for many texts at once.

The properties they depend on are those of Unicode 18.0, in word_break_data.txt: a newer Python or library never moves a
boundary.

The Unicode Standard, Annex #29: Unicode Text Segmentation, 4. Word Boundaries. https://www.unicode.org/reports/tr29/
"""

from __future__ import annotations

import sys
from enum import IntEnum, auto
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers

Properties = npt.NDArray[np.uint8]
_Values = npt.NDArray[np.uint32]
_Mask = npt.NDArray[np.bool_]

# One byte a character: its Word_Break value in the low bits, and two flags.
VALUE = 0b0001_1111
PICTOGRAPHIC = 0b0010_0000
ALPHANUMERIC = 0b0100_0000


class WordBreak(IntEnum):
    """The values of the property Word_Break."""

    OTHER = 0
    CR = auto()
    LF = auto()
    NEWLINE = auto()
    EXTEND = auto()
    ZWJ = auto()
    FORMAT = auto()
    REGIONAL_INDICATOR = auto()
    KATAKANA = auto()
    HEBREW_LETTER = auto()
    ALETTER = auto()
    SINGLE_QUOTE = auto()
    DOUBLE_QUOTE = auto()
    MIDNUMLET = auto()
    MIDLETTER = auto()
    MIDNUM = auto()
    NUMERIC = auto()
    EXTENDNUMLET = auto()
    WSEGSPACE = auto()


def _set(*values: WordBreak) -> int:
    """Return a set of values as bits."""
    return sum(1 << value for value in values)


_CR = _set(WordBreak.CR)
_LF = _set(WordBreak.LF)
_LINE_ENDS = _set(WordBreak.NEWLINE) | _CR | _LF
_JOINER = _set(WordBreak.ZWJ)
_IGNORABLE = _set(WordBreak.EXTEND, WordBreak.FORMAT) | _JOINER
_HEBREW = _set(WordBreak.HEBREW_LETTER)
_LETTER = _set(WordBreak.ALETTER) | _HEBREW
_NUMBER = _set(WordBreak.NUMERIC)
_KATAKANA = _set(WordBreak.KATAKANA)
_CONNECTOR = _set(WordBreak.EXTENDNUMLET)
_APOSTROPHE = _set(WordBreak.SINGLE_QUOTE)
_MID_LETTER = _set(WordBreak.MIDLETTER, WordBreak.MIDNUMLET) | _APOSTROPHE
_MID_NUMBER = _set(WordBreak.MIDNUM, WordBreak.MIDNUMLET) | _APOSTROPHE
_REGIONAL = _set(WordBreak.REGIONAL_INDICATOR)
_SPACE = _set(WordBreak.WSEGSPACE)

# (one, the next): no boundary between them.
_PAIRS = (
    (_LETTER | _NUMBER, _LETTER | _NUMBER),  # WB5, WB8, WB9, WB10
    (_HEBREW, _APOSTROPHE),  # WB7a
    (_KATAKANA, _KATAKANA),  # WB13
    (_LETTER | _NUMBER | _KATAKANA | _CONNECTOR, _CONNECTOR),  # WB13a
    (_CONNECTOR, _LETTER | _NUMBER | _KATAKANA),  # WB13b
)
# (one, the next, the one after): no boundary on either side of the one in the middle.
_TRIPLES = (
    (_LETTER, _MID_LETTER, _LETTER),  # WB6, WB7
    (_HEBREW, _set(WordBreak.DOUBLE_QUOTE), _HEBREW),  # WB7b, WB7c
    (_NUMBER, _MID_NUMBER, _NUMBER),  # WB11, WB12
)


@cache
def properties_table() -> Properties:
    """Return the properties of each code point."""
    flags = {"Extended_Pictographic": PICTOGRAPHIC, "Alphanumeric": ALPHANUMERIC}
    table = np.zeros(sys.maxunicode + 1, dtype=np.uint8)
    for line in files(__package__).joinpath("word_break_data.txt").read_text(encoding="ascii").splitlines():
        name, *ranges = line.split()
        if name == "#":
            continue
        bits = np.uint8(flags[name] if name in flags else WordBreak[name.upper()])
        for span in ranges:
            first, _, last = span.partition("-")
            table[int(first, 16) : int(last or first, 16) + 1] |= bits
    return table


def segment_starts(properties: Properties, text_starts: Integers) -> Integers:
    """Return where the segments between boundaries begin, given the properties of each character of some texts.

    ``text_starts`` are the positions at which texts begin; each begins a segment (WB1, WB2).
    """
    is_first = np.zeros(len(properties), dtype=np.bool_)
    is_first[text_starts] = True
    values = np.left_shift(np.uint32(1), properties & VALUE, dtype=np.uint32)
    # WB4: what extends a character goes with it, and the later rules look at what is left.
    attached = _in(values, _IGNORABLE) & ~is_first
    attached[1:] &= ~_in(values[:-1], _LINE_ENDS)
    left = np.flatnonzero(~attached)
    joined = _joined_as_they_stand(values, properties)[left] | _joined(values[left], is_first[left])
    return left[~joined | is_first[left]]


def _joined_as_they_stand(values: _Values, properties: Properties) -> _Mask:
    """Return whether each character belongs to the one before it by the rules before WB4."""
    before = np.append(np.uint32(0), values[:-1])
    pictographic = (properties & PICTOGRAPHIC).astype(np.bool_)
    joined = _in(before, _CR) & _in(values, _LF)  # WB3
    joined |= _in(before, _JOINER) & pictographic  # WB3c
    joined |= _in(before, _SPACE) & _in(values, _SPACE)  # WB3d
    return joined


def _joined(values: _Values, is_first: _Mask) -> _Mask:
    """Return whether each character belongs to the one before it by the rules after WB4."""
    nothing = np.uint32(0)
    before = np.where(is_first, nothing, np.append(nothing, values[:-1]))
    before_that = np.where(is_first, nothing, np.append(nothing, before[:-1]))
    after = np.append(np.where(is_first[1:], nothing, values[1:]), nothing)
    joined: _Mask = _indicators_before(values, before) % 2 == 1  # WB15, WB16
    for one, next_one in _PAIRS:
        joined |= _in(before, one) & _in(values, next_one)
    for one, middle, last in _TRIPLES:
        joined |= _in(before, one) & _in(values, middle) & _in(after, last)
        joined |= _in(before_that, one) & _in(before, middle) & _in(values, last)
    return joined


def _indicators_before(values: _Values, before: _Values) -> Integers:
    """Count the regional indicators directly before each; 0 for other characters."""
    indicator = _in(values, _REGIONAL)
    positions = np.arange(len(values))
    run_starts = np.maximum.accumulate(np.where(indicator & ~_in(before, _REGIONAL), positions, 0))
    counts: Integers = np.where(indicator, positions - run_starts, 0)
    return counts


def _in(values: _Values, wanted: int) -> _Mask:
    return np.bitwise_and(values, wanted).astype(np.bool_)
