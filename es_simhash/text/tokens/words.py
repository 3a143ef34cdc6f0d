"""Words: the segments between Unicode's default word boundaries that hold a letter, a digit or an ideograph.

White space, punctuation, symbols and emoji are no words, except within words: "can't", "3.14", "U.S.A" and "snake_case"
are one word each. A run of Katakana is one word. An ideograph is a word of its own, and so is a Hiragana character, and
a letter with its marks in Thai, Lao, Khmer and Burmese, whose words only a dictionary could find. A keycap emoji
("1️⃣") is a word because of its digit, a squared letter ("🅰") because of its letter.
`es_simhash.text.tokens.word_break` has the rules.

Most texts need few of the rules: those without combining marks, joiners and format characters, without Hebrew, and
without letters beyond U+FFFF. The traits of a unit and its two neighbours decide their boundaries, so a few operations
on bytes find all words of a batch. The other texts need all rules.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers, distinct_sorted, offsets_from_counts
from es_simhash.text.tokens.spans import Spans
from es_simhash.text.tokens.word_break import ALPHANUMERIC, VALUE, WordBreak, properties_table, segment_starts
from es_simhash.text.units import TextBatch, Units, batch, is_continuation

_Traits = npt.NDArray[np.uint8]

# What the simple rules need of a unit. Two neighbours belong together if they have one of the two highest traits in
# common; a unit with none of the three highest is in no word.
_LETTER, _DIGIT = 1, 2  # without _JOINS: may stand between two letters, two digits
_HARD = 4  # needs all the rules
_NO_WORD_ALONE = 8  # joins, but is neither alphabetic nor numeric
_ALPHANUMERIC = 32
_JOINS = 64  # with letters, digits and connectors
_JOINS_KATAKANA = 128  # with Katakana and connectors

_TRAITS = {
    WordBreak.ALETTER: _LETTER | _JOINS,
    WordBreak.NUMERIC: _DIGIT | _JOINS,
    WordBreak.KATAKANA: _JOINS_KATAKANA,
    WordBreak.EXTENDNUMLET: _JOINS | _JOINS_KATAKANA,
    WordBreak.MIDLETTER: _LETTER,
    WordBreak.MIDNUM: _DIGIT,
    WordBreak.MIDNUMLET: _LETTER | _DIGIT,
    WordBreak.SINGLE_QUOTE: _LETTER | _DIGIT,
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
    common = traits[:-2] & traits[2:] & (traits[1:-1] | _JOINS) & (_JOINS | _LETTER | _DIGIT)
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
