"""Groups that look like forms: their documents differ in the same places, as if a template had been filled in.

Weather reports, invoices and notices of one template are as alike as edited copies of one text, so the rule takes them
for near-duplicates. They differ otherwise: copies in places of their own, or in a stamp, such as a date and a counter;
forms in the same places all over the text. This decides nothing: it says what to look at.

Some texts of a group are compared with the first, word by word. A word of it is filled in by another text where that
has other words in its place, and lacks it: what only stands elsewhere is not filled in. The word is in a slot if most
of the texts fill it in, half of them or more in a way of their own: what is replaced by the same everywhere is an edit
of the first text. Slots with few words between them are one place. The group looks like a form if

- slots are in `PLACES` places or more, and hold words, not only numbers, in `WORDY`: a stamp is one place,
- at least `SHARE` of the words of the first text are in slots,
- and at least half of all words filled in are: the texts differ in little else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import pairwise
from typing import TYPE_CHECKING

from es_simhash._core.arrays import Integers
from es_simhash._core.batches import counted_each
from es_simhash.plans.text_differences import aligned
from es_simhash.scheme.fingerprinting import stripped
from es_simhash.scheme.settings import Settings
from es_simhash.text.words import words

if TYPE_CHECKING:
    from es_simhash.groups.pairs.compare import Nearness

PLACES, WORDY, SHARE = 3, 2, 0.03

# Fewer different texts may differ in the same places by chance; of more groups, texts and words, these suffice.
_LEAST_TEXTS, _MOST_TEXTS = 4, 9
_MOST_GROUPS = 200
_MOST_WORDS = 1000
_MOST_CHARACTERS = 10 * _MOST_WORDS
# The share of the texts that fill a slot in, and the words that part two places.
_MOST_FILL = 0.6
_APART = 4


def forms(
    settings: Settings,
    nearness: Nearness,
    texts_at: Callable[[Sequence[int]], Sequence[str]],
    groups: Iterable[Sequence[int]],
) -> list[int]:
    """Return the first document of each group that looks like a form, of the largest groups, the largest first.

    ``texts_at`` returns the texts of documents by their positions, as far as they can be read.
    """
    largest = nlargest(_MOST_GROUPS, (group for group in groups if len(group) >= _LEAST_TEXTS), key=len)
    some = counted_each("Looking for forms", largest, len(largest), "groups")
    return [group[0] for group in some if is_form(settings, texts_at(_sample(nearness.distinct(group))))]


def is_form(settings: Settings, texts: Sequence[str]) -> bool:
    """Return whether texts look like a form that was filled in; only the choice of the first one matters."""
    found = slots_of(settings, texts)
    return found is not None and found.is_form


@dataclass(frozen=True)
class Slots:
    """The places of a text's ``words`` that other texts fill in with words of their own.

    In ``wordy`` of them stand words, not only numbers. ``are_all`` says whether the texts differ in little else.
    """

    words: int
    places: tuple[tuple[int, ...], ...]
    wordy: int
    are_all: bool

    @property
    def share(self) -> float:
        """The share of the words that are filled in."""
        return sum(map(len, self.places)) / max(self.words, 1)

    @property
    def is_form(self) -> bool:
        """Whether they are those of a form."""
        return len(self.places) >= PLACES and self.wordy >= WORDY and self.share >= SHARE and self.are_all


def slots_of(settings: Settings, texts: Sequence[str]) -> Slots | None:
    """Return where texts fill in the first one; None of too few texts."""
    if len(texts) < _LEAST_TEXTS:
        return None
    cut = (settings.normalisation(text[:_MOST_CHARACTERS]) for text in stripped(settings, texts))
    first, *others = (words(text)[:_MOST_WORDS] for text in cut)
    fillings = [_filling(first, other) for other in others]
    slots = [place for place in range(len(first)) if _is_slot([each.get(place) for each in fillings])]
    filled = sum(map(len, fillings))
    inside = sum(place in each for each in fillings for place in slots)
    parted = tuple(map(tuple, _places(slots)))
    wordy = sum(any(not _is_number(first[place]) for place in each) for each in parted)
    return Slots(len(first), parted, wordy, 2 * inside >= filled)


def _sample(distinct: Integers) -> list[int]:
    """Choose documents at even distances, the first among them."""
    last, count = len(distinct) - 1, min(len(distinct), _MOST_TEXTS)
    return [int(distinct[place * last // (count - 1)]) for place in range(count)] if last else []


def _filling(first: Sequence[str], other: Sequence[str]) -> dict[int, tuple[str, ...]]:
    """Return the places of the words of the first text that another one fills in, and with what."""
    lacking = Counter(first) - Counter(other)
    found: dict[int, tuple[str, ...]] = {}
    ends = [(-1, -1), *aligned(first, other), (len(first), len(other))]
    for (i, k), (j, m) in pairwise(ends):
        value = tuple(other[k + 1 : m])
        if value:
            found |= {place: value for place in range(i + 1, j) if first[place] in lacking}
    return found


def _is_slot(values: Sequence[tuple[str, ...] | None]) -> bool:
    filled = [value for value in values if value]
    return len(filled) >= _MOST_FILL * len(values) and 2 * len(set(filled)) >= len(values)


def _places(slots: Sequence[int]) -> list[list[int]]:
    """Part slots where enough words are between them."""
    parted: list[list[int]] = []
    for slot in slots:
        if parted and slot - parted[-1][-1] <= _APART:
            parted[-1].append(slot)
        else:
            parted.append([slot])
    return parted


def _is_number(word: str) -> bool:
    return any(map(str.isdigit, word))
