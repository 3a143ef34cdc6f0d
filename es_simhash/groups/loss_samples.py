"""A sample of the documents that go and of those that stay: their texts, and why documents count as duplicates.

It is drawn with a fixed seed: the same run says the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash.documents.guess import language_of
from es_simhash.groups.corpus import Corpus
from es_simhash.groups.groups import Groups
from es_simhash.groups.loss_counts import NONE, Column, Values
from es_simhash.groups.loss_reasons import Looked, Reason, look_at, reasons_of

# Documents drawn on each side, texts of a group that are looked at, and pairs.
_SAMPLE, _MOST_TEXTS, _PAIRS, _SEED = 150, 6, 30, 1
_LENGTHS = ((200, "under 200 characters"), (2_000, "under 2,000 characters"), (20_000, "under 20,000 characters"))
_LONGEST, _LOOKED_IN = "20,000 characters or more", 500


class Sample:
    """Documents drawn ``among`` those of groups, by their ``positions``; ``weights`` says for how many each stands.

    Of the documents, the ``duplicates`` go: they are ``gone``. ``pairs`` are some of these.
    """

    def __init__(self, groups: Groups[Corpus], among: Integers) -> None:
        self._groups = groups
        self._random = Random(_SEED)
        self._firsts = groups.firsts
        self._looked: dict[int, Looked] = {}
        self.has_texts = groups.corpus.exact is not None
        self.gone = ~groups.is_canonical
        is_gone = self.gone[among]
        self.duplicates = among[is_gone]
        drawn = [(self.drawn(each, _SAMPLE), len(each)) for each in (self.duplicates, among[~is_gone])]
        self.positions = np.array([place for some, _ in drawn for place in some], dtype=np.int64)
        self.weights = np.array([count / len(some) for some, count in drawn for _ in some])
        self.pairs = self.drawn(self.duplicates, _PAIRS)

    def drawn(self, positions: Integers, most: int) -> list[int]:
        """Draw some documents, in their order."""
        if len(positions) <= most:
            return list(map(int, positions))
        return [int(positions[place]) for place in sorted(self._random.sample(range(len(positions)), most))]

    def texts(self, positions: Sequence[int]) -> list[str | None]:
        """Return the texts of documents; None of those that cannot be read."""
        corpus = self._groups.corpus
        if not self.has_texts:
            return [None] * len(positions)
        found = corpus.texts_at(positions)
        if len(found) == len(positions):
            return list(found)
        return [next(iter(corpus.texts_at([each])), None) for each in positions]

    def columns(self) -> Iterator[Column]:
        """Yield the languages and lengths of the texts."""
        languages, lengths, there = Values("language"), Values("length"), list[int]()
        for place, text in enumerate(self.texts(self.positions.tolist())):
            if text is not None:
                there.append(place)
                languages.add_name(language_of([text[:_LOOKED_IN]]) or NONE)
                lengths.add_name(next((name for most, name in _LENGTHS if len(text) < most), _LONGEST))
        for values in (languages, lengths) if self.has_texts else ():
            yield Column(values, self.positions[there], self.weights[there])

    def reasons(self, duplicates: Sequence[int]) -> list[Reason]:
        """Return the likeliest reason why each of some documents is a duplicate; nothing without texts."""
        if not self.has_texts:
            return []
        firsts = [int(self._firsts[each]) for each in duplicates]
        self._look(firsts)
        distinct = list(dict.fromkeys(firsts))
        reasons = dict(zip(distinct, reasons_of(self._looked[each] for each in distinct), strict=True))
        return [reasons[each] for each in firsts]

    def _look(self, firsts: Sequence[int]) -> None:
        """Look at the groups that begin with these documents, unless they were looked at before."""
        new = sorted({*firsts} - self._looked.keys())
        members = np.flatnonzero(np.isin(self._firsts, new))
        order = np.argsort(self._firsts[members], kind="stable")
        starts = np.flatnonzero(np.diff(self._firsts[members][order], prepend=-1))
        for group in np.split(members[order], starts[1:]) if new else ():
            first = int(self._firsts[group[0]])
            some = [first, *self.drawn(group[group != first], _MOST_TEXTS - 1)]
            texts = [text for text in self.texts(some) if text is not None]
            self._looked[first] = look_at(self._groups.corpus.settings, texts, len(group))
