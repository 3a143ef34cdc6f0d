"""How the documents of an index are grouped."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from es_simhash.errors import InputError
from es_simhash.fields import Json
from es_simhash.query import By

Linkage: TypeAlias = Literal["single", "star"]

_LEAST_MEMORY = 16 << 20


@dataclass(frozen=True)
class GroupOptions:
    """What is grouped, and what a group is.

    ``by``, ``distance`` and ``similarity`` say what is near, as in a search. ``query`` restricts it to documents that a
    query finds. With the linkage "single" a group is what links connect, however far its ends are from each other; with
    "star" every member is near the one that stands for the group, and who is not may have a group of their own.

    About ``memory`` bytes are taken; what is more lies in temporary files of ``directory``. An engine that is away or
    overloaded is waited for ``patience`` seconds.
    """

    by: By | None = None
    distance: int | None = None
    similarity: float | None = None
    query: Json | None = None
    linkage: Linkage = "star"
    memory: int = 256 << 20
    directory: str | Path | None = None
    patience: float = 600.0

    def __post_init__(self) -> None:
        if self.linkage not in get_args(Linkage):
            raise InputError(f"There is no linkage {self.linkage!r}. Choose from: {', '.join(get_args(Linkage))}.")
        if self.memory < _LEAST_MEMORY:
            raise InputError(f"{self.memory:,} bytes of memory are too few. Allow at least {_LEAST_MEMORY:,}.")
