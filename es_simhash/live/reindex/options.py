"""The options of a reindexing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from es_simhash.errors import InputError
from es_simhash.live.sweep.options import RunOptions


@dataclass(frozen=True)
class ReindexOptions(RunOptions):
    """The options of a reindexing, in addition to those of `RunOptions`.

    In the end, each of ``aliases`` is moved from the source to the destination, or created. ``fast`` turns refreshes
    and replicas of the destination off during the run. ``sample`` documents are compared in the end.

    >>> index.reindex("articles-2", sample=10).progress.written
    3
    """

    aliases: Sequence[str] = ()
    fast: bool = False
    sample: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sample < 0:
            raise InputError(f"{self.sample} documents cannot be compared. Choose 0 or more.")
