"""Buckets of pairs for separate scores: by text length, by script, and by whether the texts are equal."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers

# The bucket number of each pair, and the names of the buckets.
Bucketed: TypeAlias = tuple[npt.NDArray[np.int64], Sequence[str]]

_LENGTHS = (100, 300, 1_000, 3_000)
LENGTH_NAMES = ("0–100", "100–300", "300–1k", "1k–3k", "3k+")

_SCRIPTS = {"CJK UNIFIED": "Han", "CJK COMPATIBILITY": "Han", "IDEOGRAPHIC": "Han", "HIRAGANA": "Kana"}
_SCRIPTS |= {"KATAKANA": "Kana", "HALFWIDTH KATAKANA": "Kana", "HANGUL": "Hangul", "LATIN": "Latin"}
SCRIPT_NAMES = ("Han", "Kana", "Hangul", "Latin", "other", "mixed", "none")


# A letter of these scripts counts as five others: it says about as much as a short word.
_DENSE, _LETTERS_OF_A_WORD = {"Han", "Kana", "Hangul"}, 5


def script_of(text: str) -> str:
    """Return the script of more than half of a text's letters; ``mixed`` for no such script, ``none`` for no letters.

    Letters of Han, Kana and Hangul count five times: so a Chinese text with some code or names in it stays Chinese.
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


def by_length(texts: Iterable[str]) -> Callable[[Integers, Integers], Bucketed]:
    """Bucket pairs by the number of characters in the shorter text."""
    lengths = np.array([len(text) for text in texts], dtype=np.int64)

    def bucketed(first: Integers, second: Integers) -> Bucketed:
        shorter = np.minimum(lengths[first], lengths[second])
        return np.searchsorted(_LENGTHS, shorter, side="right"), LENGTH_NAMES

    return bucketed


def by_script(texts: Iterable[str]) -> Callable[[Integers, Integers], Bucketed]:
    """Bucket pairs by the script of both texts; pairs of two scripts are ``mixed``."""
    numbers = {name: number for number, name in enumerate(SCRIPT_NAMES)}
    scripts = np.array([numbers[script_of(text)] for text in texts], dtype=np.int64)

    def bucketed(first: Integers, second: Integers) -> Bucketed:
        return np.where(scripts[first] == scripts[second], scripts[first], numbers["mixed"]), SCRIPT_NAMES

    return bucketed


def by_identity(originals: Integers) -> Callable[[Integers, Integers], Bucketed]:
    """Bucket pairs by whether their texts are equal, by the `first_positions` of the texts."""

    def bucketed(first: Integers, second: Integers) -> Bucketed:
        return (originals[first] == originals[second]).astype(np.int64), ("unequal texts", "equal texts")

    return bucketed
