"""Short records, some of them twice, with typing errors."""

from __future__ import annotations

import json
import random
from pathlib import Path

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def records(count: int, planted: int, seed: int = 3) -> tuple[list[str], list[tuple[int, int]]]:
    """Short records of frequent words, and copies of the first ones with one or two typing errors."""
    chosen = random.Random(seed)
    words = ["".join(chosen.choices(_LETTERS, k=chosen.randint(4, 9))) for _ in range(4_000)]
    shares = [1 / (rank + 2) for rank in range(len(words))]
    texts = [f"{' '.join(chosen.choices(words, shares, k=7))} - London, United Kingdom" for _ in range(count)]
    copies = [_with_errors(texts[place], 1 + place % 2, chosen) for place in range(planted)]
    return [*texts, *copies], [(place, count + place) for place in range(planted)]


def _with_errors(text: str, errors: int, chosen: random.Random) -> str:
    for _ in range(errors):
        at, letter = chosen.randrange(len(text) - 1), chosen.choice(_LETTERS)
        substituted, deleted, inserted = (
            text[:at] + letter + text[at + 1 :],
            text[:at] + text[at + 1 :],
            text[:at] + letter + text[at:],
        )
        text = chosen.choice([substituted, deleted, inserted, text[:at] + text[at + 1] + text[at] + text[at + 2 :]])
    return text


def write_records(folder: Path) -> Path:
    """Write some to records.jsonl in a folder, and return that."""
    texts, _ = records(300, 40)
    rows = (json.dumps({"id": str(place), "text": text}) + "\n" for place, text in enumerate(texts))
    (folder / "records.jsonl").write_text("".join(rows), encoding="ascii")
    return folder
