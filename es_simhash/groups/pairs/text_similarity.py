"""Exact similarities of texts, whose features are cached as far as memory allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash.groups.pairs.stored_strings import Strings
from es_simhash.scheme.verdict.measures import PairMeasures, Similarities
from es_simhash.scheme.verdict.verifier import Verifier
from es_simhash.sketches.weighted_sets import SetCache

# The share of the memory for cached features of texts; those in use may take as much again.
_SHARE = 4

# What is measured of the pairs of documents at these positions; a similarity below the last is 0.
CompareTexts: TypeAlias = Callable[[Integers, Integers, Similarities | float], PairMeasures]


def text_comparer(verifier: Verifier, texts: Strings, memory: int, threads: int = 1) -> CompareTexts:
    """Return the function that compares texts by their numbers, within a part of the memory."""
    cache = SetCache(verifier.prepared, texts.take, texts.sizes, memory // _SHARE, threads)
    return lambda first, second, least: verifier.of_cached(cache, np.stack([first, second]), least)
