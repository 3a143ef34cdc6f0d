"""Grouping the documents of an index: all are read, or what is new; and what duplicates carry of canonical ones.

The field ``site`` of the canonical document is stored as ``dedup.of.site`` on its duplicates, mapped as ``site`` is.
Of the first date among the fields, ``dedup.lag_days`` says how many days later the duplicate is dated.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, replace
from functools import cached_property, reduce
from hashlib import sha256
from itertools import count, takewhile
from math import inf
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash._core.batches import BRIEFLY, OnProgress, Stop, prefetched, rarely_collected, stage
from es_simhash._core.dates import timestamp
from es_simhash._core.humanize import counted
from es_simhash._core.json_codec import Json, values_at
from es_simhash.documents.decisions import Decided
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import Engine, StoppableEngine, run
from es_simhash.errors import InputError, MappingError, ReaderLostError
from es_simhash.groups.corpus import Corpus, linked
from es_simhash.groups.groups import Groups
from es_simhash.groups.loss_counts import values_to_count
from es_simhash.groups.of_index import stored_fingerprints
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
from es_simhash.groups.pairs.fingerprint_store import FingerprintStore, has_own_keys, settings_needed
from es_simhash.groups.pairs.stored_rows import Spools
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
from es_simhash.plans.scope_filters import check_scope, unreadable
from es_simhash.plans.text_fields import TEXTS, field_at
from es_simhash.scheme.mapping import LAG, LAG_PROPERTIES, OF, entries
from es_simhash.scheme.rarity import Rarity
from es_simhash.scheme.scope import combined
from es_simhash.scheme.verifier import Verifier, table_for
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
        settings = replace(
            settings_needed(stored_fingerprints.with_key_values(scheme), criteria), simhash=scheme.simhash
        )
        if scheme.minhash and not settings.minhash:
            settings = replace(settings, minhash=stored_fingerprints.with_key_values(scheme).minhash)
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
        self.noted = values_to_count((), options.per, options.years) if options.per or options.years else []

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


_NUMBERS = ("long", "integer", "short", "byte", "double", "float", "half_float", "scaled_float", "unsigned_long")
_DATES = ("date", "date_nanos")
_KEYWORDS = ("keyword", "constant_keyword", "wildcard")
# The longest keyword, in characters, that an index takes however many bytes each has; and the usual one of a text.
_LONGEST, _LONGEST_OF_TEXT = 8191, 256
# What decides which values a field takes: the copy must take them all.
_KEPT = ("format", "locale", "scaling_factor", "coerce", "ignore_malformed", "normalizer")
_FORMAT = "strict_date_optional_time||epoch_millis"
# The formats of dates that `timestamp` reads as a server does, if it reads them.
_ISO = re.compile(r"(strict_)?date(_optional_time|_time|_time_no_millis|_optional_time_nanos)?|epoch_millis|iso8601")
_WRITTEN_OUT = re.compile("[yu]{4}-MM-dd.*")
_DAY, _DIGITS = 86_400, 6
_SCALARS = (str, int, float, bool)

Key = TypeVar("Key", bound=Hashable)
Read = Callable[[Sequence[Key], Sequence[str]], Iterable[Json | None]]


@dataclass(frozen=True)
class CopiedFields:
    """The ``paths`` to copy, the path of the ``date`` that gives the lag, and the ``properties`` to map."""

    paths: tuple[str, ...] = ()
    date: str | None = None
    properties: Json | None = None

    @classmethod
    def of(cls, mappings: Mapping[str, Json], paths: Sequence[str]) -> CopiedFields:
        """Return the fields, mapped as these indices map them; raise `MappingError` for one that cannot be copied."""
        if not paths:
            return cls()
        own = {path: _as_mapped(mappings, path) for path in paths}
        date = next((path for path in paths if _gives_lag(own[path])), None)
        properties: Json = reduce(_with_path, own.items(), {})
        return cls(tuple(own), date, {OF: {"properties": properties}} | (LAG_PROPERTIES if date else {}))

    def add(self, duplicates: Mapping[Key, tuple[Json, Key]], read: Read[Key]) -> None:
        """Add the fields to those of duplicates, which come with their canonical documents; ``read`` returns hits."""
        canonicals = [canonical for _, canonical in duplicates.values()]
        keys = list(dict.fromkeys([*canonicals, *(duplicates if self.date else ())]))
        sources = {key: (hit or {}).get("_source") or {} for key, hit in zip(keys, read(keys, self.paths), strict=True)}
        for key, (own, canonical) in duplicates.items():
            own.update(self._fields(sources.get(key, {}), sources[canonical]))

    def _fields(self, own: Json, canonical: Json) -> Json:
        """Return the fields of a duplicate, given its source and that of its canonical document."""
        copied = {path: values for path in self.paths if (values := _values(canonical, path))}
        found: Json = {OF: {path: each if each[1:] else each[0] for path, each in copied.items()}} if copied else {}
        if self.date is not None:
            moments = [next(_moments(source, self.date), None) for source in (own, canonical)]
            if None not in moments:
                found[LAG] = round((moments[0] - moments[1]) / _DAY, _DIGITS)  # type: ignore[operator]
        return found


def _as_mapped(mappings: Mapping[str, Json], path: str) -> Json:
    """Return how to map the copy of a field."""
    found: dict[str, Json] = {}
    for index, mapping in mappings.items():
        if problem := unreadable(mapping, path, is_date=False):
            raise MappingError(f"The field {path!r} of the index {index!r} cannot be copied: {problem}")
        if there := field_at(mapping, path):
            found[index] = _copy_of(index, path, there)
    if not found:
        raise MappingError(
            f"The mapping of {', '.join(mappings)} has no field {path!r}, so its type is unknown. Correct the name "
            "after --copy (copy), or add the field to the mapping."
        )
    (first, own), *others = found.items()
    for index, there in others:
        if there["type"] != own["type"]:
            raise MappingError(
                f"The field {path!r} is copied as {own['type']} from the index {first!r}, and as {there['type']} from "
                f"{index!r}. Group these indices separately, or copy another field."
            )
        formats = (each.get("format", _FORMAT) for each in (own, there))
        own = {**there, **own} | ({} if there.get("format") == own.get("format") else {"format": "||".join(formats)})
    return own


def _copy_of(index: str, path: str, there: Json) -> Json:
    kind = there.get("type", "object")
    kept = {name: there[name] for name in _KEPT if name in there}
    if kind in _KEYWORDS:
        longest = min(int(there.get("ignore_above", _LONGEST)), _LONGEST)
        return {"type": "keyword", **kept, "ignore_above": longest}
    if kind in TEXTS:
        return {"type": "keyword", "ignore_above": _LONGEST_OF_TEXT}
    if kind == "boolean":
        return {"type": kind}
    if kind in (*_NUMBERS, *_DATES, "ip"):
        return {"type": kind, **kept}
    raise MappingError(
        f"The field {path!r} of the index {index!r} is of type {kind}, which cannot be copied. Copy a field of "
        "keywords, dates, numbers, booleans or text, such as one inside an object."
    )


def _gives_lag(own: Json) -> bool:
    formats = own.get("format", _FORMAT).split("||")
    return own["type"] in _DATES and all(_ISO.fullmatch(each) or _WRITTEN_OUT.fullmatch(each) for each in formats)


def _with_path(properties: Json, named: tuple[str, Json]) -> Json:
    """Add a field to properties, inside the objects that its path names."""
    path, own = named
    name, _, rest = path.partition(".")
    if not rest:
        return {**properties, name: own}
    inner = (properties.get(name) or {}).get("properties") or {}
    return {**properties, name: {"properties": _with_path(inner, (rest, own))}}


def _values(source: Json, path: str) -> list[str | float | bool]:
    return [value for value in values_at(source, path) if isinstance(value, _SCALARS)]


def _moments(source: Json, path: str) -> Iterator[float]:
    return (moment for value in values_at(source, path) if (moment := timestamp(value)) is not None)
