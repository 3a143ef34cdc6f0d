"""Texts in three languages that quote, enlarge or contain one another, made of words, among others with boilerplate."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.corpora import english_words

EDITS = (0.01, 0.05)
VOCABULARY, FRAME, FRAMES, FRAMED = 20_000, 60, 20, 0.4
_HAN, _HIRAGANA, _KATAKANA = (0x4E00, 0x4E00 + 3500), (0x3042, 0x3094), (0x30A2, 0x30F4)

Words = list[str]


@dataclass(frozen=True)
class Language:
    """A language: its words, the rarer the later, and what stands between them."""

    name: str
    words: Sequence[str]
    gap: str
    stop: str

    def text(self, words: Sequence[str]) -> str:
        """Join words to sentences of 14."""
        sentences = (self.gap.join(words[at : at + 14]) for at in range(0, len(words), 14))
        return "".join(f"{sentence}{self.stop}" for sentence in sentences)

    def drawn(self, rng: np.random.Generator, count: int) -> Words:
        """Draw words by Zipf's law."""
        numbers = np.power(len(self.words) + 1.0, rng.random(count)).astype(np.int64) - 1
        return [self.words[number] for number in np.minimum(numbers, len(self.words) - 1).tolist()]


def languages(seed: int = 1) -> Iterator[Language]:
    """Yield English words of letters, Chinese ones of ideographs, and Japanese ones of kanji and kana."""
    rng = np.random.default_rng(seed)
    yield Language("English", english_words(rng, rng.integers(2, 11, VOCABULARY).tolist()), " ", ". ")
    sizes = rng.choice([1, 2, 2, 2, 3, 4], VOCABULARY).tolist()
    yield Language("Chinese", [_of(rng, _HAN, size) for size in sizes], "", "。")
    kinds = rng.choice(3, VOCABULARY, p=[0.5, 0.4, 0.1]).tolist()
    words = [_of(rng, (_HAN, _HIRAGANA, _KATAKANA)[kind], 3 if kind == 2 else 2) for kind in kinds]
    yield Language("Japanese", words, "", "。")


def _of(rng: np.random.Generator, script: tuple[int, int], size: int) -> str:
    return "".join(map(chr, rng.integers(*script, size).tolist()))


@dataclass(frozen=True)
class Pair:
    """A text, and one that contains it or most of it, as words."""

    inner: Words
    outer: Words


class Maker:
    """Makes texts of a language, and pairs of each kind."""

    def __init__(self, language: Language, seed: int = 2) -> None:
        self.language = language
        self._rng, self._chosen = np.random.default_rng(seed), random.Random(seed)
        self._frames = [language.drawn(self._rng, FRAME) for _ in range(FRAMES)]
        self.kinds: dict[str, Callable[[], Pair]] = {
            "quotations: 50 words in 1,000": partial(self._within, 50, 50, 1_000),
            "passages: 100 words in 1,000": partial(self._within, 100, 100, 1_000),
            "90% of 200 words in 1,000": partial(self._within, 180, 200, 1_000),
            "enlarged: 400 words to 800": self._enlarged,
            "chunks: 150 words of 1,500": partial(self._within, 150, 150, 1_500, 0.0),
        }

    def words(self, count: int) -> Words:
        """Return words of a text, some of them between a frame that others have, too."""
        own = self.language.drawn(self._rng, count)
        if self._chosen.random() >= FRAMED:
            return own
        frame = self._chosen.choice(self._frames)
        return [*frame[: FRAME // 2], *own, *frame[FRAME // 2 :]]

    def _within(self, shared: int, inner: int, outer: int, edits: float | None = None) -> Pair:
        words = self.words(outer)
        at = self._chosen.randrange(len(words) - shared)
        own = self.language.drawn(self._rng, inner - shared)
        return Pair([*own, *self._edited(words[at : at + shared], edits)], words)

    def _enlarged(self) -> Pair:
        inner, outer = self.words(400), []
        for at in range(0, len(inner), 80):
            outer += [*self._edited(inner[at : at + 80]), *self.language.drawn(self._rng, 80)]
        return Pair(inner, outer)

    def _edited(self, words: Words, share: float | None = None) -> Words:
        """Replace, insert or delete a share of the words."""
        share = self._chosen.uniform(*EDITS) if share is None else share
        edited = []
        for word in words:
            change = self._chosen.random() / share if share else 1.0
            new = self.language.drawn(self._rng, 1)
            edited += [word] if change >= 1 else new if change < 1 / 3 else [word, *new] if change < 2 / 3 else []
        return edited
