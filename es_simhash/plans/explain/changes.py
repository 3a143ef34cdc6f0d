"""What differs between two texts, counted in words and numbers, for a sentence that a person can check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from es_simhash._core.humanize import counted
from es_simhash.scheme.fingerprinting import stripped
from es_simhash.scheme.passages import words_of
from es_simhash.scheme.settings import Settings
from es_simhash.text.tokens.numbers import masked, numbers_of

# Numbers of each text that a sentence names.
_NAMED = 3


@dataclass(frozen=True)
class Changes:
    """How many ``words`` and ``numbers`` of the text with more of them, ``of_words`` and ``of_numbers``, differ.

    ``removed`` and ``added`` are the numbers that only the first text has, and only the second. ``folded`` words agree
    only by the folding of the scheme, as 愛 and 爱 do.
    """

    words: int
    of_words: int
    numbers: int
    of_numbers: int
    removed: tuple[str, ...]
    added: tuple[str, ...]
    folded: int

    @property
    def sentence(self) -> str:
        """The counts in words: "2 of 160 words and 1 of 6 numbers differ: 14 → 15"."""
        parts = []
        if self.words or not self.numbers:
            parts.append(f"{self.words or 'none'} of {self.of_words} words")
        if self.numbers:
            parts.append(f"{self.numbers} of {self.of_numbers} numbers")
        count = self.numbers or self.words
        said = f"{' and '.join(parts)} differ{'s' if len(parts) == 1 and count <= 1 else ''}"
        if self.numbers:
            said += f": {_some(self.removed)} → {_some(self.added)}"
        return f"{said}; {counted(self.folded, 'word')} agree only as folded" if self.folded else said


def changes(settings: Settings, texts: tuple[str, str]) -> Changes:
    """Count what differs between two texts; a number counts once, however often it occurs."""
    shown = stripped(settings, texts)
    words, of_words = _differing_words(settings, shown)
    numbers = [numbers_of(settings.normalisation(text)) for text in shown]
    removed, added = (_without(own, other) for own, other in (numbers, numbers[::-1]))
    folded = 0
    if settings.normalisation.fold:
        unfolded = replace(settings, normalisation=replace(settings.normalisation, fold=()))
        folded = max(0, _differing_words(unfolded, shown)[0] - words)
    return Changes(
        words=words,
        of_words=of_words,
        numbers=max(len(removed), len(added)),
        of_numbers=max(map(len, numbers)),
        removed=removed,
        added=added,
        folded=folded,
    )


def _differing_words(settings: Settings, texts: Sequence[str]) -> tuple[int, int]:
    """Return how many words of the text with more of them the other lacks, and how many it has, without numbers."""
    plain = [masked(settings.normalisation(text)) for text in texts]
    first, second = (Counter(words_of(settings, [text])[0].tolist()) for text in plain)
    return max((first - second).total(), (second - first).total()), max(first.total(), second.total())


def _without(own: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    there = set(other)
    return tuple(number for number in own if number not in there)


def _some(numbers: Sequence[str]) -> str:
    more = " …" if len(numbers) > _NAMED else ""
    return ", ".join(numbers[:_NAMED]) + more if numbers else "none"
