"""Exact similarities of texts, whose features are cached as far as memory allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash._core.bit_codes import Codes
from es_simhash.groups.pairs.stored_strings import Strings
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.settings import Settings
from es_simhash.scheme.verdict.measures import PairMeasures, Similarities
from es_simhash.scheme.verdict.rarity import Rarity
from es_simhash.scheme.verdict.verification import Verification
from es_simhash.scheme.verdict.verifier import Verifier, compared, plain, table_for
from es_simhash.sketches.set_cache import SetCache
from es_simhash.text.features import FeatureBatch, distinct

# The share of the memory for cached features of texts; those in use may take as much again.
_SHARE = 4

# Texts drawn from all documents of a job, the same ones wherever they lie.
Sample: TypeAlias = Callable[[], Sequence[str]]
# What is measured of the pairs of documents at these positions; a similarity below the last is 0.
CompareTexts: TypeAlias = Callable[[Integers, Integers, Similarities | float], PairMeasures]


def verifier(
    settings: Settings,
    verification: Verification,
    rarity: Rarity | None,
    common: float | None,
    sample: Sample,
) -> Verifier:
    """Make the verifier of texts, whose features weigh by what was learnt of their ``rarity``, if anything was.

    Features that more than the share ``common`` of the sample have do not count.
    """
    left_out = None if common is None else _common_features(compared(settings, verification), sample(), common)
    return Verifier(settings, verification, table_for(settings, verification, rarity), left_out)


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
