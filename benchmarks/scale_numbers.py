"""Measured numbers and simulated tables, from which docs/scale.md is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from benchmarks import scale_model as model
from benchmarks.scale_measured import Measured
from benchmarks.scale_model import SIZES, KeyBytes, Similarities
from benchmarks.scale_simulation import SIMILARITIES, similarities_of
from benchmarks.scale_words import prose
from benchmarks.tables import Table
from es_simhash.scheme.settings import SimHash
from es_simhash.sketches.bands import Bands
from es_simhash.sketches.tradeoffs import block_candidates

SIMHASH = SimHash()
# Acceptable numbers of false candidates per query, by bands and by bits.
MOST, MOST_BY_BITS = 1_000, 100


@dataclass(frozen=True)
class Numbers:
    """Measured numbers, and simulated tables by their titles."""

    measured: Measured
    simulated: Mapping[str, Table]

    @cached_property
    def similarities(self) -> Similarities:
        """Similarities of unrelated texts."""
        return similarities_of(self.simulated[SIMILARITIES])

    @cached_property
    def key_bytes(self) -> KeyBytes:
        """Size of a document's fields."""
        return KeyBytes.of(self.measured)

    def false_share(self, bands: Bands) -> float:
        """Return the share of unrelated texts that are candidates of a query."""
        return model.false_share(bands, self.similarities)

    @property
    def document_bytes(self) -> float:
        """Size of a document with the default fields."""
        return self.measured.plain_bytes + self.measured.default_bytes

    @cached_property
    def largest(self) -> Bands:
        """Layout for the largest corpus and the similarity .8."""
        found = model.smallest(0.8, self.is_searched(SIZES[-1]), self.key_bytes)
        assert found
        return found

    def is_searched(self, documents: int) -> Callable[[Bands], bool]:
        """Return whether bands have few enough false candidates among ``documents``."""
        return lambda bands: documents * self.false_share(bands) <= MOST


def by_bits(distance: int, blocks: int = SIMHASH.blocks) -> float:
    """Return the share of random documents that are candidates within ``distance`` of 64 bits."""
    return block_candidates(SIMHASH.bits, blocks, blocks - distance, 1)


def text(*parts: str | Table) -> str:
    """Join tables and paragraphs to a section of Markdown."""
    return "\n".join(part.markdown() if isinstance(part, Table) else prose(part) for part in parts)


def noted(title: str, columns: Sequence[str], note: str) -> Table:
    """Make an empty table with a wrapped note."""
    return Table(title, columns, prose(note).strip())
