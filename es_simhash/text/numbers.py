"""Runs of characters without their numbers, and the numbers: what texts are compared by.

Two invoices of one form, or the news of two days, share nearly all of their runs, but are different documents: they
differ in their numbers. In these features a number weighs as much as `WEIGHT` runs, and is the same however it is
written.

A normalised text has numerals of two kinds. One is a run of decimal digits: those of Unicode 13.0, of any script. A run
of one to three goes on over groups of thousands: a separator (``,``, ``'`` or ``’``, the same one throughout) and a run
of exactly three digits. So ``12,500`` is one numeral; ``2024,123`` and ``3.14`` are two, ``1,2,3`` and ``2024-03-14``
three. The other kind is a run of 2 to 16 Chinese numerals, 〇零一二三四五六七八九十百千万亿 or the traditional 萬億; a
longer run, or one of them alone, is not a numeral.

The number of a numeral is its value, in ASCII digits without leading zeros. A Chinese numeral without a unit (十百千万
亿) is read digit by digit: 二〇二四 is 2024. In another one, 三万五千 say, each character changes one of four sums::

    a digit d                  digit = 10 * digit + d
    十, 百 or 千, a unit u      section += max(digit, 1) * u, digit = 0
    万                         low += max(section + digit, 1) * 10 ** 4, section = digit = 0
    亿                         high += max(low + section + digit, 1) * 10 ** 8, low = section = digit = 0

All four begin at 0, and the value is what they are together at the end: 35000; 一万亿 is 10 ** 12.

The features of a text are, in this order:

1. The runs, of 2 code points where a dense one begins them (see `es_simhash.text.words`), of the masked text, in
   which a ``0`` stands for each numeral.
2. For each distinct number, in ascending order, `WEIGHT` tokens: the characters U+0001, U+0002 … each followed by the
   number. If 1, 2 … k are all among the numbers, for a k of 3 or more, those up to the largest such k have no tokens:
   they count what any text has, as articles or the entries of a list.

The empty text has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import count, takewhile
from typing import NamedTuple, cast

import numpy as np

from es_simhash._core.arrays import Integers, rows_of
from es_simhash.text import features, hashing
from es_simhash.text.features import FeatureBatch, TextBatch, Units
from es_simhash.text.normalise import VALUES, ZEROS
from es_simhash.text.words import Spans, run_features, run_spans, spans_from_lists

# Code points of the runs that begin in a dense script.
_DENSE = 2
# Runs that a number weighs as much as.
WEIGHT = 7

_PREFIXES = [chr(place) for place in range(1, WEIGHT + 1)]
_MASK = "0"
# So many numbers that count up from 1 are left out.
_COUNTED = 3

_SEPARATORS = ",'’"
_GROUP = 3

_CHINESE_DIGITS = {"〇": 0} | {digit: value for value, digit in enumerate("零一二三四五六七八九")}
_UNITS = {"十": 10, "百": 100, "千": 1000}
_LOW, _HIGH = "万萬", "亿億"
_CHINESE = "".join([*_CHINESE_DIGITS, *_UNITS, *_LOW, *_HIGH])
_LEAST, _MOST = 2, 16

_DIGITS = "".join(f"{chr(zero)}-{chr(zero + 9)}" for zero in ZEROS)
_RUNS = re.compile(f"[{_DIGITS}]+|[{_CHINESE}]{{{_LEAST},}}")
_TO_ASCII = str.maketrans({digit: str(value) for digit, value in VALUES.items()} | dict.fromkeys(_SEPARATORS, ""))


def numbers_of(text: str) -> list[str]:
    """Return the numbers of a normalised text that have tokens, in ascending order."""
    return _distinct(numeral.number for numeral in _numerals(text))


def masked(text: str) -> str:
    """Return a normalised text with a 0 in the place of each numeral."""
    return _masked(text, list(_numerals(text)))


def run_and_number_spans(batch: TextBatch) -> Spans:
    """Return the runs and the tokens of the numbers of each text."""
    without, numbers = _parted(batch)
    runs = run_spans(without, _DENSE)
    starts = np.concatenate((runs.starts, numbers.starts + len(runs.units)))
    ends = np.concatenate((runs.ends, numbers.ends + len(runs.units)))
    order = _order(runs.offsets, numbers.offsets)
    joined = np.concatenate((runs.units, numbers.units))
    return Spans(cast("Units", joined), starts[order], ends[order], runs.offsets + numbers.offsets)


def run_and_number_features(batch: TextBatch, bits: int) -> FeatureBatch:
    """Hash the tokens of `run_and_number_spans` by poly64, all runs of a length at once."""
    without, numbers = _parted(batch)
    runs = run_features(without, _DENSE, bits)
    hashes = hashing.hash_spans(numbers.units, numbers.starts, numbers.ends, bits)
    order = _order(runs.offsets, numbers.offsets)
    return FeatureBatch(np.concatenate((runs.hashes, hashes))[order], runs.offsets + numbers.offsets)


class _Numeral(NamedTuple):
    """What stands from ``start`` up to ``end`` in a text."""

    start: int
    end: int
    number: str


def _numerals(text: str) -> Iterator[_Numeral]:
    """Yield the numerals of a text."""
    runs = _RUNS.finditer(text)
    run = next(runs, None)
    while run:
        start, end = run.span()
        run = next(runs, None)
        if text[start] in _CHINESE:
            if end - start <= _MOST:
                yield _Numeral(start, end, str(_chinese_value(text[start:end])))
            continue
        separator = text[end : end + 1] if end - start <= _GROUP else ""
        while run and _is_group(text, separator, end, run):
            end = run.end()
            run = next(runs, None)
        yield _Numeral(start, end, text[start:end].translate(_TO_ASCII).lstrip("0") or "0")


def _is_group(text: str, separator: str, end: int, run: re.Match[str]) -> bool:
    """Tell whether a run is a group of thousands of the numeral that ends before it."""
    start = end + 1
    if not separator or separator not in _SEPARATORS or run.start() != start or run.end() != start + _GROUP:
        return False
    return text[end] == separator and text[start] not in _CHINESE


def _chinese_value(numeral: str) -> int:
    high = low = section = digit = 0
    for character in numeral:
        if character in _CHINESE_DIGITS:
            digit = 10 * digit + _CHINESE_DIGITS[character]
        elif character in _UNITS:
            section += max(digit, 1) * _UNITS[character]
            digit = 0
        elif character in _LOW:
            low += max(section + digit, 1) * 10**4
            section = digit = 0
        else:
            high += max(low + section + digit, 1) * 10**8
            low = section = digit = 0
    return high + low + section + digit


def _distinct(numbers: Iterable[str]) -> list[str]:
    """Return each number once, in ascending order, without those that count up from 1."""
    found = set(numbers)
    counted = list(takewhile(found.__contains__, map(str, count(1))))
    left = found.difference(counted) if len(counted) >= _COUNTED else found
    return sorted(left, key=lambda number: (len(number), number))


def _masked(text: str, numerals: list[_Numeral]) -> str:
    starts = [numeral.start for numeral in numerals]
    ends = [numeral.end for numeral in numerals]
    between = zip([0, *ends], [*starts, len(text)], strict=True)
    return _MASK.join(text[start:end] for start, end in between)


def _parted(batch: TextBatch) -> tuple[TextBatch, Spans]:
    """Return the masked texts, and the tokens of the numbers of each."""
    texts, tokens = [], []
    for text in batch.texts():
        numerals = list(_numerals(text))
        texts.append(_masked(text, numerals))
        numbers = _distinct(numeral.number for numeral in numerals)
        tokens.append([prefix + number for number in numbers for prefix in _PREFIXES])
    return features.batch(texts), spans_from_lists(tokens)


def _order(runs: Integers, numbers: Integers) -> Integers:
    """Return the order in which each text's runs precede its numbers, given the offsets of both."""
    return np.argsort(np.concatenate((rows_of(runs), rows_of(numbers))), kind="stable")
