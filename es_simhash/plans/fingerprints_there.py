"""Whether an index has fingerprints at all: among documents that have none, nothing is found."""

from __future__ import annotations

from es_simhash._core.humanize import counted
from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.errors import IndexStateError
from es_simhash.plans.operations import Count, Plan

_ALL: Json = {"match_all": {}}


def check_fingerprints(index: str, documents: Documents) -> Plan[None]:
    """Raise if the index has documents, and none of them a fingerprint of the scheme."""
    if (yield Count(index, {"term": {f"{documents.prefix}.scheme": documents.scheme.id}})):
        return
    if count := (yield Count(index, _ALL)):
        raise without_fingerprints(index, documents, count)


def without_fingerprints(index: str, documents: Documents, count: int) -> IndexStateError:
    """Return the error about an index whose documents have no fingerprints."""
    return IndexStateError(
        f"None of {counted(count, 'document')} of {index!r} has a whole fingerprint, so nothing can be found among "
        f"them. Make the fingerprints first: es-simhash backfill {index}. If that was done, look whether the documents "
        f"have their texts in {', '.join(documents.fields)}."
    )
