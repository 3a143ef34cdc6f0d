"""Functions that copy a story with changes."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable
from dataclasses import replace

from es_simhash.cli.demo.grammar import Language, Story

Copier = Callable[[random.Random, Language, Story], Story]


def same(rng: random.Random, language: Language, story: Story) -> Story:
    """Return the story itself."""
    return story


def edited(rng: random.Random, language: Language, story: Story) -> Story:
    """Replace, delete or follow by another 1% to 5% of the words or characters."""
    units = language.units(language.body(story))
    bare = [unit.rstrip() for unit in units]
    edits = max(1, round(rng.uniform(0.01, 0.05) * len(units)))
    for place in rng.sample(range(len(units)), edits):
        own, other = bare[place], rng.choice(bare)
        space = units[place].removeprefix(own)
        units[place] = rng.choice((other, "", own + language.gap + other)) + space
    return _with_body(story, "".join(units).strip())


def truncated(rng: random.Random, language: Language, story: Story) -> Story:
    """Keep the first 50% to 95%."""
    units = language.units(language.body(story))
    kept = units[: int(rng.uniform(0.5, 0.95) * len(units))]
    return _with_body(story, "".join(kept).rstrip() + "…")


def reordered(rng: random.Random, language: Language, story: Story) -> Story:
    """Put the sentences, or the paragraphs, in another order."""
    paragraphs = list(story.paragraphs)
    if rng.random() < 0.5:
        return replace(story, paragraphs=tuple(reversed(paragraphs)))
    sentences = [sentence for paragraph in paragraphs for sentence in paragraph]
    return replace(story, paragraphs=(tuple(rng.sample(sentences, len(sentences))),))


def variant(rng: random.Random, language: Language, story: Story) -> Story:
    """Write the same characters in other widths, or all letters as capitals."""
    change = str.upper if language.gap and rng.random() < 0.5 else _in_other_widths
    paragraphs = tuple(tuple(map(change, paragraph)) for paragraph in story.paragraphs)
    return Story(change(story.title), paragraphs)


# The functions by the kinds of copies that they make.
COPIERS: dict[str, Copier] = {
    "copy": same,
    "variant": variant,
    "edited": edited,
    "reordered": reordered,
    "truncated": truncated,
}


def _with_body(story: Story, body: str) -> Story:
    return replace(story, paragraphs=tuple((paragraph,) for paragraph in body.split("\n\n")))


def _in_other_widths(text: str) -> str:
    return text.translate(_OTHER_WIDTHS)


def _other_widths() -> dict[int, str]:
    """Return a table for `str.translate` that swaps the widths of ASCII, punctuation and katakana."""
    full = {code: chr(code + 0xFEE0) for code in range(0x21, 0x7F)}
    half = {ord(wide): chr(code) for code, wide in full.items()}
    # In half width, the voice marks of kana are characters of their own.
    kana = {unicodedata.normalize("NFKC", chr(code)): chr(code) for code in range(0xFF61, 0xFFA0)}
    for code in range(0x3001, 0x3100):
        parts = unicodedata.normalize("NFD", chr(code))
        if all(part in kana for part in parts):
            half[code] = "".join(kana[part] for part in parts)
    return {**full, **half, 0x20: "\u3000"}


_OTHER_WIDTHS = _other_widths()
