"""The texts of documents, read from the engine when they are needed, and their exact similarities."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from es_simhash._core.arrays import Integers, distinct_numbers
from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents, unchanged_text
from es_simhash.documents.sources import patterns
from es_simhash.engines.base import Engine, run
from es_simhash.groups.of_index.document_refs import DocumentRefs
from es_simhash.groups.pairs.spool import Spools
from es_simhash.groups.pairs.stored_strings import Strings
from es_simhash.groups.pairs.text_similarity import CompareTexts, text_comparer
from es_simhash.live.sweep.document_ref import DocumentRef
from es_simhash.plans.reply_size import ReplySize, documents_by_id
from es_simhash.scheme.verdict.measures import PairMeasures, Similarities
from es_simhash.scheme.verdict.verifier import Verifier

_AT_ONCE = 200
_UNKNOWN, _USELESS = -1, -2


class DocumentReader:
    """Reads documents again by their references."""

    def __init__(self, engine: Engine, patience: float) -> None:
        self._engine = engine
        self._patience = patience
        self._size = ReplySize()

    def read(self, refs: Sequence[DocumentRef], source: Sequence[str] | bool) -> Iterator[Json | None]:
        """Yield documents as they are now, in the given order, with parts of their source; None for deleted ones."""
        for start in range(0, len(refs), _AT_ONCE):
            yield from self._some(refs[start : start + _AT_ONCE], source)

    def _some(self, refs: Sequence[DocumentRef], source: Sequence[str] | bool) -> list[Json | None]:
        found: list[Json | None] = [None] * len(refs)
        by_index: dict[str, list[int]] = defaultdict(list)
        for number, ref in enumerate(refs):
            by_index[ref.index].append(number)
        wanted = None if isinstance(source, bool) else list(source)
        for index, numbers in by_index.items():
            ids = [refs[number].id for number in numbers]
            routings = [refs[number].routing for number in numbers]
            plan = documents_by_id(index, ids, wanted, routings, patience=self._patience, size=self._size)
            replies = run(plan, self._engine)
            for number, reply in zip(numbers, replies, strict=True):
                found[number] = reply if reply["found"] else None
        return found


class DocumentTexts:
    """The texts of documents by their positions, each read once; they may lie in temporary files.

    Nothing is similar to documents that were deleted, or whose text has changed since it was fingerprinted. Matches of
    the regular expressions in ``strip`` are removed from texts.
    """

    def __init__(
        self,
        reader: DocumentReader,
        documents: Documents,
        refs: DocumentRefs,
        spools: Spools,
        memory: int,
        strip: Sequence[str],
    ) -> None:
        self._reader = reader
        self._documents = documents
        self._refs = refs
        self._texts = Strings(spools)
        self._count = 0
        self._memory = memory
        self._numbers = np.full(len(refs), _UNKNOWN, dtype=np.int64)
        self._strip = patterns(strip)

    def exact(self, verifier: Verifier) -> CompareTexts:
        """Return the function that computes exact similarities of pairs of documents."""
        return partial(self._similarities, text_comparer(verifier, self._texts, self._memory))

    def _similarities(
        self, exact: CompareTexts, first: Integers, second: Integers, least: Similarities | float
    ) -> PairMeasures:
        self.read(np.concatenate([first, second]))
        a, b = self._numbers[first], self._numbers[second]
        known = (a != _USELESS) & (b != _USELESS)
        found = PairMeasures.of_similarities(np.zeros(len(first), dtype=np.float64))
        measured = exact(a[known], b[known], np.broadcast_to(np.float64(least), known.shape)[known])
        found.similarities[known], found.meets[known] = measured.similarities, measured.meets
        return found

    def read(self, positions: Integers) -> None:
        """Read the texts of documents that were not read yet."""
        distinct = distinct_numbers(positions)
        unread = distinct[self._numbers[distinct] == _UNKNOWN].tolist()
        for start in range(0, len(unread), _AT_ONCE):
            some = unread[start : start + _AT_ONCE]
            for position, hit in zip(some, self._reader.read(self._refs.take(some), self._source), strict=True):
                text = self._text(hit)
                if text is None:
                    self._numbers[position] = _USELESS
                else:
                    self._texts.append(text)
                    self._numbers[position] = self._count
                    self._count += 1
        self._texts.flush()

    def readable(self, positions: Sequence[int]) -> list[str]:
        """Return the texts of documents, in this order, without those that nothing is similar to."""
        self.read(np.array(positions, dtype=np.int64))
        return self._texts.at([number for number in self._numbers[positions].tolist() if number != _USELESS])

    @property
    def _source(self) -> list[str]:
        return [*self._documents.fields, f"{self._documents.prefix}.content"]

    def _text(self, hit: Json | None) -> str | None:
        """Return the text of a hit, unless it has changed since it was fingerprinted."""
        if hit is None:
            return None
        text = unchanged_text(self._documents, hit.get("_source") or {})
        if text is None:
            return None
        for pattern in self._strip:
            text = pattern.sub("", text)
        return text
