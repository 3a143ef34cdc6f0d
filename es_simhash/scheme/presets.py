"""The presets: named settings for the common cases, and what each is good for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from es_simhash.scheme.settings import Layout, MinHash, Passages, SimHash
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.text.tokens.kinds import Chars, Keywords


@dataclass(frozen=True)
class Preset:
    """Settings of a scheme, and one sentence on when to choose them."""

    use: str
    settings: dict[str, Any]


PRESETS: dict[str, Preset] = {
    "default": Preset(
        "Texts of a paragraph or more, in any language: MinHash finds what is similar, SimHash what is nearly equal.",
        {},
    ),
    "short": Preset(
        "Titles, queries, product names and posts: shorter n-grams, and more bands.",
        {
            "tokens": Chars(3),
            "simhash": SimHash(64, 8, 5),
            "minhash": MinHash(bands=42),
            "floor": 4,
            "verification": Verification(features="scheme"),
        },
    ),
    "passages": Preset(
        "As default, and for documents that quote or contain one another; the fields of long texts are larger.",
        {"passages": Passages()},
    ),
    "chinese-keywords": Preset(
        "Long Chinese texts by their 22 weightiest words, in any order; finds less than default (extra: chinese).",
        {"tokens": Keywords("tfidf", 22), "weights": "own", "minhash": None, "floor": 4, "verification": None},
    ),
    "strict": Preset(
        "Almost identical texts only: SimHash within 3 of 64 bits, the smallest fields.",
        {"minhash": None, "layout": Layout(simhash="blocks"), "verification": None},
    ),
}
