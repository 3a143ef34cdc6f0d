"""The steps of a deduplication: read all documents, pair identical ones, pair near ones, group them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import sha256
from typing import Any, cast

import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash._core.json_paths import Json
from es_simhash._core.stages import OnProgress, counted_arrays
from es_simhash._version import __version__
from es_simhash.documents.arrow.frame import AnyFrame, frame_of
from es_simhash.errors import DocumentError
from es_simhash.groups.forms import forms
from es_simhash.groups.pairs.compare import Comparison
from es_simhash.groups.pairs.condense import needed
from es_simhash.groups.pairs.document_links import Bounds, link
from es_simhash.groups.pairs.fingerprint_store import FingerprintStore
from es_simhash.groups.pairs.group_batches import groups_in_batches
from es_simhash.groups.pairs.missed import Missed, missed
from es_simhash.groups.pairs.nearness import Nearness
from es_simhash.groups.pairs.repeated_ids import repeated
from es_simhash.groups.pairs.result import Counts, Duplicates
from es_simhash.groups.pairs.scope_rows import ScopeRows
from es_simhash.groups.pairs.spool import Spools
from es_simhash.groups.pairs.standing import canonicals_of
from es_simhash.groups.pairs.stored_rows import Records
from es_simhash.groups.pairs.stored_strings import Strings
from es_simhash.groups.pairs.text_similarity import text_comparer
from es_simhash.groups.pairs.worker_pool import condense_all
from es_simhash.groups.union_find import Groups
from es_simhash.scheme.json_form import to_json
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.scope import Scope
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.rarity import Rarity
from es_simhash.scheme.verdict.verifier import Verifier, table_for
from es_simhash.sketches.minhash.common import VALUE_BITS

# An id and a text; with a scope, an object with its values as well.
Document = tuple[str, str] | tuple[str, str, Mapping[str, Any]]
Documents = Iterable[Document] | AnyFrame
# The rank of a document by its position; the lowest stand for others.
Rank = Callable[[int], Any]


_NOTED_AT_ONCE = 1000


@dataclass(frozen=True)
class Choices:
    """Options of the comparison; see `Deduplicator`."""

    max_bucket: int | None
    rarity: Rarity | None
    scope: Scope | None


class Deduplication:
    """One deduplication."""

    def __init__(
        self, settings: Settings, criteria: Criteria, choices: Choices, memory: int, threads: int, spools: Spools
    ) -> None:
        self._settings = settings
        self._criteria = criteria
        self._choices = choices
        self._spools = spools
        self._memory = memory
        self._threads = threads
        self._ids = Strings(spools)
        self._texts = self._rarity = self._exact = None
        if criteria.similarity is not None and criteria.verification:
            self._texts = Strings(spools)
            self._rarity = table_for(settings, criteria.verification, choices.rarity)
            verifier = Verifier(settings, criteria.verification, self._rarity)
            self._exact = text_comparer(verifier, self._texts, memory, threads)
        self._needed = needed(settings, criteria)
        minhash = self._needed.minhash
        bits = minhash.layout.value_bits if minhash else VALUE_BITS
        self._store = FingerprintStore(self._needed, spools, bits, choices.scope)
        self._unnoted: list[Mapping[str, Any]] = []
        self._read = sha256()
        self._comparison = Comparison(self._store, criteria, self._exact, threads)

    def read(self, documents: Documents, on_progress: OnProgress[int]) -> None:
        """Read and condense all documents."""
        for condensed in condense_all(self._needed, self._noted(documents), self._threads):
            self._store.add(condensed)
            if self._texts is not None and condensed.texts is not None:
                self._texts.extend(condensed.texts)
            on_progress(len(self._store))
        self._ids.flush()
        self._check_ids()
        self._note_scopes()
        self._store.complete()

    def _noted(self, documents: Documents) -> Iterator[str]:
        scope = self._choices.scope
        for position, document in enumerate(each_document(documents, scope)):
            id, text, *values = checked(document, position, scope)
            self._ids.append(id)
            if scope:
                self._unnoted.append(values[0])
                if len(self._unnoted) == _NOTED_AT_ONCE:
                    self._note_scopes()
            yield text

    def _check_ids(self) -> None:
        if both := repeated(lambda: self._ids):
            [id, _] = self._ids.at(both)
            raise DocumentError(
                f"Documents {both[0]} and {both[1]} have the same id {id!r}, so groups could not say which is meant. "
                "Give each document an id of its own."
            )

    def _note_scopes(self) -> None:
        if self._store.scopes and self._choices.scope:
            self._read.update(json.dumps(self._unnoted, default=str).encode())
            self._store.scopes.add(ScopeRows.read(self._choices.scope, self._unnoted))
            self._unnoted.clear()

    def known_by(self) -> Json:
        """Return what decides which documents are linked, by which kept stages are known."""
        rows = self._store.contents.columns(range(2))
        for some in counted_arrays("Checking kept stages", rows, len(self._store), "documents"):
            self._read.update(np.ascontiguousarray(some).tobytes())
        choices, rarity = self._choices, self._rarity
        options: list[Any] = [__version__, to_json(self._settings), repr(self._criteria), repr(choices.scope)]
        options += [choices.max_bucket, rarity.id if rarity else None]
        return {"documents": self._read.hexdigest(), "options": sha256(json.dumps(options).encode()).hexdigest()}

    def result(self, rank: Rank | None = None) -> Duplicates:
        """Compare the documents, and make groups."""
        bounds = Bounds(self._choices.max_bucket)
        links = link(self._store, self._criteria, self._comparison, self._memory, self._spools, bounds)
        groups = links.union.groups()
        missing = None if links.is_whole else self._missed(groups)
        if rank:
            groups = Groups.of((_ranked(each, rank) for each in groups), len(self._store))
        standing = Groups(self._canonicals(groups, links.pairs, rank))
        counts = Counts(
            documents=len(self._store),
            empty=self._store.empty,
            identical=links.identical,
            near=links.near,
            groups=len(groups),
            duplicates=int(np.count_nonzero(~standing.is_first)),
            compared=self._comparison.compared,
            verified=self._comparison.verified,
            refused=self._comparison.refused,
            left_out=links.left_out,
            cut_off=links.cut_off,
            unscoped=self._store.unscoped,
            valley=self._comparison.sample.valley,
            missed=missing,
        )
        own = self._spools, self._ids, links.pairs, groups, standing
        found = Duplicates(*own, counts, self._nearness, self._rarity, self._store.scopes)
        if self._texts is not None:
            found.find_forms = partial(forms, self._settings, self._nearness, self._texts.at)
        return found

    def _missed(self, groups: Groups) -> Missed | None:
        """Estimate what is missing; None where signatures do not say how similar all documents are."""
        if self._needed.minhash is None or (self._store.scopes and self._store.scopes.by_pairs):
            return None
        return missed(self._store, self._comparison, groups.firsts)

    @cached_property
    def _nearness(self) -> Nearness:
        return Nearness(self._store, self._criteria, self._exact)

    def _canonicals(self, groups: Groups, pairs: Records, rank: Rank | None) -> Integers:
        """Return the document that stands for each: itself, or another of its group."""
        found = np.arange(len(self._store), dtype=groups.firsts.dtype)
        batches = groups_in_batches(groups)
        for some in counted_arrays("Making groups", batches, len(groups), "groups"):
            ordered = [_ranked(each, rank) if rank else each for each in some]
            found[np.concatenate(ordered)] = canonicals_of(ordered, self._nearness, pairs=lambda: pairs)
        return found


def _ranked(group: list[int], rank: Rank) -> list[int]:
    return sorted(group, key=lambda position: (rank(position), position))


def each_document(documents: Documents, scope: Scope | None) -> Iterable[Document]:
    """Return documents one by one: those of a frame, or those that were given."""
    frame = frame_of(documents)
    if frame is None:
        return cast("Iterable[Document]", documents)
    rows = frame.pairs_with(scope.paths if scope else ())
    return rows if scope else ((id, text) for id, text, _ in rows)


def checked(document: Any, position: int, scope: Scope | None, text: type = object) -> Any:
    """Return a document; raise `DocumentError` unless it is an id and a ``text``, and with a scope has its values."""
    kinds = (str, text, Mapping) if scope else (str, text)
    if isinstance(document, tuple) and len(document) == len(kinds) and all(map(isinstance, document, kinds)):
        return document
    if scope:
        problem = "is not an id, a text and an object with the values of the scope. Give such triples."
    else:
        problem = "is not a pair of an id and a text, both strings. Give such pairs."
    raise DocumentError(problem, position)
