"""Dynamic mapping: new fields of documents are added to the mapping as in Elasticsearch."""

from __future__ import annotations

from typing import Any

from es_simhash._core.dates import looks_like_a_date
from es_simhash._core.json_codec import Json
from es_simhash.engines.embedded.mapping.document_terms import Leaf, RejectedError
from es_simhash.engines.embedded.mapping.index_mapping import Field, IndexMapping
from es_simhash.errors import MappingError

_STRING: Json = {"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}}


def with_new_fields(mapping: IndexMapping, document_leaves: list[Leaf]) -> IndexMapping:
    """Return the mapping with the new fields of a document; the same mapping if there are none."""
    new: dict[str, Json] = {}
    for path, value in document_leaves:
        if path in mapping.fields or path in mapping.objects or path in new:
            continue
        if _is_to_be_mapped(mapping, path):
            new[path] = _definition(value, detect_dates=mapping.body.get("date_detection", True))
    if not new:
        return mapping
    try:
        return mapping.merged({"properties": new})
    except MappingError as error:
        raise RejectedError(400, str(error)) from None


def _is_to_be_mapped(mapping: IndexMapping, path: str) -> bool:
    owner = mapping.owner(path)
    if isinstance(owner, Field):
        if owner.opaque:
            return False
        raise RejectedError(400, f"The field {owner.path!r} is of type {owner.kind}, but has an object. Give a value.")
    if owner == "strict":
        raise RejectedError(
            400, f"The field {path!r} is not in the mapping, which is strict. Put it into the mapping, or leave it out."
        )
    return owner == "true"


def _definition(value: Any, detect_dates: bool) -> Json:
    if isinstance(value, bool):
        return {"type": "boolean"}
    if isinstance(value, int):
        return {"type": "long"}
    if isinstance(value, float):
        return {"type": "float"}
    if detect_dates and looks_like_a_date(value):
        return {"type": "date"}
    return _STRING
