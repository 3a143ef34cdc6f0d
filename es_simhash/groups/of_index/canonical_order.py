"""Ranking documents by the rule that chooses the canonical one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from es_simhash._core.json_paths import Json
from es_simhash._core.stages import counted_each
from es_simhash.errors import InputError
from es_simhash.groups.canonical import Canonical
from es_simhash.groups.of_index.document_refs import DocumentRefs
from es_simhash.groups.of_index.document_texts import DocumentReader
from es_simhash.groups.union_find import Groups

_READ_AT_ONCE = 1_000


class Ranking:
    """Sorts documents; the fields that the rule needs are read once."""

    def __init__(self, canonical: Canonical, refs: DocumentRefs, reader: DocumentReader) -> None:
        self._canonical = canonical
        self._refs = refs
        self._reader = reader
        self._ranks: dict[int, Any] = {}

    def read(self, groups: Groups) -> None:
        """Read the fields of all members that the rule needs."""
        if not self._canonical.fields:
            return
        total = int(groups.sizes.sum())
        members = counted_each("Ranking", (position for each in groups for position in each), total)
        while positions := list(islice(members, _READ_AT_ONCE)):
            hits = self._reader.read(self._refs.take(positions), self._canonical.fields)
            for position, hit in zip(positions, hits, strict=True):
                self._ranks[position] = self._canonical.rank(_source(hit))

    def ordered(self, positions: Sequence[int], keys: Mapping[int, tuple[str, str]]) -> list[int]:
        """Sort documents by the rule; ids, then indices, break ties."""
        order = {position: (self._ranks.get(position, 0), *keys[position][::-1]) for position in positions}
        try:
            return sorted(positions, key=order.__getitem__)
        except TypeError as error:
            raise InputError(
                f"Documents cannot be ordered by {self._canonical.name!r}: {error}. Let it give comparable values."
            ) from error


def _source(hit: Json | None) -> Json:
    return {} if hit is None else hit.get("_source") or {}
