"""Checks of the texts themselves, by a sample: what makes copies look unlike, or searches compare nearly everything.

The limits lie between what was measured on texts with such noise and on clean ones (`benchmarks.made_sets`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from statistics import median

from es_simhash.live.doctor.facts import IndexFacts
from es_simhash.live.doctor.finding import Finding

_FEWEST = 20  # texts, below which nothing is concluded

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_DIGIT_WITHIN = re.compile(r"[A-Za-z]+[0-9][A-Za-z]+")
_WORDS, _MISREAD, _MISREAD_TEXTS = 50, 0.03, 0.15
_SENTENCE_END = re.compile(r"[\n.!?。！？]+")
_SENTENCE, _SHARED_BY, _SHARED = 12, 0.5, 0.5
# Among the commonest characters; Japanese as it is written today uses none of them.
_SIMPLIFIED = frozenset("们这说对发经还进过动长问间门开关头样东车见语请让认识从给为业产务员场应难电话书")
_TRADITIONAL = frozenset("們這說對發經還麼嗎樣點給讓當從會來學國實關")
_CHARACTERS, _SCRIPT_TEXTS = 3, 0.05


def check_noise(there: IndexFacts) -> Iterator[Finding]:
    """Check what the texts look like."""
    if len(there.texts) < _FEWEST:
        return
    misread = _share(there.texts, _is_misread)
    if misread >= _MISREAD_TEXTS:
        yield Finding(
            "misread",
            "warning",
            f"In {misread:.0%} of the texts of the index {there.name!r}, many words contain a digit, as in misread "
            "scans. By default, copies with one wrong character in ten are missed.",
            "Search with --similarity versions, or correct the texts.",
            there.name,
        )
    shared = _boilerplate(there.texts)
    if shared >= _SHARED:
        yield Finding(
            "boilerplate",
            "warning",
            f"{shared:.0%} of a typical text of the index {there.name!r} is in most others, too. It does not count, "
            "but searches must compare nearly all documents.",
            "Remove it with --strip REGEX.",
            there.name,
        )
    simplified = _share(there.texts, lambda text: _has(text, _SIMPLIFIED, _TRADITIONAL))
    traditional = _share(there.texts, lambda text: _has(text, _TRADITIONAL, _SIMPLIFIED))
    if min(simplified, traditional) >= _SCRIPT_TEXTS:
        yield Finding(
            "two-scripts",
            "warning",
            f"In the index {there.name!r}, {simplified:.0%} of the texts are in simplified and {traditional:.0%} in "
            "traditional Chinese characters. Copies in the other characters are not found.",
            "Convert the texts to one of them, for example with OpenCC.",
            there.name,
        )


def _share(texts: Sequence[str], holds: Callable[[str], bool]) -> float:
    return sum(map(holds, texts)) / len(texts)


def _is_misread(text: str) -> bool:
    words = _WORD.findall(text)
    return len(words) >= _WORDS and sum(map(bool, map(_DIGIT_WITHIN.fullmatch, words))) >= _MISREAD * len(words)


def _boilerplate(texts: Sequence[str]) -> float:
    """Return how much of a text, by the median, are sentences that at least half of the texts have."""
    sentences = [[part.strip() for part in _SENTENCE_END.split(text)] for text in texts]
    texts_of = Counter(each for parts in sentences for each in set(parts) if len(each) >= _SENTENCE)
    shared = {each for each, count in texts_of.items() if count >= _SHARED_BY * len(texts)}
    shares = (sum(len(each) for each in parts if each in shared) / (sum(map(len, parts)) or 1) for parts in sentences)
    return median(shares)


def _has(text: str, wanted: frozenset[str], others: frozenset[str]) -> bool:
    """Return whether several of the wanted characters occur, and hardly any of the others."""
    counts = Counter(text)
    found = sum(counts[each] for each in wanted)
    return found >= _CHARACTERS and found > 10 * sum(counts[each] for each in others)
