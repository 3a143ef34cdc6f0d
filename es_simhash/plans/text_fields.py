"""Whether documents have text in the source fields, or a field name is misspelt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from es_simhash._core.json_paths import Json, values_at
from es_simhash.documents.documents import Documents
from es_simhash.errors import MappingError
from es_simhash.plans.derived_fields import Derived, derived
from es_simhash.plans.operation_retry import attempt
from es_simhash.plans.operations import Plan, Search
from es_simhash.plans.reply_size import FIRST_DOCUMENTS, sampled
from es_simhash.scheme.mapping import entries

# A few documents nearly always show all fields; for a field that none of them has, many are read.
_FEW = FIRST_DOCUMENTS
_MANY = 1000


def fields_in_no_document(index: str, paths: Sequence[str]) -> Plan[list[str]]:
    """Return the fields in which no document of an index has text.

    This is certain where the engine knows which documents have a field; else a random sample decides.
    """
    missing = _in_none((yield Search(index, _body(paths, {"match_all": {}})))["hits"]["hits"], paths)
    for path in missing.copy():
        if not _in_none((yield from _having(index, path)), [path]):
            missing.remove(path)
    return _in_none((yield from sampled(index, _MANY, missing, {"match_all": {}})), missing) if missing else []


def derived_fields(mapping: Json, paths: Sequence[str], missing: Sequence[str]) -> dict[str, Derived]:
    """Return the derived fields, given the fields ``missing`` from all documents."""
    found = {path: there for path in paths if (there := derived(mapping, path))}
    return {path: there for path, there in found.items() if there.always or path in missing}


def check_text_fields(mappings: Mapping[str, Json], documents: Documents) -> Plan[None]:
    """Raise a `MappingError` if texts are to come from a derived field.

    An index that already names these fields is left to the doctor.
    """
    for index, there in mappings.items():
        if has_these_fields(index, there, documents):
            continue
        doubtful = [path for path in documents.fields if (kind := derived(there, path)) and not kind.always]
        missing = (yield from fields_in_no_document(index, doubtful)) if doubtful else []
        for error in derived_errors(index, derived_fields(there, documents.fields, missing)):
            raise error


def has_these_fields(index: str, mapping: Json, documents: Documents) -> bool:
    """Return whether an index says that its texts come from these fields."""
    entry = entries({index: mapping}, documents.prefix)[index]
    return entry is not None and entry.get("fields") == list(documents.fields)


def no_text(index: str, paths: Sequence[str]) -> str:
    """Return the start of the message about an index without text in any of the fields."""
    return f"No document of the index {index!r} has text in {' or '.join(paths)}"


def derived_errors(index: str, found: Mapping[str, Derived]) -> Iterator[MappingError]:
    """Yield, for each derived field, an error that names the field to use instead."""
    for path, there in found.items():
        yield MappingError(
            f"The source field {path!r} of the index {index!r} is {there.what}, so no document has a value under that "
            f"name. {there.remedy}"
        )


def _having(index: str, path: str) -> Plan[list[Json]]:
    """Return the first documents that have a field; an empty list if the engine cannot search for them."""
    # OpenSearch, say, refuses this for fields that it derives.
    reply = yield from attempt(Search(index, _body([path], {"exists": {"field": path}})))
    return reply["hits"]["hits"] if reply else []


def _body(paths: Sequence[str], query: Json) -> Json:
    return {"size": _FEW, "_source": list(paths), "query": query}


def _in_none(hits: Sequence[Json], paths: Sequence[str]) -> list[str]:
    """Return the paths at which no hit has text."""
    return [path for path in paths if not any(_has_text(hit.get("_source") or {}, path) for hit in hits)]


def _has_text(source: Mapping[str, Any], path: str) -> bool:
    return any(value.strip() if isinstance(value, str) else value is not None for value in values_at(source, path))
