"""Candidates and pairs of millions of random fingerprints, and of texts, compared with the computed numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean

import numpy as np
import numpy.typing as npt

from benchmarks.corpora import topical
from benchmarks.pairwise_similarities import jaccards
from benchmarks.scale_model import MINHASH, SIMHASH, SIZES, by_bits, in_words, pairs_a_document, tables
from benchmarks.scale_words import rounded
from benchmarks.tables import Table
from es_simhash import Scheme
from es_simhash._core.arrays import Codes, extract, offsets_from_counts, spread
from es_simhash.groups.corpus import ALL
from es_simhash.groups.pairs.fingerprint_store import found_by_tables
from es_simhash.quality.ceiling import feature_batches
from es_simhash.sketches.keys import Bands, Blocks, Similarities, by_chance, sharing
from es_simhash.sketches.minhash import one_permutation
from es_simhash.text.features import FeatureBatch
from es_simhash.text.hashing import fmix64

Numbers = npt.NDArray[np.uint64]

RECALL, BLOCKS, CHANCE, CROWDED = (
    "Recall of keys",
    "Candidates by blocks",
    "Candidates by chance",
    "Crowded keys",
)
# Numbers of texts whose keys are compared, and whose features are.
TEXTS, COMPARED = 1_500, 400
# The Jaccard similarity of equally long texts that are just near, and that of typical copies.
GROUPED = 0.56, 0.8
_CHUNK = 1_000_000


def simulated(share: float = 1.0) -> Iterator[Table]:
    """Run all simulations, for a test on a ``share`` of documents, queries and pairs."""
    yield block_candidates([int(size * share) for size in (100_000, 1_000_000, 10_000_000)])
    yield recall(int(20_000 * share))
    features = Features.of_texts(int(TEXTS * share))
    yield candidates_by_chance(features, int(8 * share) or 1)
    yield crowded_keys(features)


# ---- blocks

# Distances, and the number of queries: higher where there are few candidates.
_SEARCHES = {3: 1_000, 5: 50}


def block_candidates(sizes: Sequence[int]) -> Table:
    """Count candidates among random SimHashes, and find copies with the maximum number of flipped bits."""
    rng, blocks = np.random.default_rng(1), SIMHASH.layout
    queries = {
        distance: rng.integers(0, 1 << blocks.bits, count, dtype=np.uint64) for distance, count in _SEARCHES.items()
    }
    counts = {distance: dict.fromkeys(sizes, 0) for distance in _SEARCHES}
    for start in range(0, sizes[-1], _CHUNK):
        codes = rng.integers(0, 1 << blocks.bits, min(_CHUNK, sizes[-1] - start), dtype=np.uint64)
        for distance, asked in queries.items():
            documents, _ = sharing_blocks(blocks, distance, asked, codes)
            for size in sizes:
                counts[distance][size] += int((documents < size - start).sum())
    table = Table(
        BLOCKS,
        ["within, bits", "documents", "computed", "simulated", "queries", "recall of planted copies"],
        f"Random SimHashes in {blocks.count} blocks; copies have as many bits flipped as the search allows.",
    )
    for distance, asked in queries.items():
        found = _recall_of_copies(blocks, distance, asked, rng)
        for size in sizes:
            table.add(
                str(distance),
                f"{size:,}",
                rounded(size * by_bits(distance), 4),
                rounded(counts[distance][size] / len(asked), 4),
                f"{len(asked):,}",
                f"{found:.4f}",
            )
    return table


def _recall_of_copies(blocks: Blocks, distance: int, asked: Codes, rng: np.random.Generator) -> float:
    bits = rng.random((len(asked), blocks.bits)).argsort(axis=1)[:, :distance].astype(np.uint64)
    copies = asked ^ np.bitwise_or.reduce(np.uint64(1) << bits, axis=1)
    documents, queries = sharing_blocks(blocks, distance, asked, copies)
    return len(set(documents[documents == queries].tolist())) / len(asked)


def sharing_blocks(blocks: Blocks, distance: int, queries: Codes, codes: Codes) -> tuple[Numbers, Numbers]:
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


def recall(pairs: int) -> Table:
    """Measure the recall of pairs whose values agree with the probability of their similarity."""
    rng, bands = np.random.default_rng(3), MINHASH.layout
    table = Table(
        RECALL,
        ["keys", "similarity", "computed", "simulated"],
        "Signatures whose values agree with the probability of the similarity.",
    )
    for least in (MINHASH.shared, MINHASH.shared + 1):
        for similarity in (0.5, 0.56, 0.6, 0.7, 0.8):
            first = rng.integers(0, 1 << 32, (pairs, bands.size), dtype=np.uint32)
            other = rng.integers(0, 1 << 32, (pairs, bands.size), dtype=np.uint32)
            second = np.where(rng.random(first.shape) < similarity, first, other)
            met = (bands.values(first) == bands.values(second)).sum(axis=1) >= least
            shares = sharing(similarity, bands, least), met.mean()
            table.add(in_words(bands, least), f"{similarity}", *(f"{share:.4f}" for share in shares))
    return table


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

    def similar(self) -> Similarities:
        """Return the similarities of all pairs, in hundredths: their means and shares."""
        similarities = self.similarities()
        places = (100 * similarities).astype(np.int64)
        counts, sums = np.bincount(places), np.bincount(places, similarities)
        return [(sums[place] / counts[place], counts[place] / len(places)) for place in np.flatnonzero(counts)]

    def similarities(self) -> npt.NDArray[np.float64]:
        """Compute the Jaccard similarity of each pair of documents."""
        return jaccards(FeatureBatch(self.hashes, self.offsets))

    def signatures(self, draw: int, size: int) -> npt.NDArray[np.uint32]:
        """Make signatures with the hash function of this number."""
        hashes = self.hashes if draw == 0 else fmix64(self.hashes ^ np.uint64(draw))
        return one_permutation.signatures(FeatureBatch(hashes, self.offsets), size)


# The default asks for two or three, `short` for two of more; the first default asked for one.
_KEYS = (
    *((MINHASH.layout, least) for least in (1, 2, 3)),
    (Bands(42, 3, 24), 2),
    (Bands(32, 4, 30), 1),
)


def candidates_by_chance(features: Features, draws: int) -> Table:
    """Count how many of a million documents share keys with a query, for several hash functions."""
    found: dict[tuple[Bands, int], list[float]] = {keys: [] for keys in _KEYS}
    for draw in range(draws):
        signatures = features.signatures(draw, MINHASH.size)
        for bands, least in _KEYS:
            found[bands, least].append(_share_that_meets(bands.values(signatures), least))
    table = Table(
        CHANCE,
        ["keys", "computed", "simulated, on average", "least", "most"],
        f"Per query and million documents, from signatures of {TEXTS:,} of the benchmarks' texts; computed from the "
        f"Jaccard similarities of {COMPARED}.",
    )
    similar = features.first(COMPARED).similar()
    for (bands, least), shares in found.items():
        numbers = by_chance(bands, least, similar), mean(shares), min(shares), max(shares)
        table.add(in_words(bands, least), *(rounded(1e6 * share, 3) for share in numbers))
    return table


def crowded_keys(features: Features) -> Table:
    """Count crowded keys of grouping, and the pairs that share a key that is not crowded."""
    values = features.signatures(0, MINHASH.size) & np.uint32((1 << MINHASH.layout.value_bits) - 1)
    places = np.array(tables())
    table = Table(
        CROWDED,
        ["documents", "crowded keys", "pairs a document", *(f"found of {similarity}" for similarity in GROUPED)],
        f"{len(places)} tables of {places.shape[1]} values, simulated from {TEXTS:,} of the benchmarks' texts.",
    )
    shares = shares_with_key(values, places)
    for documents in SIZES:
        sharing_it = 1 + documents * shares
        is_crowded = sharing_it > ALL + 1
        others = (len(places) - is_crowded.sum(axis=1)).tolist()
        found = (
            np.mean([found_by_tables(similarity, MINHASH.layout.size, places.shape[1], count) for count in others])
            for similarity in GROUPED
        )
        pairs = len(places) * pairs_a_document(sharing_it).mean()
        table.add(f"{documents:,}", f"{is_crowded.mean():.1%}", rounded(pairs), *(f"{share:.2%}" for share in found))
    return table


def shares_with_key(values: npt.NDArray[np.uint32], places: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return, per key of each document, the share of other documents with it if its values are independent.

    Each key has the values at some places.
    """
    shares = np.ones(values.shape)
    for row, column in enumerate(values.T):
        _, numbers, counts = np.unique(column, return_inverse=True, return_counts=True)
        shares[:, row] = np.maximum(counts[numbers] - 1, 1) / (len(values) - 1)
    return shares[:, places].prod(axis=2)


def _share_that_meets(keys: Numbers, least: int) -> float:
    met = np.zeros((len(keys), len(keys)), dtype=np.uint8)
    for band in keys.T:
        met += band[:, None] == band
    return (int((met >= least).sum()) - len(keys)) / (len(keys) * (len(keys) - 1))
