"""The documents of files or of an index that ``evaluate`` and ``tune`` read: all that have labels, or a random sample.

With a scope, a sample says which pairs of its documents count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from random import Random

import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash._core.batches import BRIEFLY, OnProgress, in_a_moment
from es_simhash._core.environment import PATIENCE
from es_simhash._core.json_codec import Json
from es_simhash.cli.jobs.files import LoadedIds, NamedFields, read_texts
from es_simhash.cli.options.index import Source
from es_simhash.cli.show.output import Output
from es_simhash.documents.files import FileDocument, total_bytes
from es_simhash.documents.sources import OnReject, text_of
from es_simhash.engines.base import Engine, run
from es_simhash.errors import DocumentError, InputError
from es_simhash.live.sweep.reading import DocumentRef, Reading
from es_simhash.plans.operations import Count, GetMappings, Refresh
from es_simhash.plans.reply_size import sampled
from es_simhash.quality.labels import Flags, InScope, StoredDocuments
from es_simhash.scheme.scope import Scope

_ALL: Json = {"match_all": {}}


@contextmanager
def texts_of_files(
    source: Source, output: Output, on_reject: OnReject, scope: Scope | None
) -> Iterator[tuple[Iterator[tuple[FileDocument, str]], OnProgress[int]]]:
    """Open the files: yield their documents with their texts, and what is called with the number of those read."""
    named, files = NamedFields(source.fields, scope), source.files
    with output.progress("Reading", total_bytes(files.paths)) as advance:
        found = named.checked(read_texts(files.read(on_reject), source.fields, on_reject, named))
        yield found, lambda done: advance(done, 0, files.bytes_read)
    output.warn(named.warning)
    if named.without_text.count:
        output.note(named.without_text.sentence)


# ---- all documents


def gather_files(
    found: Iterable[tuple[FileDocument, str]],
    documents: StoredDocuments,
    on_reject: OnReject,
    on_progress: OnProgress[int],
) -> None:
    """Gather the documents of files with their texts; reject one with the id of an earlier document in its file.

    One of an earlier file has it where files number their documents each for itself, and labels cannot say which file.
    """
    ids = LoadedIds()
    for each, text in found:
        if ids.is_of_another_file(each):
            raise InputError(
                f"The id {each.id!r} in {each.file}, line {each.line}, is that of a document in an earlier file, so "
                "labels cannot say which is meant. Give the documents of all files distinct ids (--id-field)."
            )
        if not documents.add(each.id, text, dict(each.document)):
            reason = "An earlier document has the same id, so labels cannot name one of them. Give it another."
            on_reject(each.rejected(reason))
        on_progress(len(documents))


def gather_index(
    engine: Engine,
    name: str,
    documents: StoredDocuments,
    fields: Sequence[str],
    wanted: Json | None,
    on_reject: OnReject,
    on_progress: OnProgress[int],
) -> None:
    """Gather the documents of an index that match a query; if several indices have the same id, the first document."""
    source = [*fields, *_paths(documents.scope)]
    for hit, text in with_texts(hits_of(engine, name, wanted or _ALL, source, PATIENCE), fields, on_reject):
        documents.add(hit["_id"], text, hit.get("_source") or {})
        on_progress(len(documents))


def with_texts(hits: Iterable[Json], fields: Sequence[str], on_reject: OnReject) -> Iterator[tuple[Json, str]]:
    """Yield hits with the texts in these fields; one whose text cannot be read goes to ``on_reject``."""
    for hit in hits:
        try:
            yield hit, text_of(hit.get("_source") or {}, fields)
        except DocumentError as error:
            on_reject(DocumentRef.of(hit).rejected(error.problem))


def hits_of(engine: Engine, name: str, wanted: Json, source: Sequence[str] | bool, patience: float) -> Iterator[Json]:
    """Yield all documents of the indices behind a name that match a query."""
    mappings = engine.perform(GetMappings(name))
    for each in sorted(mappings):
        engine.perform(Refresh(each))
        reading = Reading(each, wanted, source, None, patience)
        try:
            while page := run(reading.next(), engine):
                yield from page
        finally:
            in_a_moment(partial(run, reading.close(), engine), BRIEFLY)


# ---- a sample


@dataclass(frozen=True)
class Sampled:
    """Documents as (id, text) pairs, out of ``total``, and which pairs are ``in_scope``; None without a scope."""

    documents: Sequence[tuple[str, str]]
    total: int
    in_scope: InScope | None = None


def sample_of_files(
    found: Iterable[tuple[FileDocument, str]],
    size: int,
    on_progress: OnProgress[int] = lambda _: None,
    seed: int = 0,
    scope: Scope | None = None,
) -> Sampled:
    """Sample ``size`` documents in their order (Vitter, "Random sampling with a reservoir", 1985)."""
    random, reservoir, total = Random(seed), list[tuple[int, FileDocument, str]](), 0
    for each, text in found:
        place = total if total < size else random.randint(0, total)
        if total < size:
            reservoir.append((total, each, text))
        elif place < size:
            reservoir[place] = (total, each, text)
        total += 1
        on_progress(total)
    chosen = [(each, text) for _, each, text in sorted(reservoir, key=lambda kept: kept[0])]
    documents = [(each.id, text) for each, text in chosen]
    return Sampled(documents, total, _in_scope(scope, [dict(each.document) for each, _ in chosen]))


def sample_of_index(
    engine: Engine,
    index: str,
    fields: Sequence[str],
    filter: Json | None,
    size: int,
    on_reject: OnReject,
    scope: Scope | None = None,
) -> Sampled:
    """Sample ``size`` documents with a text in the fields; they need no fingerprints."""
    wanted = filter or _ALL
    engine.perform(Refresh(index))
    hits = run(sampled(index, size, [*fields, *_paths(scope)], wanted), engine)
    chosen = list(with_texts(hits, fields, on_reject))
    in_scope = _in_scope(scope, [hit.get("_source") or {} for hit, _ in chosen])
    return Sampled([(hit["_id"], text) for hit, text in chosen], engine.perform(Count(index, wanted)), in_scope)


def _paths(scope: Scope | None) -> tuple[str, ...]:
    return scope.paths if scope else ()


def _in_scope(scope: Scope | None, documents: Sequence[Json]) -> InScope | None:
    if scope is None:
        return None
    values = [scope.values_of(document) for document in documents]

    def in_scope(first: Integers, second: Integers) -> Flags:
        pairs = zip(first.tolist(), second.tolist(), strict=True)
        return np.array([scope.in_scope(values[a], values[b]) for a, b in pairs], dtype=np.bool_)

    return in_scope
