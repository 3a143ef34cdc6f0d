"""Candidates of millions of random fingerprints, compared with the computed numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean

import numpy as np
import numpy.typing as npt

from benchmarks.corpora import topical
from benchmarks.pairwise_similarities import jaccards
from benchmarks.scale_model import DEFAULT, SIZES, grouped_by, pairs_a_document
from benchmarks.scale_words import rounded
from benchmarks.tables import Table
from es_simhash import Scheme
from es_simhash._core.arrays import offsets_from_counts, spread
from es_simhash._core.bit_codes import Codes, extract
from es_simhash.groups.pairs.document_links import ALL
from es_simhash.quality.ceiling import feature_batches
from es_simhash.sketches.bands import Bands
from es_simhash.sketches.blocks import Blocks
from es_simhash.sketches.key_plans import UNLIKE, Similarities, false_share, meeting
from es_simhash.sketches.minhash import one_permutation
from es_simhash.sketches.tradeoffs import BlockPlan, band_probability
from es_simhash.text.features import FeatureBatch
from es_simhash.text.hashing.poly64 import fmix64

Numbers = npt.NDArray[np.uint64]

SIMILARITIES, RECALL, BLOCKS, BANDS, FALSE_BY_BANDS, CROWDED = (
    "Similarities of unrelated documents",
    "Recall of bands",
    "Candidates by blocks",
    "Candidates by bands of random keys",
    "False candidates by bands",
    "Crowded keys",
)
# Numbers of texts whose keys are compared, and whose features are.
TEXTS, COMPARED = 1_500, 400
GROUPED = 0.6, 0.8
_CHUNK = 1_000_000


def simulated(share: float = 1.0) -> Iterator[Table]:
    """Run all simulations, for a test on a ``share`` of documents, queries and pairs."""
    yield block_candidates([int(size * share) for size in (100_000, 1_000_000, 10_000_000)])
    yield band_candidates([int(size * share) for size in (100_000, 1_000_000)], [10**7, 10**8, 10**9])
    yield band_recall(int(20_000 * share))
    features = Features.of_texts(int(TEXTS * share))
    similarities = features.first(COMPARED).table()
    yield similarities
    yield false_by_bands(features, similarities_of(similarities), int(8 * share) or 1)
    yield crowded_keys(features)


# ---- blocks


@dataclass(frozen=True)
class _Search:
    """A search by blocks and its number of queries, higher for wide blocks, which have few candidates."""

    blocks: Blocks
    distance: int
    queries: int

    @property
    def name(self) -> str:
        return f"{self.blocks.count} blocks, within {self.distance} bits"


_SEARCHES = (
    _Search(Blocks(64, 4), 3, 1000),
    _Search(Blocks(64, 6), 3, 200),
    _Search(Blocks(64, 6), 5, 50),
    _Search(Blocks(64, 8), 5, 50),
)


def block_candidates(sizes: Sequence[int]) -> Table:
    """Count candidates among random SimHashes, and find copies with the maximum number of flipped bits."""
    rng = np.random.default_rng(1)
    queries = [rng.integers(0, 1 << 64, search.queries, dtype=np.uint64) for search in _SEARCHES]
    counts = {search: dict.fromkeys(sizes, 0) for search in _SEARCHES}
    for start in range(0, sizes[-1], _CHUNK):
        codes = rng.integers(0, 1 << 64, min(_CHUNK, sizes[-1] - start), dtype=np.uint64)
        for search, asked in zip(_SEARCHES, queries, strict=True):
            documents, _ = sharing(search.blocks, search.distance, asked, codes)
            for size in sizes:
                counts[search][size] += int((documents < size - start).sum())
    table = Table(
        BLOCKS,
        ["search", "documents", "computed", "simulated", "queries", "recall of planted copies"],
        "Random SimHashes; copies have as many bits flipped as the search allows.",
    )
    for search, asked in zip(_SEARCHES, queries, strict=True):
        found = _recall_of_copies(search, asked, rng)
        for size in sizes:
            plan = BlockPlan(64, search.blocks.count, search.distance, size)
            table.add(
                search.name,
                f"{size:,}",
                rounded(plan.candidates, 4),
                rounded(counts[search][size] / search.queries, 4),
                f"{search.queries:,}",
                f"{found:.4f}",
            )
    return table


def _recall_of_copies(search: _Search, asked: Codes, rng: np.random.Generator) -> float:
    bits = rng.random((len(asked), 64)).argsort(axis=1)[:, : search.distance].astype(np.uint64)
    copies = asked ^ np.bitwise_or.reduce(np.uint64(1) << bits, axis=1)
    documents, queries = sharing(search.blocks, search.distance, asked, copies)
    return len(set(documents[documents == queries].tolist())) / len(asked)


def sharing(blocks: Blocks, distance: int, queries: Codes, codes: Codes) -> tuple[Numbers, Numbers]:
    """Find codes and queries that share as many blocks as codes within the distance do; return their places."""
    met = []
    for block in zip(blocks.starts, blocks.widths, strict=True):
        own, values = extract(queries, blocks.bits, *block), extract(codes, blocks.bits, *block)
        order = np.argsort(own, kind="stable")
        is_asked = np.zeros(1 << max(blocks.widths), dtype=np.bool_)
        is_asked[own] = True
        documents = np.flatnonzero(is_asked[values])
        first, end = (np.searchsorted(own[order], values[documents], side=side) for side in ("left", "right"))
        rows, place = spread(end - first)
        met.append(documents[rows].astype(np.uint64) * len(queries) + order[first[rows] + place].astype(np.uint64))
    pairs, shared = np.unique(np.concatenate(met), return_counts=True)
    return np.divmod(pairs[shared >= blocks.min_shared(distance)], len(queries))


# ---- bands


def band_candidates(drawn: Sequence[int], sampled: Sequence[int]) -> Table:
    """Count candidates among documents with uniform keys: drawn one by one, or only their number."""
    rng = np.random.default_rng(2)
    queries, layout = 1000, DEFAULT.layout
    bits = layout.rows * layout.value_bits
    columns = ["documents", "computed", "simulated", "queries", "keys are"]
    table = Table(BANDS, columns, "Default bands, documents with nothing in common.")
    for size in drawn:
        found = sum(_equal_keys(rng, bits, queries, size) for _ in range(layout.count))
        _add_keys(table, size, found / queries, queries, "drawn")
    for size in sampled:
        found = int(rng.binomial(size, 2.0**-bits, (queries, layout.count)).sum())
        _add_keys(table, size, found / queries, queries, "counted by the binomial distribution")
    return table


def _add_keys(table: Table, size: int, found: float, queries: int, how: str) -> None:
    table.add(
        f"{size:,}", rounded(size * false_share(DEFAULT.layout, UNLIKE), 4), rounded(found, 4), f"{queries:,}", how
    )


def _equal_keys(rng: np.random.Generator, bits: int, queries: int, size: int) -> int:
    """Count how often random keys of ``size`` documents equal those of queries."""
    asked = np.sort(rng.integers(0, 1 << bits, queries, dtype=np.uint32))
    keys = rng.integers(0, 1 << bits, size, dtype=np.uint32)
    may_be_asked = np.zeros(1 << 16, dtype=np.bool_)
    may_be_asked[asked & 0xFFFF] = True
    keys = keys[may_be_asked[keys & 0xFFFF]]
    first, end = (np.searchsorted(asked, keys, side=side) for side in ("left", "right"))
    return int((end - first).sum())


def band_recall(pairs: int) -> Table:
    """Measure the recall of pairs whose values agree with the probability of their similarity."""
    rng = np.random.default_rng(3)
    table = Table(
        RECALL,
        ["layout", "similarity", "computed", "computed, with values that agree by chance", "simulated"],
        "Signatures whose values agree with the probability of the similarity.",
    )
    for bands in (DEFAULT.layout, Bands(26, 8, 60)):
        for similarity in (0.5, 0.6, 0.7, 0.8):
            first = rng.integers(0, 1 << 32, (pairs, bands.size), dtype=np.uint32)
            other = rng.integers(0, 1 << 32, (pairs, bands.size), dtype=np.uint32)
            second = np.where(rng.random(first.shape) < similarity, first, other)
            met = (bands.values(first) == bands.values(second)).any(axis=1)
            computed = band_probability(similarity, bands.count, bands.rows), meeting(similarity, bands)
            table.add(in_words(bands), f"{similarity}", *(f"{share:.4f}" for share in (*computed, met.mean())))
    return table


def in_words(bands: Bands) -> str:
    """Describe a layout of bands."""
    return f"{bands.count} bands × {bands.rows} rows, keys of {bands.key_bits} bits"


# ---- texts


@dataclass(frozen=True, eq=False)
class Features:
    """Hashes of the distinct features of documents, one document after the other."""

    hashes: Numbers
    offsets: npt.NDArray[np.int64]

    @classmethod
    def of_texts(cls, count: int) -> Features:
        """Extract the features of texts like those of the other benchmarks."""
        batches = list(feature_batches(Scheme(), topical(count)))
        counts = np.concatenate([np.diff(batch.offsets) for batch in batches])
        return cls(np.concatenate([batch.hashes for batch in batches]), offsets_from_counts(counts))

    def first(self, count: int) -> Features:
        """Return the features of the first documents."""
        offsets = self.offsets[: count + 1]
        return Features(self.hashes[: offsets[-1]], offsets)

    def table(self) -> Table:
        """Count all pairs by their similarity, in hundredths."""
        similarities = self.similarities()
        table = Table(
            SIMILARITIES,
            ["similarity, on average", "share of the pairs"],
            f"Jaccard similarities of the character 5-grams of {COMPARED} of the benchmarks' texts: all pairs.",
        )
        for level in range(100):
            some = similarities[(similarities >= level / 100) & (similarities < (level + 1) / 100)]
            if len(some):
                table.add(f"{some.mean():.4f}", f"{len(some) / len(similarities):.3g}")
        return table

    def similarities(self) -> npt.NDArray[np.float64]:
        """Compute the Jaccard similarity of each pair of documents."""
        return jaccards(FeatureBatch(self.hashes, self.offsets))

    def signatures(self, draw: int, size: int) -> npt.NDArray[np.uint32]:
        """Make signatures with the hash function of this number."""
        hashes = self.hashes if draw == 0 else fmix64(self.hashes ^ np.uint64(draw))
        return one_permutation.signatures(FeatureBatch(hashes, self.offsets), size)


_LAYOUTS = (Bands(32, 4, 24), Bands(32, 4, 30), Bands(32, 4, 36), Bands(42, 3, 30))


def false_by_bands(features: Features, similarities: Similarities, draws: int) -> Table:
    """Count how many of a million documents share a key with a query, for several hash functions."""
    found: dict[Bands, list[float]] = {bands: [] for bands in _LAYOUTS}
    for draw in range(draws):
        signatures = features.signatures(draw, DEFAULT.size)
        for bands in _LAYOUTS:
            found[bands].append(_share_that_meets(bands.values(signatures)))
    table = Table(
        FALSE_BY_BANDS,
        ["layout", "computed", "simulated, on average", "least", "most", "first hash function"],
        f"Per query and million documents, from signatures of {TEXTS:,} of the benchmarks' texts.",
    )
    for bands, shares in found.items():
        numbers = (false_share(bands, similarities), mean(shares), min(shares), max(shares), shares[0])
        table.add(in_words(bands), *(f"{1e6 * share:,.0f}" for share in numbers))
    return table


def crowded_keys(features: Features) -> Table:
    """Count crowded keys, and the pairs that share a key that is not crowded."""
    values = features.signatures(0, DEFAULT.size) & np.uint32((1 << DEFAULT.layout.value_bits) - 1)
    counts = "crowded keys", "pairs a document", "found"
    columns = (f"{what} of {similarity}" for similarity in GROUPED for what in counts)
    note = f"Simulated, from {TEXTS:,} texts of the benchmarks."
    table = Table(CROWDED, ["documents", *columns], note)
    for documents in SIZES:
        cells = []
        for similarity in GROUPED:
            bands = grouped_by(similarity)
            sharing = 1 + documents * shares_with_key(values, bands)
            is_crowded = sharing > ALL + 1
            others = bands.count - is_crowded.sum(axis=1)
            found = np.mean([band_probability(similarity, count, bands.rows) for count in others.tolist()])
            pairs = bands.count * pairs_a_document(sharing).mean()
            cells += [f"{is_crowded.mean():.1%}", rounded(pairs), f"{found:.2%}"]
        table.add(f"{documents:,}", *cells)
    return table


def shares_with_key(values: npt.NDArray[np.uint32], bands: Bands) -> npt.NDArray[np.float64]:
    """Return, per key of each document, the share of other documents with it if rows are independent."""
    shares = np.ones(values.shape)
    for row in range(bands.size):
        _, places, counts = np.unique(values[:, row], return_inverse=True, return_counts=True)
        shares[:, row] = np.maximum(counts[places] - 1, 1) / (len(values) - 1)
    return shares[:, : bands.size].reshape(len(values), bands.count, bands.rows).prod(axis=2)


def _share_that_meets(keys: Numbers) -> float:
    met = np.zeros((len(keys), len(keys)), dtype=np.bool_)
    for band in keys.T:
        met |= band[:, None] == band
    return (int(met.sum()) - len(keys)) / (len(keys) * (len(keys) - 1))


def similarities_of(table: Table) -> Similarities:
    """Read similarities from their table."""
    return [(float(similarity), float(share)) for similarity, share in table.rows]
