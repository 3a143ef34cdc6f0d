"""What a backfill has before it: indices, and the documents in them that are to be done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from es_simhash._core.json_paths import Json
from es_simhash.documents.documents import Documents
from es_simhash.errors import InputError
from es_simhash.live.backfill.begun import Begun
from es_simhash.live.doctor.finding import check_accepted
from es_simhash.live.sweep.changes import make_visible
from es_simhash.plans.operations import Count, Plan, Share
from es_simhash.scheme.own_fields import DEFERRED


@dataclass(frozen=True)
class RunOptions:
    """How a run goes about it.

    ``parallel`` slices are read and written side by side. At most ``max_rate`` documents a second are written. An
    engine that is away or overloaded is waited for ``patience`` seconds.
    """

    parallel: int = 1
    max_rate: float | None = None
    patience: float = 600.0

    def __post_init__(self) -> None:
        if self.parallel < 1:
            raise InputError(f"An index cannot be read in {self.parallel} slices. Choose 1 or more.")
        if self.max_rate is not None and self.max_rate <= 0:
            raise InputError(f"{self.max_rate} documents a second are none. Choose a rate above 0, or none.")

    @property
    def shares(self) -> list[Share | None]:
        """The share of each slice; None where one reads all."""
        return shares_of(self.parallel, 0, 1)

    @property
    def is_alone(self) -> bool:
        """Whether no other machine does a part of it."""
        return True


def shares_of(parallel: int, number: int, count: int) -> list[Share | None]:
    """The shares of the slices of one of ``count`` machines; None where one reads all."""
    if parallel * count == 1:
        return [None]
    return [Share(number * parallel + i, count * parallel) for i in range(parallel)]


@dataclass(frozen=True)
class UpdateOptions(RunOptions):
    """How a run that updates documents goes about it, beside what `RunOptions` say.

    ``accept`` has the codes of what the doctor finds that is no reason to stop (see `es_simhash.live.doctor.finding`).
    """

    accept: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_accepted(self.accept)


@dataclass(frozen=True)
class BackfillOptions(UpdateOptions):
    """How a backfill goes about it, beside what `UpdateOptions` say.

    ``filter``, a query, restricts the documents, and so does ``since``, to those whose date in a field is not before a
    moment: ``("published", "2026-11-01")``. ``refresh_stale`` also reads documents that have a fingerprint, and
    replaces those of older texts. ``shard`` (number from 0, and count) is the part of one of several machines.

    ``without_refresh`` and ``without_replicas`` do so meanwhile, and set that back in the end (see `tuning`).
    """

    filter: Json | None = None
    since: tuple[str, str] | None = None
    refresh_stale: bool = False
    shard: tuple[int, int] = (0, 1)
    without_refresh: bool = False
    without_replicas: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        number, count = self.shard
        if not 0 <= number < count:
            raise InputError(f"There is no shard {number + 1} of {count}. Choose one from 1 to {max(1, count)}.")
        if count > 1 and self.settings:
            raise InputError(
                "Of several machines, none can tell when the last has finished and settings must be set back. "
                "Change refresh_interval and number_of_replicas yourself, before and after."
            )

    @property
    def settings(self) -> Json:
        """The settings of the index for the time of the backfill."""
        settings = {"index.refresh_interval": "-1"} if self.without_refresh else {}
        return settings | ({"index.number_of_replicas": "0"} if self.without_replicas else {})

    @property
    def shares(self) -> list[Share | None]:
        """The share of each slice; None where one reads all."""
        return shares_of(self.parallel, *self.shard)

    @property
    def is_alone(self) -> bool:
        """Whether no other machine does a part of it."""
        return self.shard == (0, 1)

    @property
    def filters(self) -> list[Json]:
        """What the documents must be besides."""
        filters = [self.filter] if self.filter else []
        if self.since:
            field, moment = self.since
            filters.append({"range": {field: {"gte": moment}}})
        return filters


@dataclass(frozen=True)
class Part:
    """One concrete index: how many documents are to be looked at, of how many, and its safe changes so far by shard.

    ``begun`` is what it was like before runs that have not ended.
    """

    index: str
    due: int
    documents: int
    changes: list[int] | None
    begun: Begun | None = None


def due_query(documents: Documents, options: BackfillOptions) -> Json:
    """What is to be looked at: without a fingerprint of the scheme, or with ``refresh_stale`` all."""
    if options.refresh_stale:
        return _all_of(options.filters)
    scheme = {"term": {f"{documents.prefix}.scheme": documents.scheme.id}}
    deferred = {"term": {f"{documents.prefix}.status": DEFERRED}}
    done = {"bool": {"filter": [scheme], "must_not": [deferred]}}
    return {"bool": {"filter": options.filters, "must_not": [done]}}


def changed_query(options: BackfillOptions, changes: Sequence[int]) -> Json:
    """What was changed since these changes, by whomever."""
    return _all_of([*options.filters, {"range": {"_seq_no": {"gt": min(changes)}}}])


def _all_of(filters: list[Json]) -> Json:
    return {"bool": {"filter": filters}} if filters else {"match_all": {}}


def part_of(index: str, query: Json) -> Plan[Part]:
    """One concrete index, with how much a query finds in it."""
    # What was written a moment ago counts as well.
    changes = yield from make_visible(index, 0)
    due = yield Count(index, query)
    total = yield Count(index, {"match_all": {}})
    return Part(index, due, total, changes.safe if changes else None)
