"""The keywords of functions, by the values that they make; see `tools/sync_index.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import timedelta
    from pathlib import Path

    from es_simhash._core.json_codec import Json
    from es_simhash.documents.decisions import Decision
    from es_simhash.groups.canonical import Canonical
    from es_simhash.scheme.query import By
    from es_simhash.scheme.rarity import Rarity
    from es_simhash.scheme.scope import Scope
    from es_simhash.scheme.verification import Level


class GroupKeywords(TypedDict, total=False):
    """The fields of `GroupOptions`."""

    by: By | None
    distance: int | None
    similarity: float | Level | None
    numbers: float | None
    canonical: Canonical | str
    estimate: bool
    rarity: Rarity | Json | None
    decisions: str | Path | Sequence[Decision]
    max_bucket: int | None
    scope: Scope | None
    within: str | Sequence[str]
    across: str | Sequence[str]
    window: timedelta | str | None
    date: str | None
    memory: int
    directory: str | Path | None
    threads: int | None
    state: str | Path | None
    filter: Json | None
    strip: Sequence[str]
    copy: str | Sequence[str]
    incremental: bool
    singles: bool | None
    shard: tuple[int, int] | None
    per: str | None
    years: str | None
    patience: float


class WriteKeywords(TypedDict, total=False):
    """The fields of `WriteOptions`."""

    singles: bool
    max_rate: float | None
    patience: float
    accept: Collection[str]
