"""The keys of a scheme for an index of a given size: what they find, how much in vain, and what they take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from es_simhash._core.arrays import Integers, offsets_from_counts
from es_simhash.errors import SchemeError
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.field_bytes import bytes_a_document
from es_simhash.scheme.scheme import Scheme
from es_simhash.scheme.settings import MinHash, SimHash
from es_simhash.scheme.verdict.verifier import plain
from es_simhash.sketches.blocks import MAX_KEYED_BLOCKS
from es_simhash.sketches.key_plans import TYPICAL, Goal, Similarities, false_share, plan_keys
from es_simhash.sketches.pairwise import jaccards
from es_simhash.sketches.tradeoffs import band_probability, block_candidates, plan_blocks
from es_simhash.text.features import FeatureBatch, distinct

# Signatures have at least this many values.
_LEAST_SIZE = 64
# Candidates beyond this multiple of a goal's make searches slow.
_OUTGROWN = 10
# A sample of fewer texts says nothing, and no more of a text is looked at.
FEWEST_TEXTS, _CHARACTERS = 20, 50_000
# Pairs of texts with more of a near-duplicate's similarity than this are related. A sample has few of them, or none.
_RELATED = 0.5
# The number of similarities by which those of many pairs are summed up.
_LEVELS = 200


@dataclass(frozen=True)
class KeyLoad:
    """What the keys of a scheme find and take in an index of ``documents``.

    ``recall`` is the share of the pairs of MinHash's ``similarity`` that share a key; ``by_bands`` and ``by_blocks``
    are the false candidates of a query; each is None without such keys. ``bytes`` is what a document's fields take.
    """

    documents: int
    similarity: float | None
    recall: float | None
    by_bands: float | None
    by_blocks: float | None
    bytes: int

    @property
    def is_outgrown(self) -> bool:
        """Whether a search is slow for all that it compares in vain."""
        return self.false_candidates > _OUTGROWN * Goal(max(self.documents, 1)).candidates

    @property
    def false_candidates(self) -> float:
        """The false candidates of a query by those keys that have more of them."""
        return max(self.by_bands or 0.0, self.by_blocks or 0.0)


def key_load(scheme: Scheme, documents: int, unrelated: Similarities = TYPICAL) -> KeyLoad:
    """Compute what keys find and take; ``unrelated`` are the similarities of texts that are not near-duplicates."""
    simhash, minhash = scheme.simhash, scheme.minhash
    by_blocks = by_bands = recall = None
    if simhash:
        by_blocks = _by_blocks(simhash, documents)
    if minhash:
        by_bands = documents * false_share(minhash.layout, unrelated)
        recall = band_probability(minhash.similarity, minhash.bands, minhash.rows)
    similarity = minhash.similarity if minhash else None
    return KeyLoad(documents, similarity, recall, by_bands, by_blocks, bytes_a_document(scheme))


def with_keys_for(scheme: Scheme, goal: Goal, unrelated: Similarities = TYPICAL) -> Scheme:
    """Give a scheme the smallest bands for a goal, and more blocks if it has too few.

    If no keys have few enough candidates, those with the fewest are taken.
    """
    minhash = scheme.minhash and _minhash_for(scheme.minhash, goal, unrelated)
    simhash = scheme.simhash and _simhash_for(scheme.simhash, goal)
    name = f"{scheme.name} for {goal.documents:,}"
    return replace(scheme, name=name, simhash=simhash, minhash=minhash)


def keys_in_words(scheme: Scheme) -> str:
    """Describe the keys of a scheme: ``32 bands of 4 rows, keys of 30 bits; 6 blocks``."""
    simhash, minhash = scheme.simhash, scheme.minhash
    bands = f"{minhash.bands} bands of {minhash.rows} rows, keys of {minhash.key_bits} bits" if minhash else ""
    return "; ".join(each for each in (bands, f"{simhash.blocks} blocks" if simhash else "") if each)


def unrelated_similarities(scheme: Scheme, texts: Sequence[str]) -> Similarities:
    """Return the Jaccard similarities of pairs of texts that have little in common; `TYPICAL` ones of too few texts."""
    readable = [text[:_CHARACTERS].encode(errors="replace").decode() for text in texts]
    made = fingerprinting.features_of_texts(plain(scheme), readable)
    features = distinct(FeatureBatch(made.first_words, made.offsets))
    features = FeatureBatch(features.hashes, offsets_from_counts(_without_zeros(np.diff(features.offsets))))
    if len(features) < FEWEST_TEXTS:
        return TYPICAL
    limit = _RELATED * (scheme.minhash.similarity if scheme.minhash else 1.0)
    found = np.sort(jaccards(features))
    parts = np.array_split(found[found < limit], _LEVELS)
    return [(float(part.mean()), len(part) / len(found)) for part in parts if len(part)]


def _without_zeros(counts: Integers) -> Integers:
    return counts[counts > 0]


def _minhash_for(minhash: MinHash, goal: Goal, unrelated: Similarities) -> MinHash:
    bands = plan_keys(minhash.similarity, goal, unrelated)
    if bands is None:
        raise SchemeError(
            f"No keys find {goal.recall:.1%} of the pairs of the similarity {minhash.similarity:g}. Give a scheme with "
            "a higher similarity of MinHash."
        )
    size = max(1 << (bands.size - 1).bit_length(), _LEAST_SIZE)
    return replace(minhash, size=size, bands=bands.count, rows=bands.rows, key_bits=bands.key_bits)


def _simhash_for(simhash: SimHash, goal: Goal) -> SimHash:
    if _by_blocks(simhash, goal.documents) <= goal.candidates:
        return simhash
    try:
        plan = plan_blocks(simhash.bits, simhash.distance, goal.documents, goal.candidates)
    except SchemeError:  # random fingerprints are as near
        return replace(simhash, blocks=min(simhash.bits, MAX_KEYED_BLOCKS))
    return replace(simhash, blocks=plan.blocks)


def _by_blocks(simhash: SimHash, documents: int) -> float:
    return block_candidates(simhash.bits, simhash.blocks, simhash.blocks - simhash.distance, documents)
