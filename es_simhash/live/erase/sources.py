"""The texts whose copies are to be erased, read by the ids of documents or given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.errors import DocumentError, InputError, MissingError, TextError
from es_simhash.live.erase.copies import EraseOptions, Source, Tenants, has_words
from es_simhash.live.sweep.reading import DocumentRef
from es_simhash.plans.open_index import IndicesBehind
from es_simhash.plans.operation_retry import attempt, retry, retry_each
from es_simhash.plans.operations import Count, Plan, Search
from es_simhash.plans.reply_size import with_source
from es_simhash.plans.text_fields import fields_in_no_document, no_text
from es_simhash.scheme.scheme import Scheme

_AT_ONCE, _MOST = 100, 10_000


def read_sources(
    index: str, behind: IndicesBehind, ids: Iterable[str], texts: Iterable[str], options: EraseOptions
) -> Plan[tuple[Source, ...]]:
    """Return the texts that are given, and those of all documents with these ids, in whichever index they are."""
    ids, texts = ([each] if isinstance(each, str) else list(dict.fromkeys(each)) for each in (ids, texts))
    if not ids and not texts:
        raise InputError("Nothing was named to erase. Give the id of a document, or a text.")
    tenants, documents = Tenants.of(behind), behind.documents
    tenants.check_given(options, texts)
    given = dict(options.scope_values or {})
    sources = [Source(f"text {number}", text, given) for number, text in enumerate(texts, 1)]
    paths = sorted({path for own in documents.values() for path in own.fields} | set(tenants.paths))
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        body = {"query": {"ids": {"values": some}}, "size": _MOST, "_source": False}
        there: list[Json] = (yield from retry(Search(index, body), options.patience))["hits"]["hits"]
        hits = yield from retry_each(with_source(index, there, paths), options.patience)
        for id_ in some:
            own = [hit for hit in hits if hit["_id"] == id_]
            if not own:
                raise MissingError(
                    f"The index {index!r} has no document {id_!r}. If it is deleted already, give its text."
                )
            sources += [_source_of(documents, hit) for hit in own]
    for source in sources:
        _check_text(next(iter(documents.values())).scheme, source)
    return tuple(sources)


def without_words(behind: IndicesBehind) -> Plan[list[str]]:
    """Name the indices without texts in the source fields, and fields with texts whose words cannot be searched for."""
    found = []
    for index, documents in behind.documents.items():
        if not (yield from attempt(Count(index, {"match_all": {}}))):
            continue
        missing = (yield from attempt(fields_in_no_document(index, documents.fields))) or []
        if len(missing) == len(documents.fields):
            found.append(no_text(index, documents.fields))
        for path in documents.fields:
            if path not in missing and not has_words(behind.mappings[index], path):
                found.append(f"the words of {path} are not indexed as text in {index!r}: scan")
    return found


def _source_of(documents: Mapping[str, Documents], hit: Json) -> Source:
    ref = DocumentRef.of(hit)
    try:
        text = documents[ref.index].text_of(hit.get("_source") or {})
    except DocumentError as error:
        raise DocumentError(f"Document {ref.id!r} {error.problem}") from None
    return Source(ref.id, text, hit.get("_source") or {}, (ref.index, ref.id, ref.routing))


def _check_text(scheme: Scheme, source: Source) -> None:
    if scheme.fingerprint(source.text).status == "empty":
        what = f"Document {source.name!r}" if source.place else f"The {source.name}"
        raise TextError(f"{what} has no letters or digits, so nothing is its copy. Delete it by its id.")
