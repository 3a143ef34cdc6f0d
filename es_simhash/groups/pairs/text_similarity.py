"""Exact similarities of texts, whose features are cached as far as memory allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash._core.bit_codes import Codes
from es_simhash._core.stages import counted_each
from es_simhash.groups.pairs.stored_strings import Strings
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.measures import PairMeasures, Similarities
from es_simhash.scheme.verdict.rarity import Rarity
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.scheme.verdict.verifier import Verifier, compared, is_by_rarity, plain, rarity_of
from es_simhash.sketches.set_cache import SetCache
from es_simhash.text.features import FeatureBatch, distinct

# The share of the memory for cached features of texts; those in use may take as much again.
_SHARE = 4

# The texts of the sample that rarity is learnt from (see `es_simhash.scheme.verdict.rarity`).
Sample: TypeAlias = Callable[[], Sequence[str]]
# What is measured of the pairs of documents at these positions; a similarity below the last is 0.
CompareTexts: TypeAlias = Callable[[Integers, Integers, Similarities | float], PairMeasures]


def verifier(
    settings: Settings,
    verification: Verification,
    sample: Sample,
    common: float | None,
    rarity: Rarity | None = None,
) -> Verifier:
    """Make the verifier of texts.

    Features that more than the share ``common`` of documents have do not count. ``rarity`` is what was learnt before;
    without it, it is learnt from the sample.
    """
    weighs_rarity = is_by_rarity(settings, verification)
    texts = sample() if common is not None or (weighs_rarity and rarity is None) else ()
    left_out = None if common is None else _common_features(compared(settings, verification), texts, common)
    if weighs_rarity and rarity is None and texts:
        read = counted_each("Learning how rare features are", texts, len(texts))
        rarity = rarity_of(compared(settings, verification), read)
    return Verifier(settings, verification, rarity if weighs_rarity else None, left_out)


def _common_features(settings: Settings, texts: Sequence[str], share: float) -> Codes:
    """Find the features that more than a share of some texts have, in ascending order."""
    batches = fingerprinting.in_batches(texts, lambda some: fingerprinting.features_of_texts(plain(settings), some))
    each = [distinct(FeatureBatch(batch.first_words, batch.offsets)).hashes for batch in batches]
    hashes, counts = np.unique(np.concatenate([np.empty(0, dtype=np.uint64), *each]), return_counts=True)
    common: Codes = hashes[counts > share * len(texts)]
    return common


def text_comparer(verifier: Verifier, texts: Strings, memory: int, threads: int = 1) -> CompareTexts:
    """Return the function that compares texts by their numbers, within a part of the memory."""
    cache = SetCache(verifier.prepared, texts.take, texts.sizes, memory // _SHARE, threads)
    return lambda first, second, least: verifier.of_cached(cache, np.stack([first, second]), least)
