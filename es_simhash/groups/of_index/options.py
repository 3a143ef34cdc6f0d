"""The options of grouping the documents of an index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from es_simhash._core.environment import MEMORY, PATIENCE
from es_simhash._core.json_paths import Json
from es_simhash.errors import InputError
from es_simhash.groups.canonical import FIRST, Canonical
from es_simhash.live.sweep.options import check_shard
from es_simhash.scheme.query import By, Criteria
from es_simhash.scheme.scope import Scope
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.verification import Level
from es_simhash.scheme.verdict.verifier import check_estimate, verification_of

_LEAST_MEMORY = 16 << 20


@dataclass(frozen=True)
class GroupOptions:
    """The options of grouping: which documents, and what makes a group.

    ``by``, ``distance``, ``similarity`` and ``numbers`` define near-duplicates, as in a search. ``filter``, a query,
    restricts the documents. A group has all documents that links connect, however far apart its ends are. Its documents
    come in the order of ``canonical`` (see `Canonical`): each is a duplicate of the first before it that stands for
    itself and is near it, or stands for itself.

    Texts are read, and decide as the scheme's ``verification`` says. Without it, or with ``estimate``, the fields do:
    their similarities are estimates. Matches of the regular expressions in ``strip`` are removed from texts. If
    more than ``max_bucket`` documents share a key, only this many are compared.

    With ``incremental``, only documents added or changed since groups were last written with the same options are
    compared with the others, and join the existing groups. If few are new, only the groups that they may change are
    read. Whether they are written with ``singles`` must then be as it was, or said here as well.

    Only pairs in the ``scope`` count, and in that of the index; a document without one of its values is in no group.

    The job takes about ``memory`` bytes, and temporary files of ``directory`` beyond that. The directory ``state``
    keeps what was read and linked until the groups are made, so that a run that was stopped goes on. The job waits up
    to ``patience`` seconds for an engine that is away or overloaded.

    With a ``shard`` (its number from 0, and their count) only this part of the documents is read, into ``state``; the
    result has no groups. When the files of all shards are in one directory, a job with that ``state`` makes them.
    """

    by: By | None = None
    distance: int | None = None
    similarity: float | Level | None = None
    numbers: float | None = None
    filter: Json | None = None
    canonical: Canonical = FIRST
    estimate: bool = False
    strip: Sequence[str] = ()
    max_bucket: int | None = None
    incremental: bool = False
    singles: bool | None = None
    memory: int = MEMORY
    directory: str | Path | None = None
    state: str | Path | None = None
    shard: tuple[int, int] | None = None
    patience: float = PATIENCE
    scope: Scope | None = None

    def __post_init__(self) -> None:
        if self.max_bucket is not None and self.max_bucket < 2:
            raise InputError(f"{self.max_bucket} documents of a key make no pair. Compare 2 or more.")
        if self.estimate and self.strip:
            raise InputError("Estimates cannot leave parts of texts out. Let texts decide.")
        if self.estimate:
            check_estimate(self.numbers)
        if self.shard:
            check_shard(self.shard)
            if self.state is None or self.incremental:
                raise InputError(
                    "A shard is read whole, into files. Name a directory for them, and read all documents."
                )
        if self.memory < _LEAST_MEMORY:
            raise InputError(f"{self.memory:,} bytes of memory are too few. Allow at least {_LEAST_MEMORY:,}.")

    def criteria(self, settings: Settings) -> Criteria:
        """Return the criteria for near-duplicates under a scheme."""
        verification = verification_of(
            settings, estimate=self.estimate, numbers=self.numbers, needs_texts=bool(self.strip)
        )
        return Criteria.of(settings, self.by, self.distance, self.similarity, verification, self.numbers)
