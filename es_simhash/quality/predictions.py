"""The pairs that a deduplication finds, with all copies.

A deduplication compares only the first of documents with equal texts; the others inherit its pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers, spread
from es_simhash._core.environment import MEMORY
from es_simhash._core.json_codec import Json, values_at
from es_simhash.documents.given import Document, Documents, given
from es_simhash.errors import InputError
from es_simhash.groups.canonical import FIRST, Canonical
from es_simhash.groups.corpus import Corpus
from es_simhash.groups.groups import Groups
from es_simhash.groups.of_texts import checked
from es_simhash.groups.options import GroupOptions
from es_simhash.groups.pairs.candidates import pair_codes, positions
from es_simhash.groups.pairs.compare import Pairs
from es_simhash.groups.pairs.scope_columns import ScopeColumns, ScopeRows
from es_simhash.groups.pairs.spool import Spools
from es_simhash.groups.pairs.stored_rows import Numbers, Strings
from es_simhash.groups.union_find import UnionFind
from es_simhash.quality.labels import pairs_within
from es_simhash.scheme.scope import Scope
from es_simhash.sketches.weighted_sets import Prepare, SetCache


@dataclass(frozen=True, eq=False)
class PredictedPairs:
    """Near pairs, as numbers in ascending order.

    ``similarities`` are NaN, and ``distances`` -1, if they do not count; ``are_exact`` is False for estimates.
    """

    pairs: Numbers
    similarities: npt.NDArray[np.float64]
    are_exact: npt.NDArray[np.bool_]
    distances: npt.NDArray[np.int64]

    @classmethod
    def unknown(cls, pairs: Numbers) -> PredictedPairs:
        """Return pairs without a known similarity or distance."""
        count = len(pairs)
        return cls(pairs, np.full(count, np.nan), np.zeros(count, dtype=np.bool_), np.full(count, -1))

    def some(self, chosen: npt.NDArray[np.bool_] | Integers) -> PredictedPairs:
        """Return the chosen ones of the pairs."""
        return PredictedPairs(
            self.pairs[chosen], self.similarities[chosen], self.are_exact[chosen], self.distances[chosen]
        )

    def of(self, pairs: Numbers) -> PredictedPairs:
        """Return what is known of any pairs; of those that are not near, nothing."""
        found = PredictedPairs.unknown(pairs)
        if len(self.pairs):
            at = np.minimum(np.searchsorted(self.pairs, pairs), len(self.pairs) - 1)
            there = self.pairs[at] == pairs
            known = self.some(at[there])
            found.similarities[there], found.distances[there] = known.similarities, known.distances
            found.are_exact[there] = known.are_exact
        return found


def first_positions(texts: Sequence[str]) -> Integers:
    """Return for each text the position of the first equal text."""
    firsts: dict[str, int] = {}
    return np.array([firsts.setdefault(text, place) for place, text in enumerate(texts)], dtype=np.int64)


def predict_pairs(groups: Groups[Corpus], originals: Integers) -> PredictedPairs:
    """Return the pairs that were found and those of copies; ``originals`` are the `first_positions` of the texts.

    With a scope these are the pairs in it.
    """
    blocks, identical_pairs, scopes = list(groups.pairs()), groups.counts.identical, groups.corpus.store.scopes
    pairs = np.concatenate(blocks) if blocks else None
    if pairs is None or not len(pairs):
        return PredictedPairs.unknown(np.empty(0, dtype=np.uint64))
    identical = pairs[:identical_pairs]
    copies = pairs_within(
        np.where(np.isin(originals, originals[identical["second"]]), originals, -1 - np.arange(len(originals)))
    )
    near = pairs[identical_pairs:]
    if scopes:
        copies = copies[scopes.are_in_scope(*positions(copies))]
        originals = _originals_in_scope(scopes, identical, len(originals))
    which, expanded = _among_copies(originals, near)
    # A copy of a text is as near to it as the first of the identical pairs.
    rows = np.concatenate([np.repeat(identical[:1], len(copies)), near[which]])
    found = np.concatenate([copies, expanded])
    order = np.argsort(found)
    return _of_rows(found[order], rows[order])


def _originals_in_scope(scopes: ScopeColumns, identical: Pairs, count: int) -> Integers:
    """Return for each document the one that was compared in its stead."""
    union = UnionFind(count)
    if not scopes.by_pairs:
        union.union(identical["first"], identical["second"])
    originals: Integers = union.groups().firsts.astype(np.int64)
    return originals


def _of_rows(pairs: Numbers, rows: Pairs) -> PredictedPairs:
    names, found = rows.dtype.names or (), PredictedPairs.unknown(pairs)
    for name, column in (
        ("similarity", found.similarities),
        ("is_exact", found.are_exact),
        ("distance", found.distances),
    ):
        if name in names:
            column[:] = rows[name]
    return found


def _among_copies(originals: Integers, near: Pairs) -> tuple[Integers, Numbers]:
    """Repeat each pair for all copies of its documents; return the source rows and the pairs."""
    members = np.argsort(originals, kind="stable")
    texts, starts, counts = np.unique(originals[members], return_index=True, return_counts=True)
    first, second = (np.searchsorted(texts, originals[near[side]]) for side in ("first", "second"))
    which, place = spread(counts[first] * counts[second])
    a = members[starts[first][which] + place // counts[second][which]]
    b = members[starts[second][which] + place % counts[second][which]]
    return which, pair_codes(np.minimum(a, b), np.maximum(a, b))


@contextmanager
def stored(
    documents: Documents | StoredDocuments,
    fields: str | Sequence[str] = (),
    id_field: str | None = None,
    options: GroupOptions | None = None,
) -> Iterator[StoredDocuments]:
    """Yield stored documents as they are, or store others, given as to `dedup`, for the block."""
    if isinstance(documents, StoredDocuments):
        yield documents
        return
    options = options or GroupOptions()
    with StoredDocuments(options.memory, options.scope, options.canonical) as kept:
        for position, document in enumerate(given(documents, fields, id_field).each(kept.paths)):
            if not kept.add(*checked(document, position, bool(kept.paths), str)):
                raise InputError("Several documents have the same id. Give each document an id of its own.")
        yield kept


# The texts may have this share of the memory, and cached features of them as much as in a deduplication.
_TEXTS_SHARE, _FEATURES_SHARE = 32, 4
_DIGEST_BYTES = 16


class StoredDocuments:
    """Documents, each with an id of its own and a text: close it, or use it in a ``with`` statement.

    With a ``scope``, or a ``canonical`` order by fields, each has its values as well. About ``memory`` bytes are used
    at a time.
    """

    def __init__(self, memory: int = MEMORY, scope: Scope | None = None, canonical: Canonical = FIRST) -> None:
        self.scope = scope
        self.canonical = canonical
        self._values: list[Json] = []
        self._memory = memory
        self._spools = Spools(memory // _TEXTS_SHARE)
        self._texts = Strings(self._spools)
        self._places: dict[str, int] = {}
        self._digests: dict[bytes, int] = {}
        self._originals: list[int] = []

    def add(self, id_: str, text: str, values: Mapping[str, Any] | None = None) -> bool:
        """Add a document, with an object that has the values asked for; return False if its id is taken."""
        if id_ in self._places:
            return False
        if self.paths:
            self._values.append({path: list(values_at(values, path)) for path in self.paths})
        place = self._places[id_] = len(self._places)
        self._texts.append(text)
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()
        self._originals.append(self._digests.setdefault(digest, place))
        return True

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self._places)

    def __iter__(self) -> Iterator[Document]:
        """Yield each document, as `dedup` takes it."""
        columns = (self._places, self.texts, self._values) if self.paths else (self._places, self.texts)
        return zip(*columns, strict=True)

    @property
    def paths(self) -> list[str]:
        """The fields whose values are kept."""
        fields = self.canonical.fields
        ranked = () if isinstance(fields, bool) else fields
        return [*(self.scope.paths if self.scope else ()), *ranked]

    @property
    def ids(self) -> list[str]:
        """The ids."""
        return list(self._places)

    @property
    def originals(self) -> Integers:
        """For each document the position of the first with an equal text."""
        return np.array(self._originals, dtype=np.int64)

    @property
    def texts(self) -> Strings:
        """The texts, read again each time."""
        self._texts.flush()
        return self._texts

    def texts_at(self, places: Sequence[int]) -> list[str]:
        """Return the texts at these positions."""
        return self.texts.at(places)

    def sizes(self) -> Integers:
        """Return the size of each text in bytes."""
        return self.texts.sizes(np.arange(len(self)))

    def features(self, prepare: Prepare) -> SetCache:
        """Return what compares these texts by their features."""
        return SetCache(prepare, self.texts.take, self.texts.sizes, self._memory // _FEATURES_SHARE)

    def scopes(self) -> ScopeColumns | None:
        """Return the scope of these documents, if there is one."""
        if not self.scope:
            return None
        columns = ScopeColumns(self.scope, self._spools)
        columns.add(ScopeRows.read(self.scope, self._values))
        columns.complete()
        return columns

    def close(self) -> None:
        """Delete the temporary files."""
        self._spools.close()

    def __enter__(self) -> StoredDocuments:
        """Return the documents, to be closed at the end of the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
