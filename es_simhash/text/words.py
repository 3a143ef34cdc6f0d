"""Words, by Unicode's rules of word boundaries (UAX #29), and runs of characters.

This is a stored format. It reads the code points of a normalised text. The run that begins at a position has n code
points if the first of them is dense, n being 2 or 3, or else 5, whatever the others are; where fewer follow, no run
begins. A text that has no run at all is one run as a whole; the empty text has none. Each run is hashed as a token, so
a text of letters only has the very features of character 5-grams, and one of ideographs only those of n-grams.

Dense are the code points of `DENSE`, first and last of each range: Han, kana and bopomofo, and hangul. They are listed
here, and depend on no version of Unicode.
"""

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
from es_simhash.text import hashing
from es_simhash.text.features import FeatureBatch, TextBatch, Units, batch, encode, is_continuation, offsets_of

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


# Code points of a run whose first one is not dense.
LONG = 5

_HAN = (
    (0x3005, 0x3007),
    (0x3021, 0x3029),
    (0x3038, 0x303B),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x323AF),
)
_KANA_AND_BOPOMOFO = (
    (0x3041, 0x3096),
    (0x309D, 0x309F),
    (0x30A1, 0x30FA),
    (0x30FC, 0x30FF),
    (0x3105, 0x312F),
    (0x31F0, 0x31FF),
    (0x1B000, 0x1B16F),
)
_HANGUL = ((0x1100, 0x11FF), (0x3131, 0x318E), (0xA960, 0xA97C), (0xAC00, 0xD7A3), (0xD7B0, 0xD7FB))
DENSE = _HAN + _KANA_AND_BOPOMOFO + _HANGUL

Flags = npt.NDArray[np.bool_]


def run_spans(batch: TextBatch, n: int) -> Spans:
    """Return the runs of each text, n code points where a dense one begins them."""
    starts = np.flatnonzero(~is_continuation(batch.units))
    return _spans(batch, starts, np.where(_is_dense(_points(batch.units, starts)), n, LONG))


def run_features(batch: TextBatch, n: int, bits: int) -> FeatureBatch:
    """Hash the runs of `run_spans` by poly64, all windows of a length at once."""
    if is_continuation(batch.units).any():
        spans = run_spans(batch, n)
        return FeatureBatch(hashing.hash_spans(spans.units, spans.starts, spans.ends, bits), spans.offsets)
    dense = _is_dense(batch.units)
    if not dense.any():
        return char_features(batch, LONG, bits)
    first, after, offsets = _runs(np.where(dense, n, LONG), batch.offsets)
    lengths = after - first
    hashes = np.empty((len(first), 2) if bits == 128 else len(first), dtype=np.uint64)
    for length in (n, LONG):
        there = np.flatnonzero(lengths == length)
        hashes[there] = hashing.hash_windows(batch.units, length, bits)[first[there]]
    # Only whole texts are of other lengths.
    whole = np.flatnonzero((lengths != n) & (lengths != LONG))
    hashes[whole] = hashing.hash_spans(batch.units, first[whole], after[whole], bits)
    return FeatureBatch(hashes, offsets)


def _spans(batch: TextBatch, starts: Integers, lengths: Integers) -> Spans:
    """Return the runs whose first code points begin at ``starts``, with the given number of code points each."""
    bounds = np.append(starts, len(batch.units))
    first, after, offsets = _runs(lengths, np.searchsorted(starts, batch.offsets))
    return Spans(batch.units, bounds[first], bounds[after], offsets)


def _runs(lengths: Integers, offsets: Integers) -> tuple[Integers, Integers, Integers]:
    """Return the first code point of each run, the one after its last, and the offsets of the texts' runs.

    ``lengths`` are those that a run has at each code point, ``offsets`` those of the texts' code points.
    """
    after = np.arange(len(lengths)) + lengths
    counts = np.diff(offsets)
    kept = after <= np.repeat(offsets[1:], counts)
    found = np.append(0, np.cumsum(kept))[offsets]
    whole = (np.diff(found) == 0) & (counts > 0)
    firsts, ends = offsets[:-1][whole], offsets[1:][whole]
    kept[firsts], after[firsts] = True, ends
    first, runs = select(np.arange(len(lengths)), offsets, kept)
    return first, after[first], runs


def _points(units: Units, starts: Integers) -> npt.NDArray[np.int64]:
    """Return the code points that begin at ``starts``."""
    points = units[starts].astype(np.int64)
    pairs = np.flatnonzero((points >= 0xD800) & (points < 0xDC00))
    low = units[starts[pairs] + 1].astype(np.int64)
    points[pairs] = 0x10000 + ((points[pairs] & 0x3FF) << 10 | low & 0x3FF)
    return points


def _table() -> Flags:
    """Return whether each code point is dense, up to the last one that is, and one more for all that follow."""
    table = np.zeros(max(last for _, last in DENSE) + 2, dtype=np.bool_)
    for first, last in DENSE:
        table[first : last + 1] = True
    return table


_TABLE = _table()


def _is_dense(points: npt.NDArray[np.int64] | Units) -> Flags:
    if points.dtype == np.uint8:
        return np.zeros(len(points), dtype=np.bool_)
    return _TABLE.take(points, mode="clip")


def char_spans(batch: TextBatch, n: int) -> Spans:
    """Return the character n-grams of each text."""
    starts = np.flatnonzero(~is_continuation(batch.units))
    return _spans(batch, starts, np.full(len(starts), n))


def char_features(batch: TextBatch, n: int, bits: int) -> FeatureBatch:
    """Hash the character n-grams of `char_spans` by poly64, all windows at once."""
    if is_continuation(batch.units).any():
        spans = char_spans(batch, n)
        return FeatureBatch(hashing.hash_spans(spans.units, spans.starts, spans.ends, bits), spans.offsets)
    starts, ends = batch.offsets[:-1], batch.offsets[1:]
    lengths = ends - starts
    counts = np.where(lengths > 0, np.maximum(lengths - n + 1, 1), 0)
    offsets = offsets_from_counts(counts)
    windows = hashing.hash_windows(batch.units, n, bits)
    parts = [windows[start : start + count] for start, count in zip(starts.tolist(), counts.tolist(), strict=True)]
    short = np.flatnonzero((lengths > 0) & (lengths < n))
    whole = hashing.hash_spans(batch.units, starts[short], ends[short], bits)
    for text, code in zip(short.tolist(), whole, strict=True):
        parts[text] = code[np.newaxis]
    return FeatureBatch(np.concatenate([windows[:0], *parts]), offsets)
