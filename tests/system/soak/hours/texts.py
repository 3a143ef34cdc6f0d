"""Families of texts: those of one are near-duplicates, those of two have nothing in common."""

from __future__ import annotations

import random

from es_simhash._core.json_codec import Json

_WORDS, _IDEOGRAPHS = 110, 150
_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]


def text(family: int, copy: int = 0) -> Json:
    """Return a title and a body: every third copy equals the original, the others differ in a word of their own.

    Every third family is Chinese, and differs in a character.
    """
    rng, is_chinese = random.Random(f"family {family}"), family % 3 == 2
    parts = [_part(rng, is_chinese) for _ in range(_IDEOGRAPHS if is_chinese else _WORDS)]
    between = "" if is_chinese else " "
    title = between.join(parts[:4])
    if copy % 3:
        own = random.Random(f"family {family}, copy {copy}")
        parts[own.randrange(len(parts))] = _part(own, is_chinese)
    return {"title": title, "body": between.join(parts)}


def _part(rng: random.Random, is_chinese: bool) -> str:
    return chr(rng.randrange(0x4E00, 0x8E00)) if is_chinese else "".join(rng.choices(_SYLLABLES, k=3))
