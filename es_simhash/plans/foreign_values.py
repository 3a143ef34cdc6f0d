"""Foreign values: data of others where our fields belong, which we neither overwrite nor remove.

Queries do not find unmapped values, so the documents themselves are read: a sample before fields are added to an index,
and every document before it is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.errors import MappingError
from es_simhash.plans.operation_retry import attempt
from es_simhash.plans.operations import Plan, Search
from es_simhash.plans.reply_size import with_source
from es_simhash.scheme.json_form import is_identity
from es_simhash.scheme.own_fields import DEFERRED

REMEDY = "Name another object with --prefix (prefix=…), or take that out of the documents yourself."
_SAMPLE = 100


def foreign_in(documents: Documents, source: Json) -> str | None:
    """Describe what a document has instead of our fields, to follow its name in a message; None if nothing is foreign.

    Other names in the object beside ours do no harm.
    """
    found = _found(documents.prefix, documents.all_names, source)
    return found and f"has {found} where the fields belong, in the object {documents.prefix!r}"


def _found(prefix: str, names: Sequence[str], source: Json) -> str | None:
    own = source.get(prefix)
    dotted = f"{prefix}."
    flat = []
    if dotted in "\n".join(source):  # a look at each name takes longer, and nearly no document has one
        flat = [name for name in source if name.startswith(dotted) and name.split(".")[1] in names]
    if flat:
        return f"fields with dots in their names, {', '.join(sorted(flat))},"
    if own is None or own == []:
        return None
    if not isinstance(own, dict):
        return f"a value of type {type(own).__name__}"
    if _is_ours(own):
        return None
    taken = sorted(name for name in names if own.get(name) is not None)
    return f"{', '.join(taken)} of another program" if taken else None


def _is_ours(own: dict[str, Any]) -> bool:
    """Return whether an object holds the fields of a fingerprint, whatever its scheme, or of a deferred one."""
    scheme = own.get("scheme")
    return is_identity(scheme) or (scheme is None and own.get("status") == DEFERRED)


def look_for_foreign(index: str, documents: Documents) -> Plan[MappingError | None]:
    """Return the error for the first document of a sample with foreign values; None if there is none.

    Documents with any value in a mapped field come first.
    """
    prefix = documents.prefix
    ours = [{"term": {f"{prefix}.scheme": documents.scheme.id}}, {"term": {f"{prefix}.status": DEFERRED}}]
    query = {"must": [{"match_all": {}}], "should": [{"exists": {"field": prefix}}], "must_not": ours}
    body = {"size": _SAMPLE, "_source": False, "query": {"bool": query}}
    # Refused where the index is closed, say, keeps no documents, or this login may not read it.
    for hit in (yield from attempt(_searched(index, body, prefix))) or ():
        if found := foreign_in(documents, hit.get("_source") or {}):
            return MappingError(f"Document {hit['_id']!r} of the index {index!r} {found}. {REMEDY}")
    return None


def _searched(index: str, body: Json, prefix: str) -> Plan[list[Json]]:
    return (yield from with_source(index, (yield Search(index, body))["hits"]["hits"], [prefix]))


def refuse_foreign(index: str, documents: Documents) -> Plan[None]:
    """Raise if a sample of the documents has foreign values."""
    if error := (yield from look_for_foreign(index, documents)):
        raise error
