"""Hits of a reply to a search: a list of objects, or a sequence that makes each object as it is asked for.

The compiled kernels read replies so (`es_simhash_native.SearchHits`): of most hits, only a few values are wanted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from es_simhash._core.json_paths import Json, splits
from es_simhash._core.native import native

if TYPE_CHECKING:
    from es_simhash_native import SearchHits

# The index, the id and the routing of a document.
Name: TypeAlias = tuple[str, str, str | None]


def are_made_when_asked_for(hits: Any) -> bool:
    """Return whether these are hits as the kernels read them."""
    kernels = native()
    return kernels is not None and type(hits) is kernels.SearchHits


def names_of(hits: Sequence[Json]) -> list[Name]:
    """Return what names the document of each hit."""
    if isinstance(hits, list):
        return [(hit["_index"], hit["_id"], hit.get("_routing")) for hit in hits]
    return cast("SearchHits", hits).names()


def values_of(hits: Sequence[Json], name: str) -> list[Any]:
    """Return what the source of each hit has under a name, None where it has nothing."""
    if isinstance(hits, list):
        return [(hit.get("_source") or {}).get(name) for hit in hits]
    return cast("SearchHits", hits).values(name)


def parts_of(hits: Sequence[Json], paths: Iterable[str]) -> list[Json]:
    """Return the source of each hit, or of it at least what is at these paths."""
    if isinstance(hits, list):
        return [hit.get("_source") or {} for hit in hits]
    names = sorted({name for path in paths for name, _ in splits(path)})
    columns = [cast("SearchHits", hits).values(name) for name in names]
    return [
        {name: value for name, value in zip(names, row, strict=True) if value is not None}
        for row in zip(*columns, strict=True)
    ]
