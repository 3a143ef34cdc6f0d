"""Character n-grams: every window of n code points; a shorter text is its own only n-gram."""

from __future__ import annotations

import numpy as np

from es_simhash._core.arrays import Integers, offsets_from_counts, positions_in_rows
from es_simhash.text.features import FeatureBatch
from es_simhash.text.hashing import poly64
from es_simhash.text.tokens.spans import Spans
from es_simhash.text.units import TextBatch, is_continuation


def char_spans(batch: TextBatch, n: int) -> Spans:
    """Return the character n-grams of each text."""
    starts = np.flatnonzero(~is_continuation(batch.units))
    bounds = np.append(starts, len(batch.units))
    offsets = np.searchsorted(starts, batch.offsets)
    counts = _windows(np.diff(offsets), n)
    first = np.repeat(offsets[:-1], counts) + positions_in_rows(counts)
    after = np.minimum(first + n, np.repeat(offsets[1:], counts))
    return Spans(batch.units, bounds[first], bounds[after], offsets_from_counts(counts))


def char_features(batch: TextBatch, n: int, bits: int) -> FeatureBatch:
    """Hash the character n-grams of `char_spans` by poly64, all windows at once."""
    if is_continuation(batch.units).any():
        spans = char_spans(batch, n)
        return FeatureBatch(poly64.hash_spans(spans.units, spans.starts, spans.ends, bits), spans.offsets)
    starts, ends = batch.offsets[:-1], batch.offsets[1:]
    lengths = ends - starts
    counts = _windows(lengths, n)
    offsets = offsets_from_counts(counts)
    windows = poly64.hash_windows(batch.units, n, bits)
    parts = [windows[start : start + count] for start, count in zip(starts.tolist(), counts.tolist(), strict=True)]
    short = np.flatnonzero((lengths > 0) & (lengths < n))
    whole = poly64.hash_spans(batch.units, starts[short], ends[short], bits)
    for text, code in zip(short.tolist(), whole, strict=True):
        parts[text] = code[np.newaxis]
    return FeatureBatch(np.concatenate([windows[:0], *parts]), offsets)


def _windows(lengths: Integers, n: int) -> Integers:
    return np.where(lengths > 0, np.maximum(lengths - n + 1, 1), 0)
