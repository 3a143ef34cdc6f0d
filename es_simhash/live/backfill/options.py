"""The options of a backfill, and the queries that they ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from es_simhash._core.arguments import check_shard
from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.errors import InputError
from es_simhash.live.sweep.options import UpdateOptions
from es_simhash.live.sweep.reading import changed_after
from es_simhash.scheme.own_fields import DEFERRED


@dataclass(frozen=True)
class BackfillOptions(UpdateOptions):
    """The options of a backfill, in addition to those of `UpdateOptions`.

    ``filter``, a query, restricts the documents. ``refresh_stale`` also reads documents that have a fingerprint, and
    replaces fingerprints of older texts. ``shard`` (its number from 0, and their count) is one machine's part.

    In the end a run over everything learns how rare features are, if that was never done.

    ``without_refresh`` turns refreshes of the index off, and back on in the end.

    >>> index.backfill(refresh_stale=True, filter={"range": {"published": {"gte": "2026-11-02"}}}).current
    2
    """

    filter: Json | None = None
    refresh_stale: bool = False
    shard: tuple[int, int] = (0, 1)
    without_refresh: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_shard(self.shard)
        _, count = self.shard
        if count > 1 and self.settings:
            raise InputError(
                "One of several machines cannot know when the last has finished and settings must be set back. "
                "Change refresh_interval yourself, before and after."
            )

    @property
    def settings(self) -> Json:
        """The settings of the index while the backfill runs."""
        return {"index.refresh_interval": "-1"} if self.without_refresh else {}

    @property
    def machine(self) -> tuple[int, int]:
        """The number of this machine, from 0, and how many share the job."""
        return self.shard

    @property
    def filters(self) -> list[Json]:
        """The queries that restrict the documents."""
        return [self.filter] if self.filter else []


def due_query(documents: Documents, options: BackfillOptions) -> Json:
    """Return the query for documents without a fingerprint of the scheme; for all of them with ``refresh_stale``."""
    if options.refresh_stale:
        return {"bool": {"filter": options.filters}} if options.filters else {"match_all": {}}
    scheme = {"term": {f"{documents.prefix}.scheme": documents.scheme.id}}
    deferred = {"term": {f"{documents.prefix}.status": DEFERRED}}
    done = {"bool": {"filter": [scheme], "must_not": [deferred]}}
    return {"bool": {"filter": options.filters, "must_not": [done]}}


def changed_query(options: BackfillOptions, changes: Sequence[int]) -> Json:
    """Return the query for documents that anybody changed after these changes of shards."""
    return {"bool": {"filter": [*options.filters, changed_after(changes)]}}
