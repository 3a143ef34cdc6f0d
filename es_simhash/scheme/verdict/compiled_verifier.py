"""The compiled way to the similarities of texts (see `es_simhash._core.native`), for the schemes that it knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers, distinct_numbers
from es_simhash._core.native import by_kernels
from es_simhash.scheme.compiled import reads_texts
from es_simhash.scheme.fingerprinting import stripped
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.measures import PairMeasures, Similarities
from es_simhash.scheme.verdict.rarity import KEY_BITS, Rarity
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.sketches.similarity import Vector
from es_simhash.sketches.weighted_sets import SetCache
from es_simhash.text.idf import IdfTable

if TYPE_CHECKING:
    import es_simhash_native


# A text, the others to compare it with (None: not known), and the similarity from which each counts.
Wanted: TypeAlias = tuple[str, Sequence["str | None"], Similarities]


@dataclass(frozen=True)
class CompiledVerifier:
    """Compares pairs of texts, whose features all fit in memory; None where numpy must, or say what is wrong."""

    kernels: es_simhash_native.Verifier
    settings: Settings

    def of_texts(self, texts: list[str], pairs: Integers, least: Vector | float) -> PairMeasures | None:
        """Measure each pair, given as two rows of positions."""
        wanted = np.broadcast_to(np.float64(least), pairs.shape[1:])
        return by_kernels(
            lambda _: PairMeasures(*self.kernels.measures(stripped(self.settings, texts), pairs[0], pairs[1], wanted))
        )

    def each_to_others(self, wanted: Sequence[Wanted]) -> list[PairMeasures] | None:
        """Measure each text and the others; see `es_simhash.scheme.verdict.verifier.Verifier.each_to_others`."""
        if self.settings.html:
            return None
        given = [(text, list(others), least) for text, others, least in wanted]
        return by_kernels(lambda _: [PairMeasures(*each) for each in self.kernels.to_others(given)])

    def of_cached(self, cache: SetCache, pairs: Integers, least: Vector) -> PairMeasures | None:
        """Measure each pair, given as two rows of numbers in the cache."""
        return by_kernels(lambda _: self._of_kept(cache, pairs, least))

    def _of_kept(self, cache: SetCache, pairs: Integers, least: Vector) -> PairMeasures:
        kept = cache.kept(self.kernels.kept)
        missing = kept.missing(distinct_numbers(pairs))
        if len(missing):
            kept.put(missing, stripped(self.settings, cache.texts(missing)))
        found = PairMeasures(*kept.measures(pairs[0], pairs[1], least))
        kept.make_room()
        return found


def compiled_verifier(
    settings: Settings,
    verification: Verification,
    weights: IdfTable | Rarity | None,
    counts: bool,
) -> CompiledVerifier | None:
    """Return what compares as `es_simhash.scheme.verdict.verifier.Verifier`; None where numpy must.

    With ``counts`` each occurrence of a feature adds to its weight.
    """
    if not reads_texts(settings):
        return None
    verifier = by_kernels(
        lambda kernels: kernels.Verifier(
            settings.fingerprinter,
            measure=verification.measure,
            weights=_columns(weights),
            key_bits=KEY_BITS if isinstance(weights, Rarity) else 64,
            counts=counts,
            numbers=verification.numbers,
        )
    )
    return None if verifier is None else CompiledVerifier(verifier, settings)


def _columns(
    table: IdfTable | Rarity | None,
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32], int] | None:
    """Return the hashes or keys of a table, their weights, and the weight of all others."""
    if isinstance(table, Rarity):
        return table.columns
    return None if table is None else (table.hashes, table.weights, table.unseen)
