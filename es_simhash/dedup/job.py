"""The steps of a deduplication: read all documents, pair the identical ones, pair the near ones, group them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from es_simhash.arrays import Integers
from es_simhash.dedup.compare import Comparison, Verify
from es_simhash.dedup.exact import Similarities, exact_jaccards
from es_simhash.dedup.kept import Kept
from es_simhash.dedup.linking import link
from es_simhash.dedup.result import Counts, Duplicates
from es_simhash.dedup.spool import Room, Strings
from es_simhash.dedup.workers import condense_all
from es_simhash.errors import DocumentError
from es_simhash.query import Criteria
from es_simhash.settings import Settings

Documents = Iterable[tuple[str, str]]
Progress = Callable[[int], object]

# How much memory may be taken for each byte of a text that is compared exactly, which becomes a hash in several arrays.
_BYTES_A_BYTE = 512


class Job:
    """One deduplication."""

    def __init__(self, settings: Settings, criteria: Criteria, verify: Verify, memory: int, room: Room) -> None:
        self._settings = settings
        self._criteria = criteria
        self._room = room
        self._memory = memory
        self._ids = Strings(room)
        self._texts = Strings(room) if criteria.similarity is not None and verify != "estimate" else None
        self._kept = Kept(settings, room)
        self._comparison = Comparison(self._kept, criteria, verify, self._exact if self._texts is not None else None)

    def read(self, documents: Documents, processes: int, progress: Progress) -> None:
        """Keep what is needed of each document."""
        for condensed in condense_all(self._settings, self._noted(documents), processes):
            self._kept.add(condensed)
            progress(len(self._kept))
        self._ids.flush()
        if self._texts is not None:
            self._texts.flush()
        self._kept.complete()

    def _noted(self, documents: Documents) -> Iterator[str]:
        for position, document in enumerate(documents):
            if not isinstance(document, tuple) or len(document) != 2 or not isinstance(document[0], str):
                raise DocumentError("is no pair of an id and a text, both strings. Give such pairs.", position)
            id, text = document
            self._ids.append(id)
            if self._texts is not None and isinstance(text, str):
                self._texts.append(text)
            yield text

    def _exact(self, first: Integers, second: Integers) -> Similarities:
        assert self._texts is not None
        return exact_jaccards(self._settings, self._texts, first, second, self._memory // _BYTES_A_BYTE)

    def result(self) -> Duplicates:
        """Compare what is kept."""
        compared = int(self._kept.compared.sum())
        links = link(self._kept, self._criteria, self._comparison, self._memory, self._room)
        groups = links.union.groups()
        counts = Counts(
            documents=len(self._kept),
            empty=len(self._kept) - compared,
            identical=links.identical,
            near=links.near,
            groups=len(groups),
            duplicates=int(np.count_nonzero(~groups.is_first)),
            compared=self._comparison.compared,
            verified=self._comparison.verified,
            left_out=links.left_out,
        )
        return Duplicates(self._room, self._ids, links.pairs, groups, counts)
