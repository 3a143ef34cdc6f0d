"""Measured numbers and simulated tables, from which docs/scale.md is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from benchmarks.scale_measured import Measured
from benchmarks.scale_simulation import SIMILARITIES, similarities_of
from benchmarks.scale_words import prose
from benchmarks.tables import Table
from es_simhash.scheme.settings import SimHash
from es_simhash.sketches.bands import Bands
from es_simhash.sketches.key_plans import Similarities, false_share
from es_simhash.sketches.tradeoffs import block_candidates

SIMHASH = SimHash()


@dataclass(frozen=True)
class Numbers:
    """Measured numbers, and simulated and ``published`` tables by their titles."""

    measured: Measured
    simulated: Mapping[str, Table]
    published: Mapping[str, Table] = field(default_factory=dict)

    @cached_property
    def similarities(self) -> Similarities:
        """Similarities of unrelated texts."""
        return similarities_of(self.simulated[SIMILARITIES])

    def false_share(self, bands: Bands) -> float:
        """Return the share of unrelated texts that are candidates of a query."""
        return false_share(bands, self.similarities)

    @property
    def document_bytes(self) -> float:
        """Size of a document with the default fields."""
        return self.measured.plain_bytes + self.measured.default_bytes


def by_bits(distance: int, blocks: int = SIMHASH.blocks) -> float:
    """Return the share of random documents that are candidates within ``distance`` of 64 bits."""
    return block_candidates(SIMHASH.bits, blocks, blocks - distance, 1)


def text(*parts: str | Table) -> str:
    """Join tables and paragraphs to a section of Markdown."""
    return "\n".join(part.markdown() if isinstance(part, Table) else prose(part) for part in parts)


def noted(title: str, columns: Sequence[str], note: str) -> Table:
    """Make an empty table with a wrapped note."""
    return Table(title, columns, prose(note).strip())
