"""How the documents of an index are grouped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from es_simhash._core.json_paths import Json
from es_simhash.errors import InputError
from es_simhash.groups.of_index.canonical import FIRST, Canonical
from es_simhash.groups.pairs.linkage import Linkage
from es_simhash.scheme.query import By, Criteria
from es_simhash.scheme.settings import Settings

Verify: TypeAlias = Literal["estimate", "doubtful", "exact"]

_LEAST_MEMORY = 16 << 20


@dataclass(frozen=True)
class GroupOptions:
    """What is grouped, and what a group is.

    ``by``, ``distance`` and ``similarity`` say what is near, as in a search. ``filter``, a query, restricts the
    documents. ``canonical`` says which document stands for its group (see `es_simhash.groups.of_index.canonical`).

    Links make groups. With the ``linkage`` "star" every member is near the one that stands for the group, and who is
    not may have a group of their own; with "complete" every member is near every other; with "single" a group is what
    links connect, however far its ends are from each other.

    Fields tell similarities by estimate; to ``verify`` them, the texts of pairs are read: of those in doubt, or of all
    ("exact"), which are then compared as the scheme's ``verification`` says. What the regular expressions of ``strip``
    find is left out of texts then, and features that more than the share ``common`` of documents have do not count. Of
    a key that more than ``max_bucket`` documents have, only so many are compared.

    With ``incremental`` only documents that came, or were changed, since groups were last written in this way are
    compared with the others; groups that are there are added to.

    About ``memory`` bytes are taken; what is more lies in temporary files of ``directory``. What is read is kept in the
    directory ``state`` until there are groups, so that a run which was stopped need not read it again. An engine that
    is away or overloaded is waited for ``patience`` seconds.
    """

    by: By | None = None
    distance: int | None = None
    similarity: float | None = None
    filter: Json | None = None
    linkage: Linkage = "star"
    canonical: Canonical = FIRST
    verify: Verify = "estimate"
    strip: Sequence[str] = ()
    common: float | None = None
    max_bucket: int | None = None
    incremental: bool = False
    memory: int = 256 << 20
    directory: str | Path | None = None
    state: str | Path | None = None
    patience: float = 600.0

    def __post_init__(self) -> None:
        for name, given, choices in (
            ("linkage", self.linkage, get_args(Linkage)),
            ("way to verify", self.verify, get_args(Verify)),
        ):
            if given not in choices:
                raise InputError(f"There is no {name} {given!r}. Choose from: {', '.join(choices)}.")
        if self.max_bucket is not None and self.max_bucket < 2:
            raise InputError(f"Of a key, {self.max_bucket} documents make no pair. Compare 2 or more.")
        if (self.strip or self.common is not None) and self.verify == "estimate":
            raise InputError("Estimates know nothing of what is left out of texts. Verify exactly.")
        if self.common is not None and not 0 < self.common < 1:
            raise InputError(f"{self.common} is no share of documents. Choose one between 0 and 1.")
        if self.memory < _LEAST_MEMORY:
            raise InputError(f"{self.memory:,} bytes of memory are too few. Allow at least {_LEAST_MEMORY:,}.")

    def criteria(self, settings: Settings) -> Criteria:
        """What is near under a scheme."""
        verification = settings.verification if self.verify == "exact" else None
        return Criteria.of(settings, self.by, self.distance, self.similarity, verification)
