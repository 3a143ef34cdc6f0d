"""Words, by Unicode's rules of word boundaries (UAX #29)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum, auto
from functools import cache
from importlib.resources import files
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers, distinct_sorted, offsets_from_counts, positions_in_rows, select
from es_simhash.errors import TextError
from es_simhash.text.features import TextBatch, Units, batch, encode, is_continuation, offsets_of

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


_Traits = npt.NDArray[np.uint8]

# What the simple rules need of a unit. Two neighbours belong together if they have one of the two highest traits in
# common; a unit with none of the three highest is in no word.
_LETTERS, _DIGIT = 1, 2  # without _JOINS: may stand between two letters, two digits
_HARD = 4  # needs all the rules
_NO_WORD_ALONE = 8  # joins, but is neither alphabetic nor numeric
_ALPHANUMERIC = 32
_JOINS = 64  # with letters, digits and connectors
_JOINS_KATAKANA = 128  # with Katakana and connectors

_TRAITS = {
    WordBreak.ALETTER: _LETTERS | _JOINS,
    WordBreak.NUMERIC: _DIGIT | _JOINS,
    WordBreak.KATAKANA: _JOINS_KATAKANA,
    WordBreak.EXTENDNUMLET: _JOINS | _JOINS_KATAKANA,
    WordBreak.MIDLETTER: _LETTERS,
    WordBreak.MIDNUM: _DIGIT,
    WordBreak.MIDNUMLET: _LETTERS | _DIGIT,
    WordBreak.SINGLE_QUOTE: _LETTERS | _DIGIT,
    WordBreak.EXTEND: _HARD,
    WordBreak.FORMAT: _HARD,
    WordBreak.ZWJ: _HARD,
    WordBreak.HEBREW_LETTER: _HARD,
}
_HIGH_SURROGATES = slice(0xD800, 0xDC00)


def words(text: str) -> list[str]:
    """Return the words of one text."""
    return word_spans(batch([text])).strings()


def word_spans(texts: TextBatch) -> Spans:
    """Return the words of each text."""
    starts, ends, met = _simple_words(texts)
    if met & _NO_WORD_ALONE:
        starts, ends = _with_alphanumeric(_traits(texts.units), starts, ends)
    if met & _HARD:
        hard = np.flatnonzero(_traits(texts.units) & _HARD)
        rows = distinct_sorted(np.searchsorted(texts.offsets, hard, side="right") - 1)
        starts, ends = _replace(texts, rows, starts, ends)
    return Spans(texts.units, starts, ends, np.searchsorted(starts, texts.offsets))


def _simple_words(texts: TextBatch) -> tuple[Integers, Integers, int]:
    """Return the starts and ends of the words by the simple rules, and all the traits that were met."""
    traits, offsets = _traits(texts.units), texts.offsets
    met = int(np.bitwise_or.reduce(traits))
    filled = offsets[:-1] < offsets[1:]
    firsts, lasts = offsets[:-1][filled], offsets[1:][filled] - 1
    _join_over_middles(traits, firsts, lasts)
    in_word = traits >= _ALPHANUMERIC
    apart = np.empty(len(traits) + 1, dtype=np.bool_)
    np.less(traits[1:] & traits[:-1], _JOINS, out=apart[1:-1])
    apart[firsts] = apart[-1] = True
    return np.flatnonzero(in_word & apart[:-1]), np.flatnonzero(in_word & apart[1:]) + 1, met


def _join_over_middles(traits: _Traits, firsts: Integers, lasts: Integers) -> None:
    """Let the apostrophe of "can't" and the point of "3.14" join with their neighbours (WB6, 7, 11, 12)."""
    common = traits[:-2] & traits[2:] & (traits[1:-1] | _JOINS) & (_JOINS | _LETTERS | _DIGIT)
    joined = np.empty(len(traits), dtype=np.bool_)
    np.greater(common, _JOINS, out=joined[1:-1])
    joined[firsts] = joined[lasts] = False
    traits |= joined * np.uint8(_JOINS)


def _with_alphanumeric(traits: _Traits, starts: Integers, ends: Integers) -> tuple[Integers, Integers]:
    """Drop the segments that have no letter and no digit, such as "__"."""
    doubtful = np.flatnonzero(traits[starts] & _NO_WORD_ALONE)
    spans = zip(starts[doubtful].tolist(), ends[doubtful].tolist(), strict=True)
    no_words = doubtful[[not (traits[start:end] & _ALPHANUMERIC).any() for start, end in spans]]
    return np.delete(starts, no_words), np.delete(ends, no_words)


def _replace(texts: TextBatch, rows: Integers, starts: Integers, ends: Integers) -> tuple[Integers, Integers]:
    """Replace the words of the texts ``rows`` by those that all the rules find."""
    part = _texts_at(texts, rows)
    new_starts, new_ends = _words_by_all_rules(part)
    bounds, new_bounds = np.searchsorted(starts, texts.offsets), np.searchsorted(new_starts, part.offsets)
    moved = np.repeat(texts.offsets[rows] - part.offsets[:-1], np.diff(new_bounds))

    def splice(values: Integers, new_values: Integers) -> Integers:
        parts, done = [], 0
        for i, row in enumerate(rows.tolist()):
            parts += [values[done : bounds[row]], new_values[new_bounds[i] : new_bounds[i + 1]]]
            done = bounds[row + 1]
        return np.concatenate([*parts, values[done:]])

    return splice(starts, new_starts + moved), splice(ends, new_ends + moved)


def _texts_at(texts: TextBatch, rows: Integers) -> TextBatch:
    bounds = zip(texts.offsets[rows].tolist(), texts.offsets[rows + 1].tolist(), strict=True)
    units = np.concatenate([texts.units[start:end] for start, end in bounds], dtype=np.uint16)
    return TextBatch(units, offsets_from_counts(np.diff(texts.offsets)[rows]))


def _words_by_all_rules(texts: TextBatch) -> tuple[Integers, Integers]:
    """Return the starts and ends of the words of texts that are not empty."""
    characters = np.flatnonzero(~is_continuation(texts.units))
    properties = properties_table()[_code_points(texts.units)]
    starts = segment_starts(properties, np.searchsorted(characters, texts.offsets[:-1]))
    is_word = np.logical_or.reduceat(properties & ALPHANUMERIC, starts)
    bounds = np.append(characters[starts], len(texts.units))
    return bounds[:-1][is_word], bounds[1:][is_word]


def _code_points(units: Units) -> npt.NDArray[np.uint32]:
    text = units.astype("<u2").tobytes().decode("utf-16-le")
    return np.frombuffer(text.encode("utf-32-le"), dtype="<u4")


def _traits(units: Units) -> _Traits:
    table = _traits_table()
    if units.dtype == np.uint8:
        translated = bytearray(units).translate(table[:256].tobytes())
        return np.frombuffer(translated, dtype=np.uint8)
    traits: _Traits = np.take(table, units, mode="clip")
    return traits


@cache
def _traits_table() -> _Traits:
    """Return the traits of each UTF-16 unit."""
    properties = properties_table()[: 1 << 16]
    of_value = np.zeros(VALUE + 1, dtype=np.uint8)
    of_value[list(_TRAITS)] = list(_TRAITS.values())
    table: _Traits = of_value[properties & VALUE]
    alphanumeric = properties & ALPHANUMERIC != 0
    table[alphanumeric] |= _ALPHANUMERIC
    table[~alphanumeric & (table >= _JOINS)] |= _NO_WORD_ALONE
    beyond = properties_table()[1 << 16 :].reshape(-1, 1 << 10) & (VALUE | ALPHANUMERIC)
    table[_HIGH_SURROGATES] = np.where(beyond.any(axis=1), _HARD, 0)
    return table
