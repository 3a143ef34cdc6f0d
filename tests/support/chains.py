"""Chains of texts: each text is like the next, and those at the ends are unlike."""

from __future__ import annotations

import random


def chain(seed: int, count: int, step: int = 10, length: int = 60) -> list[str]:
    """Return texts of ``length`` words, each with the last words of the one before and ``step`` others."""
    chosen = random.Random(seed)
    words = ["".join(chosen.choices("abcdefghij", k=7)) for _ in range(step * count + length)]
    return [" ".join(words[step * place : step * place + length]) for place in range(count)]


def chains(seed: int, several: int = 3) -> list[str]:
    """Return some chains with steps of several sizes and a few copies, and texts like no other, shuffled."""
    chosen = random.Random(seed)
    texts = []
    for part in range(several):
        some = chain(1000 * seed + part, chosen.randrange(1, 9), chosen.choice([4, 8, 12, 16]))
        texts += [*some, *chosen.sample(some, chosen.randrange(min(3, len(some))))]
    chosen.shuffle(texts)
    return texts
