"""Kinds of pairs that scores are told for: by the length of the texts, by their script, and whether they are equal."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers

# The numbers of pairs' buckets, and what each bucket is called.
Bucketed: TypeAlias = tuple[npt.NDArray[np.int64], Sequence[str]]

_LENGTHS = (100, 300, 1_000, 3_000)
LENGTH_NAMES = ("0–100", "100–300", "300–1k", "1k–3k", "3k+")

_SCRIPTS = {"CJK UNIFIED": "Han", "CJK COMPATIBILITY": "Han", "IDEOGRAPHIC": "Han", "HIRAGANA": "Kana"}
_SCRIPTS |= {"KATAKANA": "Kana", "HALFWIDTH KATAKANA": "Kana", "HANGUL": "Hangul", "LATIN": "Latin"}
SCRIPT_NAMES = ("Han", "Kana", "Hangul", "Latin", "other", "mixed", "none")


# So many letters of other scripts say about as much as one of these, as a word of them does.
_DENSE, _LETTERS_OF_A_WORD = {"Han", "Kana", "Hangul"}, 5


def script_of(text: str) -> str:
    """The script of more than half of a text; ``mixed`` if there is none, and ``none`` if there are no letters.

    Letters count, those of Han, Kana and Hangul as five: so a Chinese text stays one, with some code or names in it.
    """
    scripts: Counter[str] = Counter()
    for character, count in Counter(text).items():
        if character.isalpha():
            script = _script(character)
            scripts[script] += count * (_LETTERS_OF_A_WORD if script in _DENSE else 1)
    if not scripts:
        return "none"
    [(script, count)] = scripts.most_common(1)
    return script if 2 * count > scripts.total() else "mixed"


@cache
def _script(letter: str) -> str:
    name = unicodedata.name(letter, "").removeprefix("FULLWIDTH ")
    return next((script for prefix, script in _SCRIPTS.items() if name.startswith(prefix)), "other")


def by_length(texts: Sequence[str]) -> Callable[[Integers, Integers], Bucketed]:
    """Pairs by the characters of the shorter text."""
    lengths = np.array([len(text) for text in texts], dtype=np.int64)

    def bucketed(first: Integers, second: Integers) -> Bucketed:
        shorter = np.minimum(lengths[first], lengths[second])
        return np.searchsorted(_LENGTHS, shorter, side="right"), LENGTH_NAMES

    return bucketed


def by_script(texts: Sequence[str]) -> Callable[[Integers, Integers], Bucketed]:
    """Pairs by the script of both texts; those of two scripts are ``mixed``."""
    numbers = {name: number for number, name in enumerate(SCRIPT_NAMES)}
    scripts = np.array([numbers[script_of(text)] for text in texts], dtype=np.int64)

    def bucketed(first: Integers, second: Integers) -> Bucketed:
        return np.where(scripts[first] == scripts[second], scripts[first], numbers["mixed"]), SCRIPT_NAMES

    return bucketed


def by_identity(apart: Integers) -> Callable[[Integers, Integers], Bucketed]:
    """Pairs by whether their texts are the same, byte by byte; ``apart`` tells the first document of each text."""

    def bucketed(first: Integers, second: Integers) -> Bucketed:
        return (apart[first] == apart[second]).astype(np.int64), ("unequal texts", "equal texts")

    return bucketed
