"""Grouping the documents of an index: all of them are read, part by part, or what is new, and linked."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from hashlib import sha256
from itertools import count, takewhile
from math import inf
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash._core.humanize import counted
from es_simhash._core.json_codec import Json
from es_simhash._core.prefetch import BRIEFLY, Stop, prefetched
from es_simhash._core.stages import OnProgress, rarely_collected, stage
from es_simhash.documents.decisions import Decided
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import Engine, StoppableEngine, run
from es_simhash.errors import InputError, ReaderLostError
from es_simhash.groups.corpus import Corpus, linked
from es_simhash.groups.groups import Groups
from es_simhash.groups.loss_counts import wanted
from es_simhash.groups.of_index import stored_fingerprints
from es_simhash.groups.of_index.copied_fields import CopiedFields
from es_simhash.groups.of_index.reading_new import Aim, NewDocuments
from es_simhash.groups.of_index.stored_fingerprints import (
    DocumentReader,
    DocumentRefs,
    DocumentTexts,
    FingerprintRows,
    SavedParts,
    content_number,
    names,
)
from es_simhash.groups.options import OF_TEXTS, GroupOptions, check_without
from es_simhash.groups.pairs.fingerprint_store import FingerprintStore, has_own_keys, needed
from es_simhash.groups.pairs.spool import Spools
from es_simhash.live.sweep.reading import MOST_LOSSES, Reading, make_visible
from es_simhash.plans.decided import decisions_on_all
from es_simhash.plans.open_index import (
    closed_ones,
    elsewhere,
    groups_note,
    noted,
    noted_rarity,
    readable_mappings,
    without_fingerprints,
)
from es_simhash.plans.operations import Count, Plan, Slice, is_remote
from es_simhash.plans.scope_filters import check_scope
from es_simhash.scheme.mapping import entries
from es_simhash.scheme.scope import combined
from es_simhash.scheme.verdict.rarity import Rarity
from es_simhash.scheme.verdict.verifier import Verifier, table_for
from es_simhash.sketches.minhash.common import VALUE_BITS


@dataclass(frozen=True)
class ReadPart:
    """Of all groups, only those that new documents may change were read.

    ``members`` counts, for each index, the documents that were in groups of several. With ``singles`` all others are
    in groups of one. ``documents`` counts all.
    """

    members: Mapping[str, int]
    singles: bool
    documents: int


class IndexCorpus(Corpus):
    """The documents of an index, or of those behind a name, as far as a run reads them.

    ``in_shard`` counts those that were only read into files. ``indices`` has the changes of each index that are visible
    in what was read, and ``part`` what is known of the rest if only new documents were read. What documents were
    grouped before stays if it ``is_incremental``. Duplicates get the ``copied`` fields. Losses are counted by
    the ``noted`` values.
    """

    is_of_engine = True

    def __init__(
        self,
        engine: StoppableEngine,
        documents: Documents,
        options: GroupOptions,
        spools: Spools,
        *,
        obeys: bool = True,
    ) -> None:
        scheme, criteria = documents.scheme, options.criteria(documents.scheme)
        # Also keep what is only shown of members.
        settings = replace(needed(stored_fingerprints.known(scheme), criteria), simhash=scheme.simhash)
        if scheme.minhash and not settings.minhash:
            settings = replace(settings, minhash=stored_fingerprints.known(scheme).minhash)
        self._scope = combined(documents.policy.scope, options.scope)
        bits = scheme.minhash.layout.value_bits if scheme.minhash else VALUE_BITS
        super().__init__(scheme, options, FingerprintStore(settings, spools, bits, self._scope), spools)
        self._engine = engine
        self._documents = documents
        self.refs = DocumentRefs(spools)
        self.check = engine.stop.check  # type: ignore[method-assign]
        self._others = self.in_shard = 0
        self.is_incremental = False
        self.copied = CopiedFields()
        self._saved = SavedParts(options.state, self._what) if options.state else None
        self._new: list[npt.NDArray[np.bool_]] = []
        self.indices: dict[str, list[int] | None] = {}
        self.part: ReadPart | None = None
        self._reader = DocumentReader(engine, options.patience)
        self._texts: DocumentTexts | None = None
        self._ranks: dict[int, Any] = {}
        self._decided, self._obeys = Decided(), obeys
        self.noted = wanted((), options.per, options.years) if options.per or options.years else []

    @property
    def is_shard(self) -> bool:
        """Whether a shard was read into files, and no groups are made."""
        return self.options.shard is not None

    @property
    def total(self) -> int:
        """The number of documents, with those that have nothing to compare."""
        if self.part:
            return self.part.documents
        return self.in_shard + self.empty if self.is_shard else len(self) + self.empty

    @property
    def empty(self) -> int:
        """The number of documents with an empty text, or without a whole fingerprint of the scheme."""
        return self._others

    @property
    def new(self) -> Integers:
        """The documents that no run has grouped before."""
        return np.flatnonzero(np.concatenate(self._new)) if self._new else np.arange(len(self))

    # ---- reading

    def read(self, index: str, on_progress: OnProgress[int]) -> None:
        """Read the fingerprints of the documents of all indices behind a name."""
        mappings = run(readable_mappings(index), self._engine)
        ours = entries(mappings, self._documents.prefix)
        self.rarity = self._table(mappings)
        if self._obeys:
            self._decided = run(decisions_on_all(mappings, self._documents.prefix), self._engine)
        self.unread = {name: f"has no fields under {self._documents.prefix!r}" for name in ours if not ours[name]}
        self.unread |= dict.fromkeys(run(closed_ones(index), self._engine), "is closed")
        remote = list(elsewhere(index))
        self.has_indices = sum(map(bool, ours.values())) + len(remote) > 1
        notes = {name: self._written(mappings[name]) for name in sorted(ours) if ours[name]}
        if self._scope:
            check_scope({name: mappings[name] for name in notes}, self._scope)
        self.copied = CopiedFields.of({name: mappings[name] for name in notes}, self.options.copy)
        notes |= dict.fromkeys(remote)
        self.is_incremental = self.options.incremental and None not in notes.values()
        written = {name: note for name, note in notes.items() if note and self.is_incremental}
        if self.is_incremental and not self._needs_all(written) and self._read_new(written, on_progress):
            return
        for name in notes:
            self.indices[name] = self._made_visible(name)
            first = len(self.refs)
            with closing(self._pages(name)) as pages:
                for found in pages:
                    self._take(found, on_progress)
            if self.is_incremental:
                self.refs.flush()
                self._new.append(self.refs.changed_after(first, written[name]["changes"]))
        self._complete()

    def _complete(self) -> None:
        """Finish reading."""
        self.refs.flush()
        self.store.complete()
        self.obey(self._decided)
        if verification := self.criteria.verification:
            self._texts = DocumentTexts(
                self._reader, self._documents, self.refs, self.spools, self.options.memory, self.options.strip
            )
            self.exact = self._texts.exact(Verifier(self.settings, verification, self.rarity))

    def _table(self, mappings: dict[str, Json]) -> Rarity | None:
        """Return how rare features are, if texts are compared by that."""
        if self.criteria.similarity is None:
            return None
        learnt = noted_rarity(mappings, self._documents)
        given = cast("Rarity | None", self.options.rarity)
        table = given or (learnt.rarity if learnt else None)
        return table_for(self.settings, self.criteria.verification, table)

    def _take(self, found: FingerprintRows, on_progress: OnProgress[int]) -> None:
        if self.options.shard:
            self.in_shard += len(found.refs)
            self._others += found.others
            on_progress(self.in_shard + self._others)
            return
        self.refs.append(found.refs)
        self.store.add(found.condensed)
        if self.store.scopes and found.scopes:
            self.store.scopes.add(found.scopes)
        for values, more in zip(self.noted, found.noted, strict=False):
            values.append(more)
        self._others += found.others
        on_progress(len(self.store) + self._others)

    def _needs_all(self, written: Mapping[str, Json]) -> bool:
        """Return whether what is new does not show which old documents it may change."""
        options, criteria, scheme = self.options, self.criteria, self.settings
        # The first counts all documents of a key; the other keeps all that was read.
        if options.max_bucket or options.state:
            return True
        # Nothing shows which documents' values have changed.
        if self._heeds_changes and not all(note["changes"] for note in written.values()):
            return True
        # Less similar ones need not share a band, by which what is new finds them.
        if criteria.similarity is not None and not has_own_keys(scheme, criteria):
            return True
        singles = {note.get("singles") for note in written.values()}
        wanted = True if self._documents.policy.groups == "online" else options.singles
        return len(singles) != 1 or None in singles or wanted not in (None, *singles)

    @property
    def _heeds_changes(self) -> bool:
        """Whether groups depend on more of documents than their texts."""
        return bool(self._scope or self.options.copy)

    def _read_new(self, written: Mapping[str, Json], on_progress: OnProgress[int]) -> bool:
        """Read what is new and what it may change; return False, having read nothing, if too much is new."""
        self.indices = {name: self._made_visible(name) for name in written}
        since = {name: note["changes"] for name, note in written.items()}
        new = NewDocuments(
            self._engine,
            Aim(
                documents=self._documents,
                criteria=self.criteria,
                scope=self._scope,
                heeds_changes=self._heeds_changes,
                query=self._query,
                since=since,
                patience=self.options.patience,
            ),
            sorted(self._decided.mentioned),
        )
        if not new.are_few():
            return False
        self.part = ReadPart(new.members, all(note["singles"] for note in written.values()), new.total)
        found: dict[bool, list[FingerprintRows]] = {False: [], True: []}
        for hits, are_new in new.pages({name: note["members"] for name, note in written.items()}):
            found[are_new].append(self._rows(hits))
        # Old documents come first, as in an index: the first of several with the same text is the one compared.
        for are_new, pages in found.items():
            for rows in pages:
                self._take(rows, on_progress)
                self._new.append(np.full(len(rows.refs), are_new))
        self._complete()
        return True

    def _made_visible(self, index: str) -> list[int] | None:
        """Refresh an index, and return its changes that are now visible."""
        if is_remote(index):
            return None
        changes = run(make_visible(index, self.options.patience), self._engine)
        return changes.safe if changes else None

    def _pages(self, index: str) -> Generator[FingerprintRows, None, None]:
        """Yield the fingerprints of an index page by page; or part by part, loading those that are saved."""
        if self._saved is None:
            yield from self._read(index)
            return
        documents = self._engine.perform(Count(index, self._query))
        for part in self._saved.parts(index, documents, self.options.shard or (0, 1)):
            loaded = self._saved.load(index, part)
            if loaded is None or not self._has_values(loaded[0]):
                changes = self._made_visible(index)
                rows = stored_fingerprints.concatenated([self._rows([]), *self._read(index, part)])
                self._saved.save(index, part, rows, changes)
            else:
                rows, changes = loaded
            # Changes made since the first part was read may have been missed.
            known = self.indices[index]
            self.indices[index] = list(map(min, known, changes)) if known and changes else None
            yield rows

    def _read(self, index: str, part: Slice | None = None) -> Generator[FingerprintRows, None, None]:
        engine = self._engine
        noted = [each.path for each in self.noted if each.path]
        source = stored_fingerprints.paths(self._documents, self._scope, noted)
        reading = Reading(index, self._query, source, part, self.options.patience, once=True)
        with ExitStack() as stack:
            stack.callback(engine.leave, reading.close(), BRIEFLY)
            next_page = prefetched(lambda _: run(reading.next(), engine), count(), stop=engine.stop)
            pages = stack.enter_context(closing(next_page))
            yield from stack.enter_context(closing(prefetched(self._rows, takewhile(bool, pages), stop=engine.stop)))

    def _rows(self, hits: Sequence[Json]) -> FingerprintRows:
        return stored_fingerprints.rows(self._documents, self.store.settings, hits, self._scope, self.noted)

    def _has_values(self, rows: FingerprintRows) -> bool:
        """Return whether a part was saved with the values to note."""
        saved, noted = ([(each.by, each.path) for each in values] for values in (rows.noted, self.noted))
        return saved[: len(noted)] == noted

    @property
    def _what(self) -> Json:
        """The scheme, query, criteria and scope with which saved parts were read."""
        own = {"scheme": self._documents.scheme.id, "prefix": self._documents.prefix, "query": self.options.filter}
        return {**own, **asdict(self.criteria), **self._scope_note}

    @property
    def _scope_note(self) -> Json:
        return {"scope": self._scope.to_json()} if self._scope else {}

    @property
    def _query(self) -> Json:
        scheme: Json = {"term": {f"{self._documents.prefix}.scheme": self._documents.scheme.id}}
        return {"bool": {"filter": [scheme, *([self.options.filter] if self.options.filter else [])]}}

    # ---- linking

    def grouped(self) -> Groups[IndexCorpus]:
        """Link the documents, and make groups."""
        joined, new = self._joined()
        if self._saved and not self.is_shard:
            self.keep(self._saved.stages(self.indices, self._settled(new)))
        found = Groups(self, linked(self, new, joined))
        if not self.options.incremental:  # whose few groups may happen to have no dates
            self.check_dates(len(self._ranks))
        return found

    def remove_kept(self) -> None:
        """Delete the parts that were read as well, except those of a shard, which are its result."""
        if self._saved and not self.is_shard:
            self._saved.remove()
        super().remove_kept()

    def _settled(self, new: npt.NDArray[np.bool_] | None) -> Json:
        """Return all that decides which documents are linked, except what was read: by it kept stages are known."""
        compared = None if new is None else np.packbits(new).tobytes().hex()
        table = self.rarity.id if self.rarity else None
        settings = [self.options.max_bucket, list(self.options.strip), table, compared]
        return {"settings": sha256(json.dumps(settings).encode()).hexdigest()}

    def _joined(self) -> tuple[tuple[Integers, Integers] | None, npt.NDArray[np.bool_] | None]:
        """Return the documents that stay in the same group, each with its first, and which are new to all others.

        A group that has lost a document, in which some no longer agree, or about which people have decided, is made
        again.
        """
        if not self.is_incremental:
            return None, None
        (first, second), are_whole = self.refs.joined()
        new = np.concatenate([np.empty(0, dtype=np.bool_), *self._new])
        decided = self.decided.mentioned
        new[decided] = True
        stay = are_whole & ~np.isin(first, first[np.isin(second, decided)])
        if self.store.scopes:
            stay = stay & ~np.isin(first, self.store.scopes.mixed_groups(first, second))
        new[second[~stay]] = True
        return (first[stay], second[stay]), new

    # ---- what grouping asks

    def keys(self, positions: Sequence[int]) -> list[tuple[str, str]]:
        """Return the index and the id of documents."""
        return self.refs.keys(positions)

    def hits(self, positions: Sequence[int], source: Sequence[str] | bool) -> Iterator[Json | None]:
        """Yield documents as they are now, with parts of their source; None for deleted ones."""
        return self._reader.read(self.refs.take(positions), source)

    def sources(self, positions: Sequence[int]) -> list[Json | None]:
        """Return documents as they are now, without our fields and their texts; None for deleted ones."""
        found, left_out = self.hits(positions, True), {self._documents.prefix, *self._documents.fields}
        sources = ((hit or {}).get("_source") for hit in found)
        return [each and {name: value for name, value in each.items() if name not in left_out} for each in sources]

    def texts_at(self, positions: Sequence[int]) -> list[str]:
        """Return the texts of documents, as far as they can be read."""
        return self._texts.readable(positions) if self._texts else []

    def ranks(self, positions: Sequence[int]) -> list[Any]:
        """Return what documents are sorted by: their ranks by the fields of the rule, then ids and indices."""
        canonical = self.options.canonical
        if canonical.fields and (unread := [each for each in positions if each not in self._ranks]):
            hits = self.hits(unread, canonical.fields)
            found = zip(unread, hits, strict=True)
            self._ranks |= {each: self.rank((hit or {}).get("_source") or {}, each) for each, hit in found}
        keys = zip(positions, self.keys(positions), strict=True)
        return [(self._ranks.get(position, 0), id_, index) for position, (index, id_) in keys]

    def newer(self, groups: Sequence[Sequence[int]]) -> dict[int, int]:
        """Return the next newer document of its group for each older one, if the newest are canonical."""
        found: dict[int, int] = {}
        for group in self.ordered(groups) if self.options.canonical.by_versions else ():
            ranks = [rank for rank, *_ in self.ranks(group)]
            for place, newer in enumerate(_last_before(ranks)):
                if newer is not None:
                    found[group[place]] = group[newer]
        return found

    def names_of_groups(self, groups: Iterable[Sequence[int]], others: Sequence[str] = ()) -> list[str]:
        """Name groups, without using the names of others."""
        there, firsts, stored = self._stored_names, list[int](), list[Counter[str]]()
        for each in groups:
            firsts.append(each[0])
            stored.append(Counter(there[position] for position in each if position in there))
        return names(list(zip(self.keys(firsts), stored, strict=True)), others)

    @cached_property
    def _stored_names(self) -> dict[int, str]:
        return {position: own["group"] for position, own in self.refs.stored_groups() if "group" in own}

    # ---- what writing asks

    @cached_property
    def present(self) -> dict[int, Json]:
        """The groups that documents have: those that were read, and what was written of these groups since."""
        return dict(self.refs.stored_groups())

    @property
    def scope_paths(self) -> tuple[str, ...]:
        """The fields of the scope."""
        return self._scope.paths if self._scope else ()

    def has(self, position: int, document: Json, content: str) -> bool:
        """Return whether a document still has the values of the scope that were read, and its text this hash."""
        [[found, _]] = self.store.contents.take(np.array([position])).tolist()
        scopes = self.store.scopes
        return bool(found == content_number(content)) and (not scopes or scopes.has(position, document))

    @property
    def note(self) -> tuple[str, Json]:
        """The name of an index's note about its groups, and the settings that must agree to add to them."""
        order = self.options.canonical.name
        same = {"scheme": self._documents.scheme.id, **asdict(self.criteria), "canonical": self._keys, "order": order}
        same |= {"table": self.rarity.id} if self.rarity else {}
        same |= {"copy": list(self.options.copy)} if self.options.copy else {}
        return groups_note(self._documents), {**same, "query": self.options.filter, **self._scope_note}

    @property
    def _keys(self) -> str:
        """By what duplicates name their canonical documents."""
        return "INDEX/ID" if self.has_indices else "ID"

    def _written(self, mapping: Json) -> Json | None:
        """Return the note about the groups of an index if they were last written with the same settings."""
        name, same = self.note
        there: Any = noted(mapping, name)
        return there if there and there.get("of") == same else None


def _last_before(ranks: Sequence[float]) -> Iterator[int | None]:
    """Yield for each rank, in ascending order, the place of the last lower one; what has no date is not older."""
    before = current = None
    for place, rank in enumerate(ranks):
        if place and rank != ranks[place - 1]:
            before = current
        current = place
        yield None if rank == inf else before


def group(
    engine: Engine,
    index: str,
    documents: Documents,
    options: GroupOptions | None = None,
    on_progress: OnProgress[int] | None = None,
    stop: Stop | None = None,
    *,
    may_be_nothing: bool = False,
    obeys: bool = True,
) -> Groups[IndexCorpus]:
    """Find all groups of near-duplicates in an index, or in those behind a name.

    Documents that all lack a fingerprint are an error, unless there ``may_be_nothing`` to group. It ``obeys`` what
    people have decided.
    ``on_progress`` is called with the number of documents read. Another thread can end the job by ``stop``.
    """
    options = options or GroupOptions()
    check_without(options, OF_TEXTS, "an index, which keeps decisions of its own: see Index.decide")
    stoppable = StoppableEngine(engine, stop)
    losses = 0
    with stoppable.stopped_by_errors():
        while True:
            spools = Spools.within(options.memory, options.directory)
            try:
                corpus = IndexCorpus(stoppable, documents, options, spools, obeys=obeys)
                with rarely_collected(), stage("read"):
                    corpus.read(index, on_progress or (lambda _: None))
                if not may_be_nothing:
                    run(_check(index, documents, corpus), stoppable)
                with stage("compare"):
                    return corpus.grouped()
            except ReaderLostError:
                # Reading on would read some documents twice, which would count as near-duplicates of themselves.
                spools.close()
                losses += 1
                if losses > MOST_LOSSES:
                    raise
            except BaseException:
                spools.close()
                raise


def _check(index: str, documents: Documents, corpus: IndexCorpus) -> Plan[None]:
    """Raise if there are documents, and nothing was read of them from which groups could follow."""
    options = corpus.options
    if len(corpus) or corpus.in_shard or corpus.part:
        return
    count = yield Count(index, {"match_all": {}})
    matching = (yield Count(index, options.filter)) if count and options.filter else count
    if count and not matching:
        raise InputError(f"None of {counted(count, 'document')} of {index!r} matches the filter. Correct it.")
    if matching and options.shard is None:
        raise without_fingerprints(index, documents, matching)
