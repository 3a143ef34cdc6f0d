"""The options of erasing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from es_simhash._core.environment import PATIENCE
from es_simhash.errors import InputError


@dataclass(frozen=True)
class EraseOptions:
    """What a copy is, and how copies are found.

    - ``similarity``: the minimum Jaccard similarity of a near copy.
    - ``containment``: the minimum share of one text's words in passages that the other has.
    - ``keep_original``: the documents whose ids are given stay; only their copies are erased.
    - ``scope_values``: the values of texts that are given in the fields that the index keeps apart.
    - ``scan``: compare every document of the index, beside those that searches find.
    - ``patience``: seconds to wait for an engine that is away or overloaded.
    """

    JSON = ("similarity", "containment", "keep_original", "scan")

    similarity: float = 0.5
    containment: float = 0.9
    keep_original: bool = False
    scope_values: Mapping[str, Any] | None = None
    scan: bool = False
    patience: float = PATIENCE

    def __post_init__(self) -> None:
        for name in ("similarity", "containment"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
                raise InputError(f"The {name} of a copy cannot be {value!r}. Choose a share above 0, up to 1.")
