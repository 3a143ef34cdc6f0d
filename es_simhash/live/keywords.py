"""The keywords of functions, by the values that they make; see `tools/sync_index.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    from es_simhash._core.json_codec import Json


class RunKeywords(TypedDict, total=False):
    """The fields of `RunOptions`."""

    parallel: int
    max_rate: float | None
    patience: float


class UpdateKeywords(RunKeywords, total=False):
    """The fields of `UpdateOptions`."""

    accept: Collection[str]


class BackfillKeywords(UpdateKeywords, total=False):
    """The fields of `BackfillOptions`."""

    filter: Json | None
    refresh_stale: bool
    shard: tuple[int, int]
    without_refresh: bool


class ReindexKeywords(RunKeywords, total=False):
    """The fields of `ReindexOptions`."""

    aliases: Sequence[str]
    fast: bool
    sample: int


class EraseKeywords(TypedDict, total=False):
    """The fields of `EraseOptions`."""

    similarity: float
    containment: float
    keep_original: bool
    scope_values: Mapping[str, Any] | None
    scan: bool
    patience: float
