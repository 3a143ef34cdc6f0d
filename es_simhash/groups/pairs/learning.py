"""Learning how rare features are from texts that come one by one; only those learnt from are kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from es_simhash._core.stages import counted_each
from es_simhash.groups.pairs.fingerprint_store import content_numbers
from es_simhash.groups.pairs.stored_rows import encoded
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.rarity import SAMPLE, Rarity
from es_simhash.scheme.verdict.verifier import rarity_of

# A number that no content hash is.
_BEYOND = 1 << 64


def learn(settings: Settings, texts: Iterable[str]) -> Rarity:
    """Learn from the texts that an index with the same ones is learnt from (see `es_simhash.scheme.verdict.rarity`)."""
    lowest = LowestTexts()
    for some in fingerprinting.in_batches(texts, list):
        lowest.add(some)
    return lowest.learnt(settings)


class LowestTexts:
    """The texts with the lowest content hashes of those that were added."""

    def __init__(self) -> None:
        self._found: dict[int, str] = {}
        self._bound = _BEYOND

    def add(self, texts: Sequence[str]) -> None:
        """Add some texts."""
        numbers = content_numbers(encoded(texts).contents()).tolist()
        self._found |= {number: text for number, text in zip(numbers, texts, strict=True) if number < self._bound}
        if len(self._found) > 2 * SAMPLE:
            self._found = self.found()
            self._bound = max(self._found)

    def found(self) -> dict[int, str]:
        """Return the texts to learn from, by their content hashes as numbers, in their order."""
        return {number: self._found[number] for number in sorted(self._found)[:SAMPLE]}

    def learnt(self, settings: Settings) -> Rarity:
        """Learn from these texts."""
        texts = list(self.found().values())
        return rarity_of(settings, counted_each("Learning how rare features are", texts, len(texts)))
