"""Grouping texts without an engine: documents that are read once, from files, a frame or any iterable."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np

from es_simhash._core.json_codec import Json
from es_simhash._core.stages import OnProgress, counted_arrays, stage
from es_simhash._version import __version__
from es_simhash.documents.arrow.frame import AnyFrame, frame_of
from es_simhash.documents.sources import patterns
from es_simhash.errors import DocumentError, InputError
from es_simhash.groups.corpus import Corpus, linked
from es_simhash.groups.groups import Groups
from es_simhash.groups.options import OF_INDEX, GroupOptions, check_without
from es_simhash.groups.pairs.compare import text_comparer
from es_simhash.groups.pairs.fingerprint_store import FingerprintStore, needed
from es_simhash.groups.pairs.learning import learn
from es_simhash.groups.pairs.scope_columns import ScopeRows
from es_simhash.groups.pairs.spool import KeptStages, Spools
from es_simhash.groups.pairs.stored_rows import Strings, repeated
from es_simhash.groups.pairs.worker_pool import condense_all
from es_simhash.scheme.json_form import to_json
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.rarity import Rarity
from es_simhash.scheme.verdict.verifier import Verifier, table_for
from es_simhash.sketches.minhash.common import VALUE_BITS

# An id and a text; where the options name fields, an object with their values as well.
Document: TypeAlias = tuple[str, str] | tuple[str, str, Mapping[str, Any]]
Documents: TypeAlias = Iterable[Document] | AnyFrame

_NOTED_AT_ONCE = 1000
# The folder within a directory of state, which may have other files.
_KEPT = "dedup"


def dedup(
    documents: Documents,
    settings: Settings,
    options: GroupOptions | None = None,
    on_progress: OnProgress[int] | None = None,
) -> Groups[TextCorpus]:
    """Find the groups of near-duplicates among documents, which are read once.

    They are (id, text) pairs, or a frame (see `Frame`). With a scope, or an order of canonical documents by fields,
    they are (id, text, values), where the values are an object with these fields. ``settings`` is a scheme.
    ``on_progress`` is called with the number of documents read so far.

    >>> from es_simhash import GroupOptions, Scheme, dedup
    >>> texts = ["Trains stood still in the storm for hours.", "Trains stood still in the storm, for hours."]
    >>> with dedup(zip("ab", texts), Scheme(), GroupOptions(similarity="versions")) as groups:
    ...     groups.counts.duplicates
    1
    """
    options = options or GroupOptions()
    check_without(options, OF_INDEX, "documents that are in no index")
    kept = None if options.state is None else KeptStages(Path(options.state) / _KEPT)
    spools = Spools.within(options.memory, options.directory)
    try:
        corpus = TextCorpus(settings, options, spools)
        with stage("read"):
            corpus.read(documents, on_progress or (lambda _: None))
        with stage("compare"):
            if kept:
                kept.begin(corpus.known_by(), anew=False)
                spools.stages = kept
            found = Groups(corpus, linked(corpus))
        spools.stages.remove()
        return found
    except BaseException:
        spools.close()
        if kept:
            kept.close()
        raise


def learn_from(documents: Documents, settings: Settings, options: GroupOptions | None = None) -> Rarity:
    """Learn how rare features are among documents, given as to `dedup`; the options of a later run may have it."""
    read = _Reading(options or GroupOptions())
    return learn(settings, (text for _, text, _ in read.checked(documents)))


class TextCorpus(Corpus):
    """Documents that are read once; ``written`` makes of a stored id what is written for it."""

    def __init__(self, settings: Settings, options: GroupOptions, spools: Spools) -> None:
        self._reading = _Reading(options)
        wanted = needed(settings, options.criteria(settings))
        bits = wanted.minhash.layout.value_bits if wanted.minhash else VALUE_BITS
        super().__init__(settings, options, FingerprintStore(wanted, spools, bits, options.scope), spools)
        self.written: Callable[[str], str] = str
        self._needed = wanted
        self._ids = Strings(spools)
        self._texts: Strings | None = None
        if self.criteria.similarity is not None and self.criteria.verification:
            self._texts = Strings(spools)
            self.rarity = table_for(settings, self.criteria.verification, cast("Rarity | None", options.rarity))
            verifier = Verifier(settings, self.criteria.verification, self.rarity)
            self.exact = text_comparer(verifier, self._texts, options.memory, self.threads)
        self._ranks: list[Any] = []
        self._unnoted: list[Mapping[str, Any]] = []
        self._read = sha256()

    def read(self, documents: Documents, on_progress: OnProgress[int]) -> None:
        """Read and condense all documents."""
        for condensed in condense_all(self._needed, self._noted(documents), self.threads):
            self.store.add(condensed)
            if self._texts is not None and condensed.texts is not None:
                self._texts.extend(condensed.texts)
            on_progress(len(self.store))
        self._ids.flush()
        self._check_ids()
        self._note_scopes()
        self.store.complete()

    def _noted(self, documents: Documents) -> Iterator[str]:
        canonical = self.options.canonical
        for id, text, values in self._reading.checked(documents):
            self._ids.append(id)
            if canonical.fields:
                self._ranks.append(canonical.rank(dict(values)))
            if self.options.scope:
                self._unnoted.append(values)
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
        if self.store.scopes and self.options.scope:
            self._read.update(json.dumps(self._unnoted, default=str).encode())
            self.store.scopes.add(ScopeRows.read(self.options.scope, self._unnoted))
            self._unnoted.clear()

    def known_by(self) -> Json:
        """Return what decides which documents are linked, by which kept stages are known."""
        rows = self.store.contents.columns(range(2))
        for some in counted_arrays("Checking kept stages", rows, len(self), "documents"):
            self._read.update(np.ascontiguousarray(some).tobytes())
        given: list[Any] = [__version__, to_json(self.settings), repr(self.criteria), repr(self.options.scope)]
        given += [self.options.max_bucket, self.rarity.id if self.rarity else None]
        return {"documents": self._read.hexdigest(), "options": sha256(json.dumps(given).encode()).hexdigest()}

    def keys(self, positions: Sequence[int]) -> list[tuple[str, str]]:
        """Return what is written for the ids of documents; they have no index."""
        return [("", self.written(id_)) for id_ in self._ids.at(positions)]

    def ids(self) -> Iterator[str]:
        """Yield the stored ids of all documents."""
        return iter(self._ids)

    def ids_at(self, positions: Sequence[int]) -> list[str]:
        """Return the stored ids of documents."""
        return self._ids.at(positions)

    def texts_at(self, positions: Sequence[int]) -> list[str]:
        """Return the texts of documents, which are there if texts were compared."""
        return self._texts.at(positions) if self._texts is not None else []

    def ranks(self, positions: Sequence[int]) -> list[Any]:
        """Return what documents are sorted by: their ranks, if these have any, then their positions."""
        return [(self._ranks[each], each) for each in positions] if self._ranks else list(positions)


class _Reading:
    """Reads documents one by one, and checks their form."""

    def __init__(self, options: GroupOptions) -> None:
        self._strip = patterns(options.strip)
        fields = options.canonical.fields
        self._paths = [*(options.scope.paths if options.scope else ()), *([] if isinstance(fields, bool) else fields)]
        self._has_values = bool(self._paths or fields)

    def checked(self, documents: Documents) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        """Yield documents as ids, texts, and objects with the values that are asked for."""
        for position, document in enumerate(each_document(documents, self._paths, self._has_values)):
            id, text, *values = checked(document, position, self._has_values, str if self._strip else object)
            for pattern in self._strip:
                text = pattern.sub("", text)
            yield id, text, values[0] if values else {}


def each_document(documents: Documents, paths: Sequence[str], has_values: bool) -> Iterable[Document]:
    """Return documents one by one: those of a frame, or those that were given."""
    frame = frame_of(documents)
    if frame is None:
        return cast("Iterable[Document]", documents)
    if has_values and not paths:
        raise InputError("Of a frame, only some columns are read. Name those of the order: Canonical.by(rank, fields).")
    rows = frame.pairs_with(paths)
    return rows if has_values else ((id, text) for id, text, _ in rows)


def checked(document: Any, position: int, has_values: bool, text: type = object) -> Any:
    """Return a document; raise `DocumentError` unless it is an id and a ``text``, and has values if it should."""
    kinds = (str, text, Mapping) if has_values else (str, text)
    if isinstance(document, tuple) and len(document) == len(kinds) and all(map(isinstance, document, kinds)):
        return document
    if has_values:
        problem = "is not an id, a text and an object with the values of the scope, or of the order. Give such triples."
    else:
        problem = "is not a pair of an id and a text, both strings. Give such pairs."
    raise DocumentError(problem, position)
