"""Grouping the documents of an index: read their fingerprints, link near-duplicates, make groups of links."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import asdict, replace
from functools import partial
from itertools import count, islice, takewhile
from typing import Any

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash._core.garbage import rarely_collected
from es_simhash._core.json_paths import Json
from es_simhash._core.prefetch import BRIEFLY, Stop, prefetched
from es_simhash._core.stages import stage
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import Engine, StoppableEngine, run
from es_simhash.errors import ReaderLostError
from es_simhash.groups.of_index import stored_fingerprints
from es_simhash.groups.of_index.canonical_order import Ranking
from es_simhash.groups.of_index.document_refs import DocumentRefs
from es_simhash.groups.of_index.document_texts import DocumentReader, DocumentTexts
from es_simhash.groups.of_index.options import GroupOptions
from es_simhash.groups.of_index.reading_new import Aim, NewDocuments
from es_simhash.groups.of_index.result import Grouped, LinkedDocuments, ReadPart
from es_simhash.groups.of_index.saved_parts import SavedParts, concatenated
from es_simhash.groups.of_index.stored_fingerprints import FingerprintRows
from es_simhash.groups.pairs.compare import Comparison, Pairs
from es_simhash.groups.pairs.condense import has_own_keys, needed
from es_simhash.groups.pairs.document_links import Bounds, Links, link
from es_simhash.groups.pairs.fingerprint_store import FingerprintStore
from es_simhash.groups.pairs.nearness import Nearness
from es_simhash.groups.pairs.result import Counts
from es_simhash.groups.pairs.sorting import Numbers
from es_simhash.groups.pairs.spool import Spools
from es_simhash.groups.pairs.text_similarity import CompareTexts, verifier
from es_simhash.live.sweep.changes import make_visible
from es_simhash.live.sweep.reading import MOST_LOSSES, Reading
from es_simhash.plans.closed_indices import closed_ones
from es_simhash.plans.index_rarity import noted_rarity
from es_simhash.plans.mapping_notes import noted
from es_simhash.plans.operations import Count, GetMappings, Slice
from es_simhash.plans.scope_fields import check_scope
from es_simhash.scheme.mapping import entries
from es_simhash.scheme.scope import combined
from es_simhash.scheme.verdict.learnt import LearntRarity
from es_simhash.scheme.verdict.verifier import is_by_rarity
from es_simhash.sketches.minhash.common import VALUE_BITS

OnProgress = Callable[[int], object]

_SPOOL_SHARE = 32
_RANKED_AT_ONCE = 10_000


def group(
    engine: Engine,
    index: str,
    documents: Documents,
    options: GroupOptions | None = None,
    on_progress: OnProgress | None = None,
    stop: Stop | None = None,
) -> Grouped:
    """Find all groups of near-duplicates in an index, or in those behind a name.

    ``on_progress`` is called with the number of documents read. Another thread can end the job by ``stop``.
    """
    options = options or GroupOptions()
    stoppable = StoppableEngine(engine, stop)
    losses = 0
    with stoppable.stopped_by_errors():
        while True:
            spools = Spools(options.memory // _SPOOL_SHARE, options.directory)
            try:
                grouping = _Grouping(stoppable, documents, options, spools)
                with rarely_collected(), stage("read"):
                    grouping.read(index, on_progress or (lambda _: None))
                with stage("compare"):
                    return grouping.result()
            except ReaderLostError:
                # Reading on would read some documents twice, which would count as near-duplicates of themselves.
                spools.close()
                losses += 1
                if losses > MOST_LOSSES:
                    raise
            except BaseException:
                spools.close()
                raise


class _Grouping:
    """One run."""

    def __init__(self, engine: StoppableEngine, documents: Documents, options: GroupOptions, spools: Spools) -> None:
        self._engine = engine
        self._documents = documents
        self._options = options
        self._spools = spools
        scheme = documents.scheme
        self._criteria = options.criteria(scheme)
        # Also keep what is only shown of members.
        settings = replace(needed(stored_fingerprints.known(scheme), self._criteria), simhash=scheme.simhash)
        if scheme.minhash and not settings.minhash:
            settings = replace(settings, minhash=stored_fingerprints.known(scheme).minhash)
        self._scope = combined(documents.policy.scope, options.scope)
        bits = scheme.minhash.layout.value_bits if scheme.minhash else VALUE_BITS
        self._store = FingerprintStore(settings, spools, bits, self._scope)
        self._refs = DocumentRefs(spools)
        self._others = 0
        self._is_incremental = False
        self._saved = SavedParts(options.state, self._what) if options.state else None
        self._new: list[npt.NDArray[np.bool_]] = []
        self._indices: dict[str, list[int] | None] = {}
        self._unread: dict[str, str] = {}
        self._rarity: LearntRarity | None = None
        self._part: ReadPart | None = None

    def read(self, index: str, on_progress: OnProgress) -> None:
        """Read the fingerprints of the documents of all indices behind a name."""
        mappings = self._engine.perform(GetMappings(index))
        ours = entries(mappings, self._documents.prefix)
        self._rarity = noted_rarity(mappings, self._documents)
        self._unread = {name: f"has no fields under {self._documents.prefix!r}" for name in ours if not ours[name]}
        self._unread |= dict.fromkeys(run(closed_ones(index), self._engine), "is closed")
        notes = {name: self._written(mappings[name]) for name in sorted(ours) if ours[name]}
        if self._scope:
            check_scope({name: mappings[name] for name in notes}, self._scope)
        self._is_incremental = self._options.incremental and None not in notes.values()
        written = {name: note for name, note in notes.items() if note and self._is_incremental}
        if self._is_incremental and not self._needs_all(written) and self._read_new(written, on_progress):
            return
        for name in notes:
            self._indices[name] = self._made_visible(name)
            first = len(self._refs)
            with closing(self._pages(name)) as pages:
                for found in pages:
                    self._take(found, on_progress)
            if self._is_incremental:
                self._refs.flush()
                self._new.append(self._refs.changed_after(first, written[name]["changes"]))
        self._refs.flush()
        self._store.complete()

    def _take(self, found: FingerprintRows, on_progress: OnProgress) -> None:
        self._refs.append(found.refs)
        self._store.add(found.condensed)
        if self._store.scopes and found.scopes:
            self._store.scopes.add(found.scopes)
        self._others += found.others
        on_progress(len(self._store) + self._others)

    def _needs_all(self, written: Mapping[str, Json]) -> bool:
        """Return whether what is new does not show which old documents it may change."""
        options, criteria, scheme = self._options, self._criteria, self._documents.scheme
        # These count all documents of a key, or all features.
        if options.max_bucket or options.common or options.state:
            return True
        # Nothing shows which documents' values have changed.
        if self._scope and not all(note["changes"] for note in written.values()):
            return True
        if criteria.similarity is not None:
            if self._rarity is None and is_by_rarity(scheme, criteria.verification):
                return True
            if not has_own_keys(scheme, criteria):
                return True
        singles = {note.get("singles") for note in written.values()}
        wanted = True if self._documents.policy.groups == "online" else options.singles
        return len(singles) != 1 or None in singles or wanted not in (None, *singles)

    def _read_new(self, written: Mapping[str, Json], on_progress: OnProgress) -> bool:
        """Read what is new and what it may change; return False, having read nothing, if too much is new."""
        self._indices = {name: self._made_visible(name) for name in written}
        since = {name: note["changes"] for name, note in written.items()}
        new = NewDocuments(
            self._engine, Aim(self._documents, self._criteria, self._scope, self._query, since, self._options.patience)
        )
        if not new.are_few():
            return False
        self._part = ReadPart(new.members, all(note["singles"] for note in written.values()), new.total)
        found: dict[bool, list[FingerprintRows]] = {False: [], True: []}
        for hits, are_new in new.pages({name: note["members"] for name, note in written.items()}):
            found[are_new].append(stored_fingerprints.rows(self._documents, self._store.settings, hits, self._scope))
        # Old documents come first, as in an index: the first of several with the same text is the one compared.
        for are_new, pages in found.items():
            for rows in pages:
                self._take(rows, on_progress)
                self._new.append(np.full(len(rows.refs), are_new))
        self._refs.flush()
        self._store.complete()
        return True

    def _made_visible(self, index: str) -> list[int] | None:
        """Refresh an index, and return its changes that are now visible."""
        changes = run(make_visible(index, self._options.patience), self._engine)
        return changes.safe if changes else None

    def _pages(self, index: str) -> Generator[FingerprintRows, None, None]:
        """Yield the fingerprints of an index page by page; or part by part, loading those that are saved."""
        if self._saved is None:
            yield from self._read(index)
            return
        documents = self._engine.perform(Count(index, self._query))
        for part in self._saved.parts(index, documents):
            loaded = self._saved.load(index, part)
            if loaded is None:
                changes = self._made_visible(index)
                nothing = stored_fingerprints.rows(self._documents, self._store.settings, [], self._scope)
                rows = concatenated([nothing, *self._read(index, part)])
                self._saved.save(index, part, rows, changes)
            else:
                rows, changes = loaded
            # Changes made since the first part was read may have been missed.
            known = self._indices[index]
            self._indices[index] = list(map(min, known, changes)) if known and changes else None
            yield rows

    def _read(self, index: str, part: Slice | None = None) -> Generator[FingerprintRows, None, None]:
        engine = self._engine
        source = stored_fingerprints.paths(self._documents, self._scope)
        reading = Reading(index, self._query, source, part, self._options.patience, once=True)
        with ExitStack() as stack:
            stack.callback(engine.leave, reading.close(), BRIEFLY)
            next_page = prefetched(lambda _: run(reading.next(), engine), count(), stop=engine.stop)
            pages = stack.enter_context(closing(next_page))
            rows = partial(stored_fingerprints.rows, self._documents, self._store.settings, scope=self._scope)
            yield from stack.enter_context(closing(prefetched(rows, takewhile(bool, pages), stop=engine.stop)))

    @property
    def _what(self) -> Json:
        """The scheme, query, criteria and scope with which saved parts were read."""
        own = {"scheme": self._documents.scheme.id, "prefix": self._documents.prefix, "query": self._options.filter}
        return {**own, **asdict(self._criteria), **self._scope_note}

    @property
    def _scope_note(self) -> Json:
        return {"scope": self._scope.to_json()} if self._scope else {}

    @property
    def _query(self) -> Json:
        scheme: Json = {"term": {f"{self._documents.prefix}.scheme": self._documents.scheme.id}}
        return {"bool": {"filter": [scheme, *([self._options.filter] if self._options.filter else [])]}}

    @property
    def _note(self) -> tuple[str, Json]:
        """The name of an index's note about its groups, and the settings that must agree to add to them."""
        same = {"scheme": self._documents.scheme.id, **asdict(self._criteria), "linkage": self._options.linkage}
        return f"_grouped_{self._documents.prefix}", {**same, "query": self._options.filter, **self._scope_note}

    def _written(self, mapping: Json) -> Json | None:
        """Return the note about the groups of an index if they were last written with the same settings."""
        name, same = self._note
        there: Any = noted(mapping, name)
        return there if there and there["of"] == same else None

    def result(self) -> Grouped:
        """Link the documents, and make groups."""
        options, reader = self._options, DocumentReader(self._engine, self._options.patience)
        exact = self._exact(reader) if self._criteria.verification else None
        comparison = _StoppableComparison(self._engine.stop, self._store, self._criteria, exact)
        joined, new = self._joined()
        bounds = Bounds(options.max_bucket, new)
        links = link(self._store, self._criteria, comparison, options.memory, self._spools, bounds)
        links.union.union(*joined)
        ranking = Ranking(options.canonical, self._refs, reader)
        members = (position for component in links.union.groups() for position in component)
        while some := list(islice(members, _RANKED_AT_ONCE)):
            ranking.read(some)
        nearness = Nearness(self._store, self._criteria, exact, links.surroundings)
        read = self._indices, self._note, joined, self._unread, self._part
        found = LinkedDocuments(self._refs, links, nearness, ranking, options.linkage, *read)
        counts = _counts(self._store, links, comparison)
        if self._part:
            counts = replace(counts, documents=self._part.documents - self._others)
        grouped = Grouped(self._spools, found, counts, self._others, None if new is None else int(new.sum()))
        if self._saved:
            self._saved.remove()
        return grouped

    def _joined(self) -> tuple[tuple[Integers, Integers], npt.NDArray[np.bool_] | None]:
        """Return the documents that stay in the same group, each with its first, and which are new to all others.

        A group in which some no longer agree is made again.
        """
        if not self._is_incremental:
            return (np.empty(0, dtype=np.int64),) * 2, None
        (first, second), new = self._refs.joined(), np.concatenate([np.empty(0, dtype=np.bool_), *self._new])
        if self._store.scopes:
            stay = ~np.isin(first, self._store.scopes.mixed_groups(first, second))
            new[second[~stay]] = True
            first, second = first[stay], second[stay]
        return (first, second), new

    def _exact(self, reader: DocumentReader) -> CompareTexts:
        options = self._options
        texts = DocumentTexts(reader, self._documents, self._refs, self._spools, options.memory, options.strip)
        scheme, verification = self._documents.scheme, self._criteria.verification
        assert verification
        rarity = self._rarity.rarity if self._rarity else None
        return texts.exact(verifier(scheme, verification, partial(self._sample, texts), options.common, rarity))

    def _sample(self, texts: DocumentTexts) -> list[str]:
        return texts.at(self._store.sample(lambda contents: contents[:, 0]))


class _StoppableComparison(Comparison):
    """A comparison that can also be stopped between requests."""

    def __init__(self, stop: Stop, *given: Any) -> None:
        super().__init__(*given)
        self._stop = stop

    def measured(self, codes: Numbers) -> Iterator[Pairs]:
        """Yield the pairs whose similarity counts, in the order in which they come."""
        for pairs in super().measured(codes):
            self._stop.check()
            yield pairs


def _counts(store: FingerprintStore, links: Links, comparison: Comparison) -> Counts:
    return Counts(
        documents=len(store),
        empty=0,
        identical=links.identical,
        near=links.near,
        groups=0,
        duplicates=0,
        compared=comparison.compared,
        verified=comparison.verified,
        left_out=links.left_out,
        cut_off=links.cut_off,
        unscoped=store.unscoped,
        valley=comparison.sample.valley,
    )
