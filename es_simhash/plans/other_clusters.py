"""Indices of other clusters (``cluster:index``), which can be searched from here, and neither described nor changed."""

from __future__ import annotations

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.errors import IndexStateError, MappingError, SchemeMismatchError
from es_simhash.plans.operations import Count, GetMappings, Plan, Search, is_remote

_IDS = 3
_ONLY_SEARCHED = "can be searched from this cluster, and neither described nor changed"


def here(index: str) -> str:
    """Return the part of a name that is of this cluster; empty if there is none."""
    return ",".join(each for each in index.split(",") if not is_remote(each))


def elsewhere(index: str) -> list[str]:
    """Return the names of a list that are of other clusters."""
    return [each for each in index.split(",") if is_remote(each)]


def readable_mappings(index: str) -> Plan[dict[str, Json]]:
    """Read the mappings behind a name, as far as this cluster has them."""
    own = here(index)
    return (yield GetMappings(own)) if own else {}


def unreadable(index: str) -> MappingError:
    """Return the error for an index whose scheme nothing shows."""
    return MappingError(
        f"{index!r} {_ONLY_SEARCHED}. To search it, name the fields with its texts, and its scheme unless it is the "
        f"default; or name an index of this cluster with the same scheme beside it: 'articles,{index}'."
    )


def check_fingerprints(index: str, documents: Documents) -> Plan[None]:
    """Raise if an index of another cluster has documents, and fingerprints of other schemes only."""
    path = f"{documents.prefix}.scheme"
    if (yield Count(index, {"term": {path: documents.scheme.id}})):
        return
    found = yield Search(index, {"size": _IDS, "query": {"exists": {"field": path}}, "_source": [path]})
    ids = {hit["_source"].get(documents.prefix, {}).get("scheme") for hit in found["hits"]["hits"]}
    if ids - {documents.scheme.id}:
        raise SchemeMismatchError(
            f"The index {index!r} holds fingerprints of the scheme {', '.join(sorted(map(str, ids)))}; that of the "
            f"search is {documents.scheme.id}. Give the scheme that its documents were written with."
        )


def not_from_here(index: str, doing: str) -> IndexStateError:
    """Return the error for what cannot be done across clusters."""
    names = ", ".join(map(repr, elsewhere(index)))
    return IndexStateError(f"{doing}: {names} {_ONLY_SEARCHED}. Connect to the cluster that has it (--url) for that.")
