"""Small documents to test with: the distinct stories of `make_corpus`, and copies with single characters changed."""

from __future__ import annotations

import random
from functools import cache
from typing import TypeAlias

from examples.corpus import FIELDS, LANGUAGES, make_corpus

Document: TypeAlias = dict[str, str]


def corpus(count: int = 30, seed: int = 1) -> list[Document]:
    """Return distinct documents with ``title`` and ``body``, in English, Chinese and Japanese in turn."""
    return [dict(document) for document in _stories(count, seed)]


@cache
def _stories(count: int, seed: int) -> list[Document]:
    made = [each for each in make_corpus(2 * count + 12, seed=seed) if each.kind == "original"]
    by_language = [[each.document for each in made if each.language == code] for code in LANGUAGES]
    chosen = [by_language[place % len(LANGUAGES)][place // len(LANGUAGES)] for place in range(count)]
    return [{field: document[field] for field in FIELDS} for document in chosen]


def edited(document: Document, edits: int = 1, seed: int = 1) -> Document:
    """Return a copy with some characters of the body replaced."""
    rng = random.Random(seed)
    body = list(document["body"])
    for place in rng.sample(range(len(body)), edits):
        body[place] = "x" if body[place] != "x" else "y"
    return {**document, "body": "".join(body)}
