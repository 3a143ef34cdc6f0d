"""The labelled documents of ``evaluate`` and ``tune``, read from files or from an index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from es_simhash._core.json_codec import Json
from es_simhash._core.prefetch import BRIEFLY, in_a_moment
from es_simhash._core.stages import OnProgress
from es_simhash.cli.jobs.loaded_ids import LoadedIds
from es_simhash.documents.files import FileDocument
from es_simhash.documents.rejected import OnReject
from es_simhash.documents.sources import text_of
from es_simhash.engines.base import Engine, run
from es_simhash.errors import DocumentError, InputError
from es_simhash.index import Index
from es_simhash.live.sweep.reading import DocumentRef, Reading
from es_simhash.plans.open_index import noted_rarity
from es_simhash.plans.operations import GetMappings, Refresh
from es_simhash.quality.predictions import StoredDocuments
from es_simhash.scheme.scope import Scope
from es_simhash.scheme.verdict.rarity import Rarity


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
    index: Index,
    documents: StoredDocuments,
    filter: Json | None,
    on_reject: OnReject,
    on_progress: OnProgress[int],
    patience: float,
) -> Rarity | None:
    """Gather the documents of an index that have fingerprints of its scheme and match the filter.

    Return the table of rarity that the index keeps.

    If several indices behind the name have the same id, the first document counts.
    """
    learnt = noted_rarity(index.engine.perform(GetMappings(index.name)), index.documents)
    hits = _hits(index, filter, documents.scope, patience)
    for hit, text in with_texts(hits, index.documents.fields, on_reject):
        documents.add(hit["_id"], text, hit.get("_source") or {})
        on_progress(len(documents))
    return learnt.rarity if learnt else None


def with_texts(hits: Iterable[Json], fields: Sequence[str], on_reject: OnReject) -> Iterator[tuple[Json, str]]:
    """Yield hits with the texts in these fields; one whose text cannot be read goes to ``on_reject``."""
    for hit in hits:
        try:
            yield hit, text_of(hit.get("_source") or {}, fields)
        except DocumentError as error:
            on_reject(DocumentRef.of(hit).rejected(error.problem))


def _hits(index: Index, filter: Json | None, scope: Scope | None, patience: float) -> Iterator[Json]:
    documents = index.documents
    scheme: Json = {"term": {f"{documents.prefix}.scheme": documents.scheme.id}}
    wanted: Json = {"bool": {"filter": [scheme, *([filter] if filter else [])]}}
    paths = scope.paths if scope else ()
    return hits_of(index.engine, index.name, wanted, [*documents.fields, *paths], patience)


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
