"""Documents as they are read from an index: fingerprints, references, the texts that decide, and names of groups.

A group keeps the name that most of its members have already; one without such a name gets a hash of its canonical
document. So a run that changes nothing gives the same names, and so does one that continues a run that was stopped.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from hashlib import sha256
from itertools import accumulate, count
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from es_simhash._core import arrays
from es_simhash._core.arrays import Integers, distinct_numbers
from es_simhash._core.json_codec import Json, parse_json
from es_simhash.documents.documents import Documents, unchanged_text
from es_simhash.documents.sources import patterns
from es_simhash.engines.base import Engine, run
from es_simhash.errors import InputError, ReaderLostError, StorageError
from es_simhash.groups.loss_counts import Values
from es_simhash.groups.pairs.compare import CompareTexts, text_comparer
from es_simhash.groups.pairs.fingerprint_store import Condensed, ScopeRows, value_type
from es_simhash.groups.pairs.stored_rows import Columns, KeptStages, Spools, Strings, encoded
from es_simhash.live.sweep.reading import DocumentRef
from es_simhash.plans.operations import Slice
from es_simhash.plans.reply_size import ReplySize, documents_by_id
from es_simhash.scheme import mapping, own_fields
from es_simhash.scheme.fingerprinting import STATUSES
from es_simhash.scheme.mapping import GROUP, SIZE, is_settled, new_name, stored_in
from es_simhash.scheme.own_fields import StoredFingerprints
from es_simhash.scheme.scope import Scope
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verifier import PairMeasures, Similarities, Verifier

_VERSION = ("if_seq_no", "if_primary_term")
_NO_VERSION = -1
_GROUP_NAMES = frozenset(mapping.NAMES)


@dataclass(frozen=True, eq=False)
class RefColumns:
    """References to some documents, as columns: their names, routings and versions.

    A name is an index and an id. ``groups`` has the fields of groups of those that have some, by their places here.
    """

    names: list[str]
    routings: list[str]
    versions: Integers
    groups: dict[int, Json]

    @classmethod
    def of(cls, hits: Sequence[Json], stored: Sequence[Json]) -> RefColumns:
        """Refer to the documents of hits, with their stored objects of our fields."""
        return cls(
            [f"{hit['_index']}/{hit['_id']}" for hit in hits],
            [hit.get("_routing") or "" for hit in hits],
            _versions([(hit.get("_seq_no", _NO_VERSION), hit.get("_primary_term", _NO_VERSION)) for hit in hits]),
            {place: stored_in(own) for place, own in enumerate(stored) if not _GROUP_NAMES.isdisjoint(own)},
        )

    @classmethod
    def concatenated(cls, parts: Sequence[RefColumns]) -> RefColumns:
        """Concatenate references."""
        firsts = accumulate((len(part) for part in parts), initial=0)
        return cls(
            [name for part in parts for name in part.names],
            [routing for part in parts for routing in part.routings],
            np.concatenate([part.versions for part in parts]),
            {
                first + place: group
                for first, part in zip(firsts, parts, strict=False)
                for place, group in part.groups.items()
            },
        )

    @classmethod
    def from_json(cls, documents: Sequence[tuple[Json, Json]]) -> RefColumns:
        """Read what `to_json` wrote."""
        refs = [ref for ref, _ in documents]
        return cls(
            [f"{ref['index']}/{ref['id']}" for ref in refs],
            [ref["routing"] or "" for ref in refs],
            _versions([tuple(ref["version"].get(name, _NO_VERSION) for name in _VERSION) for ref in refs]),
            {place: group for place, (_, group) in enumerate(documents) if group},
        )

    def to_json(self) -> list[tuple[Json, Json]]:
        """Write each document's reference, and the fields of its group."""
        refs = map(_ref, self.names, self.routings, self.versions.tolist())
        return [(asdict(ref), self.groups.get(place, {})) for place, ref in enumerate(refs)]

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.names)


class DocumentRefs:
    """References to documents by their positions; they may lie in temporary files."""

    def __init__(self, spools: Spools) -> None:
        self._names = Strings(spools)
        self._routings = Strings(spools)
        self._versions = Columns(spools, 2, np.int64)
        self._groups = Strings(spools)
        self._with_fields: list[int] = []
        self._settled: list[int] = []
        self._provisional: list[int] = []
        self._count = 0

    def __len__(self) -> int:
        """Return the number of documents."""
        return self._count

    def append(self, refs: RefColumns) -> None:
        """Append documents."""
        for place, group in refs.groups.items():
            if group:
                self._groups.append(json.dumps(group))
                self._with_fields.append(self._count + place)
                if is_settled(group):
                    self._settled.append(self._count + place)
                elif GROUP in group:
                    self._provisional.append(self._count + place)
        self._names.extend(encoded(refs.names))
        self._routings.extend(encoded(refs.routings))
        self._versions.append(refs.versions)
        self._count += len(refs)

    def flush(self) -> None:
        """Finish appending, so that all can be read."""
        self._groups.flush()

    def take(self, positions: Sequence[int]) -> list[DocumentRef]:
        """Return the references to documents, in the order of ``positions``."""
        versions = self._versions.at(np.array(positions, dtype=np.int64)).tolist()
        return list(map(_ref, self._names.at(positions), self._routings.at(positions), versions))

    def keys(self, positions: Sequence[int]) -> list[tuple[str, str]]:
        """Return the index and the id of documents, in the order of ``positions``."""
        split = (name.partition("/") for name in self._names.at(positions))
        return [(index, id_) for index, _, id_ in split]

    def stored_groups(self) -> Iterator[tuple[int, Json]]:
        """Yield the positions of documents with fields of groups, and these fields."""
        for position, group in zip(self._with_fields, self._groups, strict=True):
            yield position, parse_json(group)

    def joined(self) -> tuple[tuple[Integers, Integers], npt.NDArray[np.bool_]]:
        """Return the documents that are in a group, each with the first of its group; provisional ones join nothing.

        Return with them whether their groups are whole: what a lost document connected may be apart.
        """
        groups: dict[str, int] = {}
        rows = [
            (position, groups.setdefault(own[GROUP], len(groups)), own[SIZE])
            for position, own in self.stored_groups()
            if is_settled(own)
        ]
        second, numbers, sizes = np.array(rows, dtype=np.int64).reshape(-1, 3).T
        _, firsts = np.unique(numbers, return_index=True)
        is_right = np.bincount(numbers, minlength=len(groups))[numbers] == sizes
        are_whole = np.ones(len(groups), dtype=np.bool_)
        are_whole[numbers[~is_right]] = False
        return (second[firsts[numbers]], second), are_whole[numbers]

    def changed_after(self, first: int, changes: Sequence[int]) -> npt.NDArray[np.bool_]:
        """Return which documents from a position on are in no group, and were added or changed after these changes.

        If the engine does not number changes, these are all documents in no group. Those in a provisional group are
        new in any case.
        """
        numbers = np.concatenate([np.empty(0), *(rows[:, 0] for rows in self._versions.columns(range(1)))])
        new = (numbers == _NO_VERSION) | (numbers > min(changes, default=_NO_VERSION))
        new[self._settled], new[self._provisional] = False, True
        return new[first:]


def _versions(rows: list[tuple[int, ...]]) -> Integers:
    return np.array(rows, dtype=np.int64).reshape(-1, len(_VERSION))


def _ref(name: str, routing: str, version: list[int]) -> DocumentRef:
    index, _, id_ = name.partition("/")
    known = {} if version[0] == _NO_VERSION else dict(zip(_VERSION, version, strict=True))
    return DocumentRef(index, id_, routing or None, known)


CONTENT_DIGITS = 8
_CONTENT = re.compile(f"[A-Za-z0-9_-]{{{CONTENT_DIGITS}}}")


@dataclass(frozen=True, eq=False)
class FingerprintRows:
    """Documents with a fingerprint of the scheme: references, and condensed fingerprints.

    ``others`` counts the documents without one, including those with empty texts. ``scopes`` has their scope, if one
    counts, and ``noted`` the values by which losses are counted.
    """

    refs: RefColumns
    condensed: Condensed
    others: int
    scopes: ScopeRows | None = None
    noted: tuple[Values, ...] = ()


def with_key_values(settings: Settings) -> Settings:
    """Restrict the signature to the values that band keys hold, which may be fewer than the scheme's."""
    if settings.minhash is None:
        return settings
    return replace(settings, minhash=replace(settings.minhash, size=settings.minhash.layout.size))


def paths(documents: Documents, scope: Scope | None = None, others: Iterable[str] = ()) -> list[str]:
    """Return the fields to read, and some ``others``."""
    names = [*own_fields.compared_names(documents.scheme), *mapping.NAMES]
    own = [f"{documents.prefix}.{name}" for name in names]
    return list(dict.fromkeys((*own, *(scope.paths if scope else ()), *others)))


def rows(
    documents: Documents,
    wanted: Settings,
    hits: Sequence[Json],
    scope: Scope | None = None,
    noted: Sequence[Values] = (),
) -> FingerprintRows:
    """Parse the fingerprints in the documents of hits, as far as the ``wanted`` settings need them, and their scope.

    Of these documents, values are ``noted`` as well, in new columns.
    """
    scheme, prefix = documents.scheme, documents.prefix
    objects = [(hit.get("_source") or {}).get(prefix) or {} for hit in hits]
    stored = own_fields.read_all(scheme, scheme.id, objects)
    # Only a hash of the content shows whether texts are equal.
    kept = [i for i, content in enumerate(stored.contents) if _CONTENT.fullmatch(content or "")]
    places = [stored.places[i] for i in kept]
    refs = RefColumns.of([hits[place] for place in places], [objects[place] for place in places])
    sources = [hits[place].get("_source") or {} for place in places] if scope or noted else []
    scopes = ScopeRows.read(scope, sources) if scope else None
    values = tuple(each.of(sources) for each in noted)
    return FingerprintRows(refs, _condensed(wanted, stored, kept), len(hits) - len(kept), scopes, values)


def _condensed(wanted: Settings, stored: StoredFingerprints, kept: list[int]) -> Condensed:
    simhashes = values = None
    if wanted.simhash and stored.simhashes is not None:
        simhashes = stored.simhashes[kept]
    if wanted.minhash and stored.keyed is not None:
        values = stored.keyed[kept].astype(value_type(wanted.minhash))
    # A document with a fingerprint has features.
    statuses = np.full(len(kept), STATUSES.index("ok"), dtype=np.uint8)
    return Condensed(statuses, _contents(stored, kept), simhashes, values)


def _contents(stored: StoredFingerprints, kept: list[int]) -> arrays.Codes:
    """Combine each text's hash and its SimHash, so that different texts hardly ever look equal."""
    texts = "".join(stored.contents[i] or "" for i in kept)
    hashes = arrays.values_of(texts, CONTENT_DIGITS, arrays.BASE64URL)
    simhashes = np.zeros_like(hashes) if stored.simhashes is None else stored.simhashes[kept]
    return np.stack([hashes, simhashes[:, -1] if simhashes.ndim > 1 else simhashes], axis=1)


def content_number(content: str) -> int:
    """Return the hash of a text as the number that is compared."""
    if not _CONTENT.fullmatch(content):
        return -1
    [number] = arrays.values_of(content, CONTENT_DIGITS, arrays.BASE64URL).tolist()
    return int(number)


# The stage of writing groups.
BEGUN = "begun"
# The approximate number of documents of a part.
PART = 200_000
_ARRAYS = ("statuses", "contents", "simhashes", "values")
_SCOPE, _VALUES = "scope_", "noted_"


def concatenated(pages: Sequence[FingerprintRows]) -> FingerprintRows:
    """Concatenate pages."""
    return FingerprintRows(
        RefColumns.concatenated([page.refs for page in pages]),
        Condensed(*(_joined([getattr(page.condensed, name) for page in pages]) for name in _ARRAYS)),
        sum(page.others for page in pages),
        ScopeRows.concatenated(scopes) if (scopes := [page.scopes for page in pages if page.scopes]) else None,
        tuple(map(Values.concatenated, zip(*(page.noted for page in pages), strict=True))),
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
        """Open the stages of linking the parts that were loaded and saved; those of other parts count no more.

        Parts whose groups have been written in part, by a job with other options, must be read again: nobody knows what
        their documents have now.
        """
        parts = [[path.name, path.stat().st_size, path.stat().st_mtime_ns] for path in self._files]
        name = sha256("/".join(sorted(indices)).encode()).hexdigest()[:16]
        stages = KeptStages(self._directory / f"{self._name}-{name}-links")
        try:
            if BEGUN in stages.begin({"parts": parts, **of}):
                stages.remove()
                self.remove()
                raise ReaderLostError("Groups of what was read were written.")
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
        noted = [(each.by, each.path, list(each.names)) for each in rows.noted]
        arrays |= {f"{_VALUES}{place}": np.array(each.codes) for place, each in enumerate(rows.noted)}
        documents = [rows.refs.to_json(), rows.others, changes, *([noted] if noted else [])]
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
        while self._files:
            self._files.pop().unlink(missing_ok=True)

    def _prefix(self, index: str) -> str:
        # Names of indices may have a colon, which not all file systems allow.
        return f"{self._name}-{sha256(index.encode()).hexdigest()[:16]}"

    def _path(self, index: str, part: Slice) -> Path:
        return self._directory / f"{self._prefix(index)}-{part.number}of{part.count}.npz"


def _read(path: Path) -> tuple[FingerprintRows, list[int] | None]:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        documents, others, changes, *more = parse_json(arrays["documents"].tobytes())
        found: dict[str, Any] = dict.fromkeys(_ARRAYS) | {name: arrays[name] for name in arrays if name in _ARRAYS}
        scope = {name.removeprefix(_SCOPE): arrays[name] for name in arrays if name.startswith(_SCOPE)}
        known: list[Any] = more[0] if more else []
        noted = [Values.saved(by, path, names, arrays[f"{_VALUES}{at}"]) for at, (by, path, names) in enumerate(known)]
    scopes = ScopeRows(**scope) if scope else None
    return FingerprintRows(RefColumns.from_json(documents), Condensed(**found), others, scopes, tuple(noted)), changes


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


def names(groups: Sequence[tuple[tuple[str, str], Counter[str]]], others: Iterable[str] = ()) -> list[str]:
    """Name each group, given the index and id of its first document, and the present names of its members.

    The names of ``others`` are not used.

    If two groups want the same name, the one with more members of this name gets it; the index and id of the first
    document break ties.
    """
    found: dict[int, str] = {}
    taken = set(others)
    wishes = (
        (-often, name, first, number) for number, (first, stored) in enumerate(groups) for name, often in stored.items()
    )
    for _, name, _, number in sorted(wishes):
        if number not in found and name not in taken:
            found[number] = name
            taken.add(name)
    # Old names are not given to other groups, even if no group keeps them.
    taken.update(name for _, stored in groups for name in stored)
    for number, (first, _) in sorted(enumerate(groups), key=lambda each: each[1][0]):
        if number not in found:
            found[number] = next(name for again in count() if (name := name_of(first, again)) not in taken)
            taken.add(found[number])
    return [found[number] for number in range(len(groups))]


def name_of(first: tuple[str, str], number: int) -> str:
    """Return the name of a new group, a hash of its canonical document; or the next one if others have it already."""
    return new_name(*first, *([str(number)] if number else []))
