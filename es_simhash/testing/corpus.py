"""A small corpus to test with: texts in English, Chinese and Japanese, and edited copies of them."""

from __future__ import annotations

import random
from functools import cache
from typing import TypeAlias

Document: TypeAlias = dict[str, str]

_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnrst" for vowel in "aeio"]
_IDEOGRAPHS = [chr(code) for code in range(0x4E00, 0x4E00 + 600)]
_KANA = [chr(code) for code in range(0x3042, 0x3090)]


def corpus(count: int = 30, seed: int = 1) -> list[Document]:
    """Documents with ``title`` and ``body``, none of them like another, in the three languages by turns."""
    return [dict(document) for document in _made(count, seed)]


@cache
def _made(count: int, seed: int) -> list[Document]:
    """Generate documents, once, since they are the same each time."""
    rng = random.Random(seed)
    return [_document(rng, i) for i in range(count)]


def edited(document: Document, edits: int = 1, seed: int = 1) -> Document:
    """Copy a document, with some characters of its body changed."""
    rng = random.Random(seed)
    body = list(document["body"])
    for place in rng.sample(range(len(body)), edits):
        body[place] = "x" if body[place] != "x" else "y"
    return {**document, "body": "".join(body)}


def _document(rng: random.Random, number: int) -> Document:
    make = (_english, _chinese, _japanese)[number % 3]
    return {"title": make(rng, 8), "body": make(rng, 120)}


def _english(rng: random.Random, words: int) -> str:
    return " ".join("".join(rng.choices(_SYLLABLES, k=rng.randint(1, 4))) for _ in range(words)) + "."


def _chinese(rng: random.Random, words: int) -> str:
    return "".join("".join(rng.choices(_IDEOGRAPHS, k=2)) for _ in range(words)) + "。"


def _japanese(rng: random.Random, words: int) -> str:
    return "".join(rng.choice(_IDEOGRAPHS) + "".join(rng.choices(_KANA, k=2)) for _ in range(words)) + "。"
