"""What the page of scale is made of: numbers that were measured, and tables that were simulated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from benchmarks import scale_model as model
from benchmarks.scale_machines import DOCUMENTS, MACHINES, TABLES
from benchmarks.scale_measured import Measured
from benchmarks.scale_model import SIZES, KeyBytes, Similarities
from benchmarks.scale_simulation import (
    BANDS,
    BLOCKS,
    COMPARED,
    CROWDED,
    IN_VAIN,
    RECALL,
    SIMILARITIES,
    TEXTS,
    similarities_of,
)
from benchmarks.scale_words import prose
from benchmarks.tables import Table
from es_simhash.scheme.settings import SimHash
from es_simhash.sketches.bands import Bands
from es_simhash.sketches.tradeoffs import block_candidates

SIMHASH = SimHash()
# As many candidates in vain as one may want to fetch and compare for each query, by bands and by bits.
MOST, MOST_BY_BITS = 1_000, 100
_NOTES = {
    BLOCKS: "Simulated: random SimHashes. A copy has as many bits flipped as the search allows.",
    BANDS: "Simulated: keys of the default bands, of documents that have nothing in common.",
    RECALL: "Simulated: signatures whose values agree with the probability of the similarity.",
    IN_VAIN: f"Simulated: signatures of {TEXTS:,} of the benchmarks' texts by several hash functions. Candidates in "
    "vain of a query, for each million documents.",
    SIMILARITIES: f"Jaccard similarities of the character 5-grams of {COMPARED} of these texts: all pairs, by "
    "hundredths.",
    CROWDED: f"Simulated, from {TEXTS:,} texts of the benchmarks. *Found* are pairs of the similarity that share a key "
    "which is not crowded.",
    MACHINES: f"Simulated: {DOCUMENTS:,} documents with {TABLES} keys each; every machine has a range of them. The "
    "groups are the same with any number of machines.",
}


@dataclass(frozen=True)
class Numbers:
    """What a page is made of: measured numbers, and tables of simulated ones by their titles."""

    measured: Measured
    simulated: Mapping[str, Table]

    @cached_property
    def similarities(self) -> Similarities:
        """How similar unrelated texts are."""
        return similarities_of(self.simulated[SIMILARITIES])

    @cached_property
    def key_bytes(self) -> KeyBytes:
        """What a document's fields take."""
        return KeyBytes.of(self.measured)

    def in_vain(self, bands: Bands) -> float:
        """The share of such texts that are candidates of a query."""
        return model.in_vain(bands, self.similarities)

    @property
    def document_bytes(self) -> float:
        """A document with the default fields."""
        return self.measured.plain_bytes + self.measured.default_bytes

    @cached_property
    def largest(self) -> Bands:
        """The layout for the largest corpus and the similarity .8."""
        found = model.smallest(0.8, self.is_searched(SIZES[-1]), self.key_bytes)
        assert found
        return found

    def is_searched(self, documents: int) -> Callable[[Bands], bool]:
        """What bands must do: have few candidates in vain among so many documents."""
        return lambda bands: documents * self.in_vain(bands) <= MOST

    def table(self, title: str) -> Table:
        """A table of simulated numbers, with what they are."""
        found = self.simulated[title]
        return Table(title, found.columns, prose(_NOTES[title]).strip(), found.rows)


def by_bits(distance: int, blocks: int = SIMHASH.blocks) -> float:
    """The share of random documents that are candidates within so many of 64 bits."""
    return block_candidates(SIMHASH.bits, blocks, blocks - distance, 1)


def text(*parts: str | Table) -> str:
    """A section of Markdown."""
    return "\n".join(part.markdown() if isinstance(part, Table) else prose(part) for part in parts)


def noted(title: str, columns: Sequence[str], note: str) -> Table:
    """A table with a note in lines of an even width."""
    return Table(title, columns, prose(note).strip())
