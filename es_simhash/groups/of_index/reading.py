"""Reading the fingerprints of an index to group its documents: all of them, part by part, or what is new."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from hashlib import sha256
from itertools import count, takewhile
from pathlib import Path
from typing import Any, cast
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash._core.json_codec import Json, parse_json
from es_simhash._core.prefetch import BRIEFLY, prefetched
from es_simhash._core.stages import OnProgress
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import StoppableEngine, run
from es_simhash.errors import InputError, StorageError
from es_simhash.groups.of_index import stored_fingerprints
from es_simhash.groups.of_index.document_refs import DocumentRefs, RefColumns
from es_simhash.groups.of_index.reading_new import Aim, NewDocuments
from es_simhash.groups.of_index.stored_fingerprints import FingerprintRows
from es_simhash.groups.options import GroupOptions
from es_simhash.groups.pairs.fingerprint_store import Condensed, FingerprintStore, has_own_keys, needed
from es_simhash.groups.pairs.scope_columns import ScopeRows
from es_simhash.groups.pairs.spool import KeptStages, Spools
from es_simhash.live.sweep.reading import Reading, make_visible
from es_simhash.plans.open_index import closed_ones, elsewhere, groups_note, noted, noted_rarity, readable_mappings
from es_simhash.plans.operations import Count, Slice, is_remote
from es_simhash.plans.scope_fields import check_scope
from es_simhash.scheme.mapping import entries
from es_simhash.scheme.scope import combined
from es_simhash.scheme.verdict.rarity import Rarity
from es_simhash.scheme.verdict.verifier import table_for
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


class IndexReading:
    """The documents of an index, or of those behind a name, as far as a run reads them.

    ``others`` counts those without a fingerprint, and ``in_shard`` those that were only read into files. ``indices``
    has the changes of each index that are visible in what was read, ``unread`` the reasons why others are left out, and
    ``part`` what is known of the rest if only new documents are read.
    """

    def __init__(self, engine: StoppableEngine, documents: Documents, options: GroupOptions, spools: Spools) -> None:
        self._engine = engine
        self.spools = spools
        self._documents = documents
        self.options = options
        scheme = documents.scheme
        self.criteria = options.criteria(scheme)
        # Also keep what is only shown of members.
        settings = replace(needed(stored_fingerprints.known(scheme), self.criteria), simhash=scheme.simhash)
        if scheme.minhash and not settings.minhash:
            settings = replace(settings, minhash=stored_fingerprints.known(scheme).minhash)
        self._scope = combined(documents.policy.scope, options.scope)
        bits = scheme.minhash.layout.value_bits if scheme.minhash else VALUE_BITS
        self.store = FingerprintStore(settings, spools, bits, self._scope)
        self.refs = DocumentRefs(spools)
        self.others = 0
        self.in_shard = 0
        self._is_incremental = self._has_several = False
        self.saved = SavedParts(options.state, self._what) if options.state else None
        self._new: list[npt.NDArray[np.bool_]] = []
        self.indices: dict[str, list[int] | None] = {}
        self.unread: dict[str, str] = {}
        self.table: Rarity | None = None
        self.part: ReadPart | None = None

    def read(self, index: str, on_progress: OnProgress[int]) -> None:
        """Read the fingerprints of the documents of all indices behind a name."""
        mappings = run(readable_mappings(index), self._engine)
        ours = entries(mappings, self._documents.prefix)
        self.table = self._table(mappings)
        self.unread = {name: f"has no fields under {self._documents.prefix!r}" for name in ours if not ours[name]}
        self.unread |= dict.fromkeys(run(closed_ones(index), self._engine), "is closed")
        remote = list(elsewhere(index))
        self._has_several = sum(map(bool, ours.values())) + len(remote) > 1
        notes = {name: self._written(mappings[name]) for name in sorted(ours) if ours[name]}
        if self._scope:
            check_scope({name: mappings[name] for name in notes}, self._scope)
        notes |= dict.fromkeys(remote)
        self._is_incremental = self.options.incremental and None not in notes.values()
        written = {name: note for name, note in notes.items() if note and self._is_incremental}
        if self._is_incremental and not self._needs_all(written) and self._read_new(written, on_progress):
            return
        for name in notes:
            self.indices[name] = self._made_visible(name)
            first = len(self.refs)
            with closing(self._pages(name)) as pages:
                for found in pages:
                    self._take(found, on_progress)
            if self._is_incremental:
                self.refs.flush()
                self._new.append(self.refs.changed_after(first, written[name]["changes"]))
        self.refs.flush()
        self.store.complete()

    def _table(self, mappings: dict[str, Json]) -> Rarity | None:
        """Return how rare features are, if texts are compared by that."""
        if self.criteria.similarity is None:
            return None
        learnt = noted_rarity(mappings, self._documents)
        given = cast("Rarity | None", self.options.rarity)
        table = given or (learnt.rarity if learnt else None)
        return table_for(self._documents.scheme, self.criteria.verification, table)

    def _take(self, found: FingerprintRows, on_progress: OnProgress[int]) -> None:
        if self.options.shard:
            self.in_shard += len(found.refs)
            self.others += found.others
            on_progress(self.in_shard + self.others)
            return
        self.refs.append(found.refs)
        self.store.add(found.condensed)
        if self.store.scopes and found.scopes:
            self.store.scopes.add(found.scopes)
        self.others += found.others
        on_progress(len(self.store) + self.others)

    def _needs_all(self, written: Mapping[str, Json]) -> bool:
        """Return whether what is new does not show which old documents it may change."""
        options, criteria, scheme = self.options, self.criteria, self._documents.scheme
        # The first counts all documents of a key; the other keeps all that was read.
        if options.max_bucket or options.state:
            return True
        # Nothing shows which documents' values have changed.
        if self._scope and not all(note["changes"] for note in written.values()):
            return True
        # Less similar ones need not share a band, by which what is new finds them.
        if criteria.similarity is not None and not has_own_keys(scheme, criteria):
            return True
        singles = {note.get("singles") for note in written.values()}
        wanted = True if self._documents.policy.groups == "online" else options.singles
        return len(singles) != 1 or None in singles or wanted not in (None, *singles)

    def _read_new(self, written: Mapping[str, Json], on_progress: OnProgress[int]) -> bool:
        """Read what is new and what it may change; return False, having read nothing, if too much is new."""
        self.indices = {name: self._made_visible(name) for name in written}
        since = {name: note["changes"] for name, note in written.items()}
        new = NewDocuments(
            self._engine, Aim(self._documents, self.criteria, self._scope, self._query, since, self.options.patience)
        )
        if not new.are_few():
            return False
        self.part = ReadPart(new.members, all(note["singles"] for note in written.values()), new.total)
        found: dict[bool, list[FingerprintRows]] = {False: [], True: []}
        for hits, are_new in new.pages({name: note["members"] for name, note in written.items()}):
            found[are_new].append(stored_fingerprints.rows(self._documents, self.store.settings, hits, self._scope))
        # Old documents come first, as in an index: the first of several with the same text is the one compared.
        for are_new, pages in found.items():
            for rows in pages:
                self._take(rows, on_progress)
                self._new.append(np.full(len(rows.refs), are_new))
        self.refs.flush()
        self.store.complete()
        return True

    def _made_visible(self, index: str) -> list[int] | None:
        """Refresh an index, and return its changes that are now visible."""
        if is_remote(index):
            return None
        changes = run(make_visible(index, self.options.patience), self._engine)
        return changes.safe if changes else None

    def _pages(self, index: str) -> Generator[FingerprintRows, None, None]:
        """Yield the fingerprints of an index page by page; or part by part, loading those that are saved."""
        if self.saved is None:
            yield from self._read(index)
            return
        documents = self._engine.perform(Count(index, self._query))
        for part in self.saved.parts(index, documents, self.options.shard or (0, 1)):
            loaded = self.saved.load(index, part)
            if loaded is None:
                changes = self._made_visible(index)
                nothing = stored_fingerprints.rows(self._documents, self.store.settings, [], self._scope)
                rows = concatenated([nothing, *self._read(index, part)])
                self.saved.save(index, part, rows, changes)
            else:
                rows, changes = loaded
            # Changes made since the first part was read may have been missed.
            known = self.indices[index]
            self.indices[index] = list(map(min, known, changes)) if known and changes else None
            yield rows

    def _read(self, index: str, part: Slice | None = None) -> Generator[FingerprintRows, None, None]:
        engine = self._engine
        source = stored_fingerprints.paths(self._documents, self._scope)
        reading = Reading(index, self._query, source, part, self.options.patience, once=True)
        with ExitStack() as stack:
            stack.callback(engine.leave, reading.close(), BRIEFLY)
            next_page = prefetched(lambda _: run(reading.next(), engine), count(), stop=engine.stop)
            pages = stack.enter_context(closing(next_page))
            rows = partial(stored_fingerprints.rows, self._documents, self.store.settings, scope=self._scope)
            yield from stack.enter_context(closing(prefetched(rows, takewhile(bool, pages), stop=engine.stop)))

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

    @property
    def note(self) -> tuple[str, Json]:
        """The name of an index's note about its groups, and the settings that must agree to add to them."""
        order = self.options.canonical.name
        same = {"scheme": self._documents.scheme.id, **asdict(self.criteria), "canonical": self._keys, "order": order}
        same |= {"table": self.table.id} if self.table else {}
        return groups_note(self._documents), {**same, "query": self.options.filter, **self._scope_note}

    @property
    def _keys(self) -> str:
        """By what duplicates name their canonical documents."""
        return "INDEX/ID" if self._has_several else "ID"

    def _written(self, mapping: Json) -> Json | None:
        """Return the note about the groups of an index if they were last written with the same settings."""
        name, same = self.note
        there: Any = noted(mapping, name)
        return there if there and there.get("of") == same else None

    def joined(self) -> tuple[tuple[Integers, Integers] | None, npt.NDArray[np.bool_] | None]:
        """Return the documents that stay in the same group, each with its first, and which are new to all others.

        A group that has lost a document, or in which some no longer agree, is made again.
        """
        if not self._is_incremental:
            return None, None
        (first, second), are_whole = self.refs.joined()
        new = np.concatenate([np.empty(0, dtype=np.bool_), *self._new])
        stay = are_whole
        if self.store.scopes:
            stay = stay & ~np.isin(first, self.store.scopes.mixed_groups(first, second))
        new[second[~stay]] = True
        return (first[stay], second[stay]), new


# The approximate number of documents of a part.
PART = 200_000
_ARRAYS = ("statuses", "contents", "simhashes", "values")
_SCOPE = "scope_"


def concatenated(pages: Sequence[FingerprintRows]) -> FingerprintRows:
    """Concatenate pages."""
    return FingerprintRows(
        RefColumns.concatenated([page.refs for page in pages]),
        Condensed(*(_joined([getattr(page.condensed, name) for page in pages]) for name in _ARRAYS)),
        sum(page.others for page in pages),
        ScopeRows.concatenated(scopes) if (scopes := [page.scopes for page in pages if page.scopes]) else None,
    )


def _joined(arrays: list[Any]) -> Any:
    return None if arrays[0] is None else np.concatenate(arrays)


class SavedParts:
    """A directory with parts of indices; ``what`` has the scheme, query and settings with which they were read."""

    def __init__(self, directory: str | Path, what: Json) -> None:
        self._directory = Path(directory)
        self._name = sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:16]
        self._files: list[Path] = []

    def parts(self, index: str, documents: int, shard: tuple[int, int]) -> list[Slice]:
        """Divide an index of this many documents into parts, as an earlier run or another shard did; return a shard's.

        The machines of shards need not know of each other: they count nearly as many documents, and so choose the same
        power of two.
        """
        number, shards = shard
        counts = {
            int(path.stem.rpartition("of")[2]) for path in self._directory.glob(f"{self._prefix(index)}-*of*.npz")
        }
        count = min(counts, default=shards * max(2, 1 << (max(documents - 1, 0) // (PART * shards)).bit_length()))
        if len(counts) > 1 or count % shards:
            raise InputError(
                f"{self._directory} has parts of {index!r} by {' and '.join(map(str, sorted(counts)))}, which do not "
                f"fit together{f', or not {shards} shards' if shards > 1 else ''}. Delete those that are fewer "
                f"({self._prefix(index)}-*of*.npz), and read their shards again with the directory that has the others."
            )
        own = count // shards
        return [Slice(part, count) for part in range(number * own, (number + 1) * own)]

    def stages(self, indices: Iterable[str], of: Json) -> KeptStages:
        """Open the stages of linking the parts that were loaded and saved; those of other parts count no more."""
        parts = [[path.name, path.stat().st_size, path.stat().st_mtime_ns] for path in self._files]
        name = sha256("/".join(sorted(indices)).encode()).hexdigest()[:16]
        stages = KeptStages(self._directory / f"{self._name}-{name}-links")
        try:
            stages.begin({"parts": parts, **of})
        except BaseException:
            stages.close()
            raise
        return stages

    def load(self, index: str, part: Slice) -> tuple[FingerprintRows, list[int] | None] | None:
        """Load a saved part, and the changes of the index's shards before it was read.

        None if it is missing, or damaged, as by a power cut: then it is read from the index again.
        """
        path = self._path(index, part)
        if not path.exists():
            return None
        try:
            found = _read(path)
        except (OSError, EOFError, ValueError, KeyError, TypeError, BadZipFile, zlib.error):
            return None
        self._files.append(path)
        return found

    def save(self, index: str, part: Slice, rows: FingerprintRows, changes: list[int] | None) -> None:
        """Save a part completely, or not at all."""
        path = self._path(index, part)
        arrays = {name: getattr(rows.condensed, name) for name in _ARRAYS}
        if rows.scopes:
            arrays |= {f"{_SCOPE}{each.name}": getattr(rows.scopes, each.name) for each in fields(ScopeRows)}
        documents = [rows.refs.to_json(), rows.others, changes]
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_suffix(".unfinished")
            with unfinished.open("wb") as file:
                whole = {name: array for name, array in arrays.items() if array is not None}
                np.savez(file, documents=np.frombuffer(json.dumps(documents).encode(), dtype=np.uint8), **whole)
            os.replace(unfinished, path)
        except OSError as error:
            raise StorageError(
                f"Parts of {index!r} cannot be saved in {self._directory}: {error.strerror}. "
                "Name a directory with enough room, or do without."
            ) from error
        self._files.append(path)

    def remove(self) -> None:
        """Delete the files that this run has loaded and saved."""
        for path in self._files:
            path.unlink(missing_ok=True)

    def _prefix(self, index: str) -> str:
        # Names of indices may have a colon, which not all file systems allow.
        return f"{self._name}-{sha256(index.encode()).hexdigest()[:16]}"

    def _path(self, index: str, part: Slice) -> Path:
        return self._directory / f"{self._prefix(index)}-{part.number}of{part.count}.npz"


def _read(path: Path) -> tuple[FingerprintRows, list[int] | None]:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        documents, others, changes = parse_json(arrays["documents"].tobytes())
        found: dict[str, Any] = dict.fromkeys(_ARRAYS) | {name: arrays[name] for name in arrays if name in _ARRAYS}
        scope = {name.removeprefix(_SCOPE): arrays[name] for name in arrays if name.startswith(_SCOPE)}
    scopes = ScopeRows(**scope) if scope else None
    return FingerprintRows(RefColumns.from_json(documents), Condensed(**found), others, scopes), changes
