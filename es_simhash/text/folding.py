"""Characters that are taken for one: Han characters in the forms of different scripts, kana, letters with accents.

Each kind of folding replaces single characters of a text that is otherwise normalised:

``han``      each form of a Han character by one of them: 愛 and 爱 are one, as are 氣, 気 and 气. The classes are in
             ``han_variants.txt``, whose first characters stand for the others. The context does not matter:
             發 and 髮 are both 发.
``kana``     ァ to ヶ, ヽ and ヾ by hiragana: ラーメン is らーめん.
``accents``  a letter of the Latin or Greek script by what its compatibility decomposition begins with, if combining
             marks from U+0300 to U+036F follow there: ǘ is u. Marks in this range that are left go.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Literal, TypeAlias, get_args

from es_simhash.errors import SchemeError

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
            raise SchemeError(f"There is no folding {kind!r}. Choose from: {', '.join(KINDS)}.")
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
