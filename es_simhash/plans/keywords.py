"""The keywords of functions, by the values that they make; see `tools/sync_index.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from es_simhash.plans.find_options import Candidates, Relation
    from es_simhash.scheme.query import By, Filter
    from es_simhash.scheme.scheme import Functions, Scheme
    from es_simhash.scheme.scope import Scope
    from es_simhash.scheme.verification import Level
    from es_simhash.text.features import IdfTable


class KnownIndexKeywords(TypedDict, total=False):
    """The fields of `KnownIndex`."""

    scheme: Scheme | str | None
    fields: str | Sequence[str] | None
    prefix: str
    idf: IdfTable | None
    functions: Functions | None


class MatchKeywords(TypedDict, total=False):
    """The fields of `MatchOptions`."""

    by: By | None
    distance: int | None
    similarity: float | Level | None
    numbers: float | None
    estimate: bool
    scope: Scope | None


class FindKeywords(MatchKeywords, total=False):
    """The fields of `FindOptions`."""

    filter: Filter
    size: int
    source: str | Sequence[str] | bool
    idf: IdfTable | None
    candidates: Candidates
    max_candidates: int
    scope_values: Mapping[str, Any] | None
    relation: Relation | None


class SearchKeywords(MatchKeywords, total=False):
    """The fields of `SearchOptions`."""

    distinct: bool
    by_groups: bool
    with_texts: bool
    window: int
    paged: bool
    cursor: str | None
