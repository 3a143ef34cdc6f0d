"""What keys of fingerprints find and what they cost, and the choice of keys for a target similarity and size.

Candidates are the documents that the index returns for a query. The numbers here are for random documents, which have
nothing to do with the query, and whose fingerprints are uniformly random bits. Real fingerprints are skewed and meet
more.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from es_simhash._core.humanize import counted
from es_simhash.errors import SchemeError
from es_simhash.sketches.bands import Bands
from es_simhash.sketches.blocks import Blocks
from es_simhash.sketches.manku import PrefixTables
from es_simhash.sketches.minhash.common import MAX_SIZE, check_size

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class BlockPlan:
    """``blocks`` of ``bits`` bits searched for pairs within ``distance`` among ``documents`` documents."""

    bits: int
    blocks: int
    distance: int
    documents: int

    def __post_init__(self) -> None:
        Blocks(self.bits, self.blocks).min_shared(self.distance)
        _check_documents(self.documents)

    @property
    def min_shared(self) -> int:
        """How many blocks a candidate must share with the query (``minimum_should_match``)."""
        return self.blocks - self.distance

    @property
    def recall(self) -> float:
        """The share of the pairs within ``distance`` that are candidates: all of them."""
        return 1.0

    @property
    def candidates(self) -> float:
        """The expected number of random candidates of a query."""
        return block_candidates(self.bits, self.blocks, self.min_shared, self.documents)

    @property
    def keys(self) -> int:
        """The number of keys that a document stores and a query looks up."""
        return self.blocks

    def _repr_html_(self) -> str:
        wanted = f"within {counted(self.distance, 'bit')} of {self.bits}"
        shared = f"{self.min_shared} of {self.blocks}, which a candidate shares"
        return _plan_html(self, f"{counted(self.blocks, 'block')} of SimHash", wanted, [("keys needed", shared)])


@dataclass(frozen=True)
class BandPlan:
    """``bands`` of ``rows`` rows with keys of ``key_bits`` bits, for pairs of at least ``similarity``."""

    bands: int
    rows: int
    key_bits: int
    similarity: float
    documents: int

    def __post_init__(self) -> None:
        self._layout  # noqa: B018 - checks the numbers
        _check_similarity(self.similarity)
        _check_documents(self.documents)

    @property
    def recall(self) -> float:
        """The probability that a pair of ``similarity`` is a candidate; more similar ones are likelier."""
        return band_probability(self.similarity, self.bands, self.rows)

    @property
    def candidates(self) -> float:
        """The expected number of random candidates of a query, those whose keys collide."""
        return band_candidates(self.bands, self.rows * self._layout.value_bits, self.documents)

    @property
    def _layout(self) -> Bands:
        return Bands(self.bands, self.rows, self.key_bits)

    @property
    def keys(self) -> int:
        """The number of keys that a document stores and a query looks up."""
        return self.bands

    def _repr_html_(self) -> str:
        wanted = f"a similarity of at least {self.similarity:g}"
        name = f"{counted(self.bands, 'band')} of {counted(self.rows, 'row')} of MinHash"
        return _plan_html(self, name, wanted, [("bits a key", f"{self.key_bits:,}")])


def block_candidates(bits: int, blocks: int, min_shared: int, documents: int) -> float:
    """Return the expected number of random documents that share at least ``min_shared`` of the blocks with a query.

    Manku's tables with prefixes of ``min_shared`` blocks meet the same documents.
    """
    return documents * at_least([2.0**-width for width in Blocks(bits, blocks).widths], min_shared)


def manku_postings(bits: int, blocks: int, distance: int, documents: int) -> float:
    """Return the expected number of random entries in all of Manku's tables that have the query's prefix.

    A document in several tables counts each time; `block_candidates` says how many different ones there are.
    """
    return documents * sum(2.0**-width for width in PrefixTables(bits, blocks, distance).prefix_bits)


def band_candidates(bands: int, key_bits: int, documents: int) -> float:
    """Return how many documents' random keys should collide with a query's: N (1 - (1 - 2**-key_bits)**b)."""
    return documents * -math.expm1(bands * math.log1p(-(2.0**-key_bits)))


def band_probability(similarity: float, bands: int, rows: int) -> float:
    """Return the probability that a pair of Jaccard similarity j shares at least one band: 1 - (1 - j**r)**b."""
    return 1.0 - (1.0 - similarity**rows) ** bands


def plan_bands(similarity: float, recall: float, size: int, documents: int, key_bits: int = 30) -> BandPlan:
    """Choose the most selective bands of ``size`` rows in all that find ``recall`` of the pairs of ``similarity``.

    More rows a band make the curve of `band_probability` steeper, so fewer pairs below ``similarity`` are met. So the
    plan takes as many rows as leave enough for the bands that the recall needs, and no more bands than that.
    """
    _check_similarity(similarity)
    check_size(size)
    if not 0.0 < recall < 1.0:
        raise SchemeError(f"Bands cannot have a recall of {recall!r}. Choose one above 0 and below 1.")
    for rows in range(min(size, key_bits), 0, -1):
        bands = fewest_bands(similarity, recall, rows, size // rows)
        if bands is not None:
            return BandPlan(bands, rows, key_bits, similarity, documents)
    needed = math.ceil(math.log1p(-recall) / math.log1p(-similarity))
    larger = f"at least {needed} rows, or " if needed <= MAX_SIZE else ""
    raise SchemeError(
        f"A signature of {size} rows finds {band_probability(similarity, size, 1):.3f} of the pairs of "
        f"similarity {similarity} at best. Choose {larger}a lower recall than {recall}."
    )


def _plan_html(plan: BlockPlan | BandPlan, name: str, wanted: str, more: list[tuple[str, str]]) -> str:
    from es_simhash._core.notebook import in_notebook  # takes what shows nothing too long to load

    rows = [
        ("pairs to find", wanted),
        ("found of them", f"{plan.recall:.2%}"),
        ("keys a document, and a query", f"{plan.keys:,}"),
        *more,
        (f"random candidates among {plan.documents:,} documents", f"{plan.candidates:,.3g}"),
    ]
    return in_notebook(name, ["", ""], rows, len(rows))


def fewest_bands(similarity: float, recall: float, rows: int, most: int) -> int | None:
    """Return the fewest bands of ``rows`` rows that reach ``recall``, if ``most`` do."""
    fewer = bisect_left(range(1, most + 1), recall, key=lambda bands: band_probability(similarity, bands, rows))
    return fewer + 1 if fewer < most else None


def _check_documents(documents: int) -> None:
    if not 0 <= documents < math.inf:
        raise SchemeError(f"There cannot be {documents} documents. Give how many documents the index will hold.")


def _check_similarity(similarity: float) -> None:
    if not 0.0 < similarity <= 1.0:
        raise SchemeError(f"A similarity of {similarity!r} cannot be searched. Choose one above 0 and at most 1.")


def at_least(probabilities: Sequence[float], count: int) -> float:
    """Return the probability that at least ``count`` of independent events of these probabilities happen."""
    happened = [1.0] + [0.0] * len(probabilities)
    for probability in probabilities:
        for events in range(len(probabilities), 0, -1):
            happened[events] += probability * (happened[events - 1] - happened[events])
        happened[0] *= 1.0 - probability
    return math.fsum(happened[count:])


def expected_choices(probabilities: Sequence[float], count: int) -> float:
    """Return the expected number of choices of ``count`` events of these probabilities that all happen.

    It is the elementary symmetric polynomial of that degree.
    """
    sums = [1.0] + [0.0] * count
    for probability in probabilities:
        for events in range(count, 0, -1):
            sums[events] += probability * sums[events - 1]
    return sums[count]
