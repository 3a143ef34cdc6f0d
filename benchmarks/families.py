"""Families of copies: one page again and again, with another date, time and counter, and some words changed.

Crawlers, news desks and shops have many. Texts are written by the grammar of `make_corpus`, in English, Chinese and
Japanese. Sizes, lengths and shares of changed words are those of `SIZES`, `LENGTHS` and `SHARES`; a family of each
combination makes the labelled set ``families``, in which every family is a cluster.

>>> family("en", characters=300, share=0.01, size=2, seed=3)[0].startswith("Published ")
True
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count

from benchmarks.git_sets import Member
from examples.corpus import Language, Writer, language

LANGUAGES = ("en", "zh", "ja")
SIZES = (2, 5, 10, 30, 100)
SHARES = (0.0, 0.01, 0.02)
# In characters, before anything is changed; the first is short.
LENGTHS = (200, 400, 900)

_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_SENTENCES = 9


def family(code: str, characters: int, share: float, size: int, seed: int) -> list[str]:
    """Return copies of one text, about ``characters`` long, each stamped, with this share of its words changed."""
    chosen = random.Random(f"{code} {characters} {share} {size} {seed}")
    original, others = (_text(language(code), characters, chosen) for _ in range(2))
    return [_stamp(code, chosen) + _changed(language(code), original, others, share, chosen) for _ in range(size)]


def families() -> Iterator[Member]:
    """Yield a family of each language, length, share and size."""
    numbers = count()
    for code in LANGUAGES:
        for characters in LENGTHS:
            for share in SHARES:
                for size in SIZES:
                    name = f"{next(numbers)}-{code}-{characters}-{share:g}-{size}"
                    for place, text in enumerate(family(code, characters, share, size, 1)):
                        yield Member(f"{name}/{place}", name, text)


def _text(language: Language, characters: int, chosen: random.Random) -> str:
    """Return a text that ends with a whole word."""
    text = ""
    while len(text) < characters:
        text += language.body(Writer(language, chosen).story(_SENTENCES)) + language.gap
    units = language.units(text)
    length = 0
    for place, unit in enumerate(units):
        length += len(unit)
        if length >= characters:
            return "".join(units[: place + 1])
    return text


def _stamp(code: str, chosen: random.Random) -> str:
    year, month, day = chosen.randint(2015, 2026), chosen.randint(1, 12), chosen.randint(1, 28)
    hour, minute, views = chosen.randint(0, 23), chosen.randint(0, 59), chosen.randint(100, 99_999)
    if code == "en":
        return f"Published {day} {_MONTHS[month - 1]} {year}, {hour:02}:{minute:02}. Views: {views:,}. "
    if code == "zh":
        return f"发布时间：{year}年{month}月{day}日 {hour:02}:{minute:02} 浏览次数：{views}次 "
    return f"公開日：{year}年{month}月{day}日 {hour:02}時{minute:02}分 閲覧数：{views}回 "


def _changed(language: Language, text: str, others: str, share: float, chosen: random.Random) -> str:
    """Replace this share of the words; where a language has no spaces, of pairs of characters."""
    width = 1 if language.gap else 2
    units, spare = (_in_words(language.units(each), width) for each in (text, others))
    for place in chosen.sample(range(len(units)), round(share * len(units))):
        units[place] = chosen.choice(spare)
    return "".join(units)


def _in_words(units: list[str], width: int) -> list[str]:
    return ["".join(units[start : start + width]) for start in range(0, len(units), width)]
