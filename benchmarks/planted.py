"""Near-duplicates planted among texts: copies with a share of their words replaced."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

EDITS = (0.01, 0.02, 0.05)
# English words; of Chinese, what is replaced at a time is two characters, as long as most of its words are.
_WORD = re.compile(r"[A-Za-z]+|[\u4e00-\u9fff]{1,2}")


@dataclass(frozen=True)
class Pair:
    """Places of a text and of its edited copy, and the share of replaced words."""

    original: int
    copy: int
    edits: float


def plant(texts: Sequence[str], count: int, seed: int = 5) -> tuple[list[str], list[Pair]]:
    """Replace ``count`` texts by edited copies of others; return the texts and the pairs."""
    chosen = random.Random(seed)
    places = chosen.sample(range(len(texts)), 3 * count)
    planted, pairs = list(texts), []
    for number, (original, copy, other) in enumerate(zip(places[::3], places[1::3], places[2::3], strict=True)):
        edits = EDITS[number % len(EDITS)]
        planted[copy] = edited(texts[original], edits, _WORD.findall(texts[other]), chosen)
        pairs.append(Pair(original, copy, edits))
    return planted, pairs


def edited(text: str, share: float, others: Sequence[str], chosen: random.Random) -> str:
    """Replace a share of the words, but at least one, by words from ``others``."""
    words = list(_WORD.finditer(text))
    replaced = chosen.sample(words, min(len(words), max(1, round(share * len(words)))))
    for word in sorted(replaced, key=re.Match.start, reverse=True):
        text = text[: word.start()] + chosen.choice(others or ["word"]) + text[word.end() :]
    return text
