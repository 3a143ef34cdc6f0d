"""Grouping texts without an engine: documents that are read once, from files, a frame or any iterable."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, overload

import numpy as np

from es_simhash._core.arrow import ArrowArray, ArrowStream
from es_simhash._core.batches import OnProgress, counted_arrays, counted_each, stage
from es_simhash._core.json_codec import Json
from es_simhash._version import __version__
from es_simhash.documents.frame import Frame
from es_simhash.documents.given import Document, Documents, GivenDocuments, given_documents
from es_simhash.documents.sources import OnReject, PathsSought, patterns
from es_simhash.errors import DocumentError
from es_simhash.groups.corpus import Corpus, linked
from es_simhash.groups.groups import Groups
from es_simhash.groups.options import OF_INDEX, GroupOptions, check_without, options_of
from es_simhash.groups.pairs.compare import text_comparer
from es_simhash.groups.pairs.fingerprint_store import (
    FingerprintStore,
    ScopeRows,
    condense,
    content_numbers,
    settings_needed,
)
from es_simhash.groups.pairs.stored_rows import KeptStages, Spools, Strings, encoded, repeated
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.rarity import SAMPLE, Rarity
from es_simhash.scheme.scheme import Scheme, scheme_of, to_json
from es_simhash.scheme.settings import Settings, reads_texts
from es_simhash.scheme.verifier import Verifier, rarity_of, table_for
from es_simhash.sketches.minhash.common import VALUE_BITS

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from es_simhash.groups.keywords import GroupKeywords


if TYPE_CHECKING:

    class DedupKeywords(GroupKeywords, total=False):
        """The keywords of `dedup`."""

        fields: str | Sequence[str]
        id_field: str | None
        scheme: Scheme | str
        on_progress: OnProgress[int] | None
        on_reject: OnReject | None


Kept = TypeVar("Kept")
FrameT = TypeVar("FrameT", bound=ArrowStream | ArrowArray)
Item = TypeVar("Item", bound=Document | str | Mapping[str, Any])

_NOTED_AT_ONCE = 1000
# The folder within a directory of state, which may have other files.
_KEPT = "dedup"


@overload
def dedup(  # type: ignore[overload-overlap]
    documents: str | os.PathLike[str] | Sequence[os.PathLike[str]], **options: Unpack[DedupKeywords]
) -> Deduplicated[Iterator[Json]]: ...


@overload
def dedup(documents: Frame, **options: Unpack[DedupKeywords]) -> Deduplicated[Any]: ...


@overload
def dedup(documents: FrameT, **options: Unpack[DedupKeywords]) -> Deduplicated[FrameT]: ...


@overload
def dedup(documents: Iterable[Item], **options: Unpack[DedupKeywords]) -> Deduplicated[list[Item]]: ...


def dedup(
    documents: Documents,
    *,
    fields: str | Sequence[str] = (),
    id_field: str | None = None,
    scheme: Scheme | str = "default",
    on_progress: OnProgress[int] | None = None,
    on_reject: OnReject | None = None,
    **options: Unpack[GroupKeywords],
) -> Deduplicated[Any]:
    """Find the groups of near-duplicates among documents, which are read once.

    ``documents`` are texts; rows, which are objects with fields; a frame (see `Frame`); or files: the path of one, or a
    list of `Path`s. With ids of your own they are (id, text) pairs, or (id, text, values) for a scope, or for an order
    of canonical documents by fields.

    The text of a row, or of a document in a file, is in the ``fields`` (dotted paths), by default in the only field
    that reads like texts. Its id is in ``id_field``, by default ``_id`` or ``id``; else rows are known by their
    positions. ``scheme`` is a `Scheme`, or the name of a preset. ``on_progress`` is called with the number of documents
    read so far. A row or line that cannot be read raises a `DocumentError`; with ``on_reject``, it is passed to that
    function and left out. ``canonical`` may be the name of an order, as on the command line: ``first``, ``longest``,
    ``oldest:FIELD``, ``newest:FIELD``, ``order:FIELD=A,B,C``. For the other keywords see `GroupOptions`.

    >>> from es_simhash import dedup
    >>> rows = [{"id": 7, "text": "It rains on the town."}, {"id": 8, "text": "It rains on the town!"}]
    >>> with dedup(rows, similarity="versions") as found:
    ...     found.kept
    [{'id': 7, 'text': 'It rains on the town.'}]
    """
    wanted = given_documents(documents, fields, id_field, on_reject)
    how = options_of(options, documents.fields if isinstance(documents, Frame) else fields)
    found = group_texts(wanted, scheme_of(scheme), how, on_progress)
    found.corpus.remove_kept()
    return found


def group_texts(
    documents: Documents,
    settings: Settings,
    options: GroupOptions | None = None,
    on_progress: OnProgress[int] | None = None,
    on_read: Callable[[TextCorpus], object] = lambda _: None,
) -> Deduplicated[Any]:
    """Find the groups of near-duplicates among documents, given as to `dedup`; stages are kept until its block ends.

    ``on_read`` may choose how the documents are called, before decisions are looked up by these names.
    """
    options = options or GroupOptions()
    check_without(options, OF_INDEX, "documents that are in no index")
    decided = options.decided
    kept = None if options.state is None else KeptStages(Path(options.state) / _KEPT)
    spools = Spools.within(options.memory, options.directory)
    try:
        corpus = TextCorpus(settings, options, spools)
        with stage("read"):
            corpus.read(documents, on_progress or (lambda _: None))
            on_read(corpus)
            corpus.obey(decided)
        with stage("compare"):
            if kept:
                kept.begin(corpus.known_by(), restart=False)
                corpus.keep(kept)
            return Deduplicated[Any](corpus, linked(corpus))
    except BaseException:
        spools.close()
        if kept:
            kept.close()
        raise


def learn_from(documents: Documents, settings: Settings, options: GroupOptions | None = None) -> Rarity:
    """Learn how rare features are among documents, given as to `dedup`; the options of a later run may have it."""
    read = _each_read(given_documents(documents), options or GroupOptions())
    return learn(settings, (text for _, text, _ in read))


class TextCorpus(Corpus):
    """Documents that are read once; ``written`` makes of a stored id what is written for it."""

    def __init__(self, settings: Settings, options: GroupOptions, spools: Spools) -> None:
        wanted = settings_needed(settings, options.criteria(settings))
        bits = wanted.minhash.layout.value_bits if wanted.minhash else VALUE_BITS
        super().__init__(settings, options, FingerprintStore(wanted, spools, bits, options.scope), spools)
        self.written: Callable[[str], str] = str
        self.given = given_documents(())
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
        self.given = given_documents(documents)
        # Only kernels that go all the way from texts let other threads run.
        threads = self.threads if reads_texts(self._needed) else 1
        for condensed in fingerprinting.in_batches(self._noted(), partial(condense, self._needed), threads):
            self.store.add(condensed)
            if self._texts is not None and condensed.texts is not None:
                self._texts.extend(condensed.texts)
            on_progress(len(self.store))
        self._ids.flush()
        self._check_ids()
        self.check_dates(len(self._ranks))
        self._note_scopes()
        self.store.complete()

    def _noted(self) -> Iterator[str]:
        canonical = self.options.canonical
        for id, text, values in _each_read(self.given, self.options):
            self._ids.append(id)
            if canonical.fields:
                self._ranks.append(self.rank(dict(values), len(self._ranks)))
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


class Deduplicated(Groups[TextCorpus], Generic[Kept]):
    """The groups that `dedup` found, and the documents without their duplicates, in the form that they were given in.

    >>> found = dedup(["Trains stood still for hours.", "The fair opens.", "Trains stood still for hours!"])
    >>> found
    Deduplicated(3 documents, 1 group, 1 duplicate)
    >>> [group.canonical.position for group in found.groups], found.duplicates
    ([0], ['Trains stood still for hours!'])
    """

    @property
    def kept(self) -> Kept:
        """The documents that stand for themselves: canonical ones, and those in no group; in their order.

        A list has the same objects, a frame is filtered, and files are read again, one document at a time.
        """
        found: Kept = self.corpus.given.only(self.is_canonical)
        return found

    @property
    def duplicates(self) -> Kept:
        """The documents that others stand for, in the same form."""
        found: Kept = self.corpus.given.only(~self.is_canonical)
        return found


def _each_read(documents: GivenDocuments, options: GroupOptions) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield documents, one by one, as ids, texts, and objects with the values that are asked for; check their form."""
    strip, fields = patterns(options.strip), options.canonical.fields
    scope, order = options.scope.paths if options.scope else (), [] if isinstance(fields, bool) else fields
    paths = [*scope, *order]
    has_values = bool(paths or fields)
    # An order by several fields, such as those of texts, does without some of them.
    sought = PathsSought([*scope, *(order if len(order) == 1 else ())])
    for position, document in enumerate(documents.each(paths or has_values)):
        id, text, *values = checked(document, position, has_values, str if strip else object)
        for pattern in strip:
            text = pattern.sub("", text)
        known = values[0] if values else {}
        sought.look_in(known)
        yield id, text, known
    sought.check()


def checked(document: Any, position: int, has_values: bool, text: type = object) -> Any:
    """Return a document; raise `DocumentError` unless it is an id and a ``text``, and has values if it should."""
    kinds = (str, text, Mapping)
    is_whole = isinstance(document, tuple) and len(document) in ((3,) if has_values else (2, 3))
    if is_whole and all(map(isinstance, document, kinds)):
        return document
    if has_values:
        problem = "is not an id, a text and an object with the values of the scope, or of the order. Give such triples."
    else:
        problem = "is not a pair of an id and a text, both strings. Give such pairs, texts, or objects with fields."
    raise DocumentError(problem, position)


# A number that no content hash is.
_BEYOND = 1 << 64


def learn(settings: Settings, texts: Iterable[str]) -> Rarity:
    """Learn from the texts that an index with the same ones is learnt from (see `es_simhash.scheme.rarity`)."""
    lowest = LowestTexts()
    for some in fingerprinting.in_batches(texts, list):
        lowest.add(some)
    return lowest.learnt(settings)


class LowestTexts:
    """The texts with the lowest content hashes of those that were added."""

    def __init__(self) -> None:
        self._found: dict[int, str] = {}
        self._bound = _BEYOND

    def add(self, texts: Sequence[str]) -> None:
        """Add some texts."""
        numbers = content_numbers(encoded(texts).contents()).tolist()
        self._found |= {number: text for number, text in zip(numbers, texts, strict=True) if number < self._bound}
        if len(self._found) > 2 * SAMPLE:
            self._found = self.found()
            self._bound = max(self._found)

    def found(self) -> dict[int, str]:
        """Return the texts to learn from, by their content hashes as numbers, in their order."""
        return {number: self._found[number] for number in sorted(self._found)[:SAMPLE]}

    def learnt(self, settings: Settings) -> Rarity:
        """Learn from these texts."""
        texts = list(self.found().values())
        return rarity_of(settings, counted_each("Learning how rare features are", texts, len(texts)))
