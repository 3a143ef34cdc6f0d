"""Texts in many scripts, generated from fixed seeds: made-up words of syllables as real languages build them."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.corpora import VOCABULARY, chinese, documents_of, english

# A part of a syllable: what may stand there, and how often nothing does.
Part = tuple[Sequence[str], float]


@dataclass(frozen=True)
class Script:
    """How words and clauses of a language are written.

    A word has as many syllables as ``sizes`` say, each made of ``parts``; ``space`` is between words, and one of
    ``stops`` ends a clause. ``finish`` changes a whole word.
    """

    parts: Sequence[Part]
    sizes: Sequence[int]
    space: str
    stops: Sequence[str]
    finish: Callable[[str], str] = str

    def words(self, rng: np.random.Generator) -> list[str]:
        """Make a vocabulary."""
        sizes = rng.choice(self.sizes, VOCABULARY).tolist()
        drawn = [_drawn(rng, part, sum(sizes)) for part in self.parts]
        syllables = map("".join, zip(*drawn, strict=True))
        return [self.finish("".join(next(syllables) for _ in range(size))) for size in sizes]

    def texts(self, count: int, length: int, seed: int = 7) -> list[str]:
        """Make texts of ``length`` characters."""
        rng = np.random.default_rng(seed)

        def clause(chosen: list[str]) -> str:
            return self.space.join(chosen).capitalize() + self.stops[len(chosen[0]) % len(self.stops)]

        return documents_of(rng, self.words(rng), count, length, 10, clause)


def _drawn(rng: np.random.Generator, part: Part, count: int) -> list[str]:
    """Draw what stands in a part of each syllable: the first choices more often than the last."""
    choices, missing = part
    weights = 1 / np.arange(2, len(choices) + 2)
    places = rng.choice(len(choices), count, p=weights / weights.sum())
    is_missing = rng.random(count) < missing
    return ["" if no else choices[place] for place, no in zip(places.tolist(), is_missing.tolist(), strict=True)]


def decomposed(text: str) -> str:
    """Write letters and marks, syllables of Korean among them, as characters of their own."""
    return unicodedata.normalize("NFD", text)


# The letters are named by their code points where marks would be drawn over what stands before them.
_NUKTA, _VIRAMA, _ANUSVARA = "\u093c", "\u094d", "\u0902"
_MATRAS = ("\u093e", "\u0947", "\u0940", "\u093f", "\u094b", "\u0941", "\u0942", "\u0948", "\u094c", "\u0943")
HINDI = Script(
    (
        (("र" + _VIRAMA, "स" + _VIRAMA, "क" + _VIRAMA, "न" + _VIRAMA, "त" + _VIRAMA), 0.88),
        ((*"करनसतमहयलपवदगजबथभचशखटधछठषघझणढ", "ड" + _NUKTA, "ज" + _NUKTA, "ढ" + _NUKTA, "इ", "उ", "ए"), 0),
        (_MATRAS, 0.4),
        ((_ANUSVARA, "\u0901"), 0.92),
    ),
    (1, 2, 2, 2, 3, 3, 4),
    " ",
    ("। ", ", "),
)
# Fatha, kasra, damma, sukun, and shadda before some of them.
_VOWEL_SIGNS = ("\u064e", "\u0650", "\u0652", "\u064f", "\u0651\u064e", "\u064b", "\u0651\u0650")
ARABIC = Script(
    (
        (("ال", "و", "ب"), 0.93),
        (tuple("لمنيورتبكدعسفحقجهشصخطزضثغذظء"), 0),
        (_VOWEL_SIGNS, 0.12),
        (("ا", "ي", "و"), 0.75),
    ),
    (2, 3, 3, 4),
    " ",
    ("، ", ". ", "؟ "),
)
_TONES = ("\u0e49", "\u0e48", "\u0e4a", "\u0e4b")
THAI = Script(
    (
        (("เ", "แ", "ไ", "โ", "ใ"), 0.7),
        (tuple("กนรมสทคลวบปตดพชยงจหขถผอศ"), 0),
        (("\u0e31", "\u0e35", "\u0e34", "\u0e37", "\u0e38", "\u0e39", "\u0e47", "\u0e36"), 0.6),
        (_TONES, 0.75),
        (("า", "ะ", "ำ"), 0.65),
        (tuple("นงกมบดยว"), 0.5),
    ),
    (1, 1, 2, 2, 3),
    "",
    (" ",),
)
_SYLLABLES = "이다는에가의을하고은지로기를사대한도시서아자리인어나보그해일제정부수라적장주전있과만들어니것면"
KOREAN = Script(((tuple(_SYLLABLES + "갔봤좋않없됐싶값읽많괜찮닭"), 0),), (2, 2, 3, 3, 4), " ", (". ", ", "))
KOREAN_DECOMPOSED = Script(KOREAN.parts, KOREAN.sizes, KOREAN.space, KOREAN.stops, decomposed)
VIETNAMESE = Script(
    (
        (
            ("th", "c", "đ", "nh", "t", "l", "m", "v", "ng", "b", "h", "tr", "kh", "ch", "qu", "s", "gi", "x", "ph"),
            0.05,
        ),
        (("a", "ô", "i", "ươ", "u", "iê", "ê", "o", "â", "ă", "e", "ơ", "ư", "uô", "y"), 0),
        # The marks of the five tones, on the last vowel.
        (("\u0300", "\u0301", "\u0323", "\u0309", "\u0303"), 0.3),
        (("n", "ng", "i", "t", "nh", "c", "m", "o", "ch", "p"), 0.3),
    ),
    (1,),
    " ",
    (". ", ", "),
    decomposed,
)
RUSSIAN = Script(
    ((tuple("тнсрвлкмдпгзбчйхжшцщф"), 0.1), (tuple("оеаиыуяюэё"), 0), (tuple("тнрсвлкй"), 0.7)),
    (1, 2, 2, 3, 3, 4),
    " ",
    (". ", ", "),
)
_KANJI = "日本人大年中国出生学会社時間場合事者自分今見行地方問題手力気世界山川東京金水木火土電車話"
JAPANESE = Script(
    (
        ((*_KANJI,), 0.45),
        ((*"のにはをたがでてとしれさあいるもなかこうくりらよきけじ",), 0.1),
        (("ー", "タ", "ン", "ス", "グ"), 0.9),
    ),
    (1, 2, 2, 3),
    "",
    ("。", "、"),
)


def mixed(count: int, length: int) -> list[str]:
    """Make texts of passages in seven scripts, with an emoji between them."""
    scripts = (HINDI, ARABIC, THAI, KOREAN, VIETNAMESE, RUSSIAN, JAPANESE)
    part = length // (len(scripts) + 1)
    columns = [english(count, part), *(script.texts(count, part) for script in scripts)]
    return ["🙂".join(parts)[:length] for parts in zip(*columns, strict=True)]


def with_one(character: str, texts: Sequence[str]) -> list[str]:
    """Replace the character in the middle."""
    return [text[: len(text) // 2] + character + text[len(text) // 2 + 1 :] for text in texts]


@dataclass(frozen=True)
class Texts:
    """Texts of one kind: how many characters each has, and how to make some."""

    length: int
    make: Callable[[int, int], list[str]]
    tokens: str = "chars"


TEXTS = {
    "English": Texts(1500, english),
    "Chinese": Texts(650, chinese),
    "Japanese": Texts(650, JAPANESE.texts),
    "Hindi": Texts(1000, HINDI.texts),
    "Vietnamese, decomposed": Texts(1500, VIETNAMESE.texts),
    "Arabic with marks": Texts(1000, ARABIC.texts),
    "Thai": Texts(1000, THAI.texts),
    "Korean, jamo": Texts(1500, KOREAN_DECOMPOSED.texts),
    "eight scripts in each": Texts(1500, mixed),
    "English with one “ﬁ”": Texts(1500, lambda count, length: with_one("ﬁ", english(count, length))),
    "English with one emoji": Texts(1500, lambda count, length: with_one("🙂", english(count, length))),
    "titles in English": Texts(100, english),
    "articles in English": Texts(40_000, english),
    "articles with one “ﬁ”": Texts(40_000, lambda count, length: with_one("ﬁ", english(count, length))),
    "English, by words": Texts(1500, english, "words"),
}
