"""Texts to measure with: generated from a fixed seed, with Zipf-distributed words, and real ones."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

# The folder with real texts; see `chinese_pages`.
CORPORA_VARIABLE = "ES_SIMHASH_CORPORA"

VOCABULARY = 20_000
TOPICS, TOPIC_VOCABULARY, WORDS_OF_A_TOPIC, COMMON_WORDS = 500, 60_000, 1_500, 150
# The frequencies of letters in English, per thousand.
LETTERS = dict(
    zip("etaoinshrdlcumwfgypbvkjxqz", (127, 91, 82, 75, 70, 67, 63, 61, 60, 43, 40, 28, 28, 24, 24, 22, 20, 20, 19, 15,
                                       10, 8, 2, 2, 1, 1), strict=True)
)  # fmt: skip


def english(count: int, length: int = 1500, seed: int = 1) -> list[str]:
    """Generate documents of ``length`` characters: words of 2 to 10 letters in sentences of 14."""
    rng = np.random.default_rng(seed)
    words = english_words(rng, rng.integers(2, 11, VOCABULARY).tolist())

    def sentence(chosen: list[str]) -> str:
        return " ".join(chosen).capitalize() + ". "

    return documents_of(rng, words, count, length, 14, sentence)


def topical(count: int, length: int = 1300, seed: int = 3) -> list[str]:
    """Generate documents of ``length`` characters, each about one of 500 topics, in sentences of 14 words.

    Documents of `english` share one vocabulary, so unrelated ones are far more alike than real texts. Here half of the
    words are from 150 common short ones, the others from the topic: the Jaccard similarity of the character 5-grams of
    two documents is about .03, and .09 if they share a topic.
    """
    rng = np.random.default_rng(seed)
    common = english_words(rng, rng.choice([2, 3, 4, 5], COMMON_WORDS, p=[0.25, 0.35, 0.3, 0.1]).tolist())
    words = common + english_words(rng, rng.integers(4, 13, TOPIC_VOCABULARY).tolist())
    topics = COMMON_WORDS + rng.integers(0, TOPIC_VOCABULARY, (TOPICS, WORDS_OF_A_TOPIC))
    needed = length // 5  # words are longer than that, with the spaces between them
    documents = []
    for topic in rng.integers(0, TOPICS, count).tolist():
        numbers = np.where(
            rng.random(needed) < 0.5,
            _zipf(rng, COMMON_WORDS, needed),
            topics[topic][_zipf(rng, WORDS_OF_A_TOPIC, needed)],
        )
        chosen = [words[number] for number in numbers.tolist()]
        sentences = [" ".join(chosen[i : i + 14]).capitalize() for i in range(0, needed, 14)]
        documents.append(". ".join(sentences)[:length])
    return documents


def english_words(rng: np.random.Generator, sizes: list[int]) -> list[str]:
    """Return words of letters as frequent as in English."""
    letters, weights = np.array(list(LETTERS)), np.array(list(LETTERS.values()), dtype=float)
    return ["".join(rng.choice(letters, size, p=weights / weights.sum())) for size in sizes]


def _zipf(rng: np.random.Generator, size: int, count: int) -> np.ndarray:
    """Draw numbers below ``size`` with probabilities of about 1 / (number + 1)."""
    return np.minimum(np.power(size + 1.0, rng.random(count)).astype(np.int64), size) - 1


def chinese_pages(passage: int = 600) -> list[str] | None:
    """Read passages of about ``passage`` characters from Chinese documentation; None without it.

    The variable ES_SIMHASH_CORPORA names the folder that has zh_tidb_docs_revisions/docs.jsonl.gz, with one page a
    line, its text under "text".
    """
    path = Path(os.environ.get(CORPORA_VARIABLE, "")) / "zh_tidb_docs_revisions" / "docs.jsonl.gz"
    if not path.exists():
        return None
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [each for line in lines for each in _passages(json.loads(line)["text"], passage)]


def _passages(text: str, size: int) -> Iterator[str]:
    """Join consecutive paragraphs to passages of ``size`` characters, and drop the rest."""
    passage = ""
    for paragraph in text.split("\n\n"):
        passage += paragraph + "\n\n"
        if len(passage) >= size:
            yield passage
            passage = ""


def chinese(count: int, length: int = 650, seed: int = 2) -> list[str]:
    """Generate documents of ``length`` characters: words of 1 to 4 ideographs in clauses of 12."""
    rng = np.random.default_rng(seed)
    sizes = rng.choice([1, 2, 2, 2, 3, 4], VOCABULARY)
    words = ["".join(map(chr, rng.integers(0x4E00, 0x4E00 + 3500, size))) for size in sizes.tolist()]

    def clause(chosen: list[str]) -> str:
        return "".join(chosen) + "，。"[len(chosen[0]) % 2]

    return documents_of(rng, words, count, length, 12, clause)


def documents_of(
    rng: np.random.Generator,
    words: list[str],
    count: int,
    length: int,
    run: int,
    join: Callable[[list[str]], str],
) -> list[str]:
    weights = 1 / np.arange(1, len(words) + 1)
    levels = np.cumsum(weights / weights.sum())
    documents = []
    for _ in range(count):
        parts: list[str] = []
        size = 0
        while size < length:
            chosen = [words[min(i, len(words) - 1)] for i in np.searchsorted(levels, rng.random(run)).tolist()]
            parts.append(join(chosen))
            size += len(parts[-1])
        documents.append("".join(parts)[:length])
    return documents
