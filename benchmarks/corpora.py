"""Texts to measure with, made from a fixed seed: Zipf-distributed words of made-up vocabularies."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

VOCABULARY = 20_000
# The frequencies of letters in English, per thousand.
LETTERS = dict(
    zip("etaoinshrdlcumwfgypbvkjxqz", (127, 91, 82, 75, 70, 67, 63, 61, 60, 43, 40, 28, 28, 24, 24, 22, 20, 20, 19, 15,
                                       10, 8, 2, 2, 1, 1), strict=True)
)  # fmt: skip


def english(count: int, length: int = 1500, seed: int = 1) -> list[str]:
    """Documents of ``length`` characters: words of 2 to 10 letters in sentences of 14."""
    rng = np.random.default_rng(seed)
    letters, weights = np.array(list(LETTERS)), np.array(list(LETTERS.values()), dtype=float)

    def word(size: int) -> str:
        return "".join(rng.choice(letters, size, p=weights / weights.sum()))

    words = [word(int(size)) for size in rng.integers(2, 11, VOCABULARY)]

    def sentence(chosen: list[str]) -> str:
        return " ".join(chosen).capitalize() + ". "

    return _documents(rng, words, count, length, 14, sentence)


def chinese(count: int, length: int = 650, seed: int = 2) -> list[str]:
    """Documents of ``length`` characters: words of 1 to 4 ideographs in clauses of 12."""
    rng = np.random.default_rng(seed)
    sizes = rng.choice([1, 2, 2, 2, 3, 4], VOCABULARY)
    words = ["".join(map(chr, rng.integers(0x4E00, 0x4E00 + 3500, size))) for size in sizes.tolist()]

    def clause(chosen: list[str]) -> str:
        return "".join(chosen) + "，。"[len(chosen[0]) % 2]

    return _documents(rng, words, count, length, 12, clause)


def _documents(
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
