"""Runs of characters: fewer of a dense script than of any other, so that texts in all scripts compare alike.

This is a stored format. It reads the code points of a normalised text. The run that begins at a position has n code
points if the first of them is dense, n being 2 or 3, or else 5, whatever the others are; where fewer follow, no run
begins. A text that has no run at all is one run as a whole; the empty text has none. Each run is hashed as a token, so
a text of letters only has the very features of character 5-grams, and one of ideographs only those of n-grams.

Dense are the code points of `DENSE`, first and last of each range: Han, kana and bopomofo, and hangul. They are listed
here, and depend on no version of Unicode.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers, offsets_from_counts, select
from es_simhash.text.features import FeatureBatch, TextBatch, Units, is_continuation
from es_simhash.text.hashing import registry
from es_simhash.text.tokens.words import Spans

# Code points of a run whose first one is not dense.
LONG = 5

_HAN = (
    (0x3005, 0x3007),
    (0x3021, 0x3029),
    (0x3038, 0x303B),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x323AF),
)
_KANA_AND_BOPOMOFO = (
    (0x3041, 0x3096),
    (0x309D, 0x309F),
    (0x30A1, 0x30FA),
    (0x30FC, 0x30FF),
    (0x3105, 0x312F),
    (0x31F0, 0x31FF),
    (0x1B000, 0x1B16F),
)
_HANGUL = ((0x1100, 0x11FF), (0x3131, 0x318E), (0xA960, 0xA97C), (0xAC00, 0xD7A3), (0xD7B0, 0xD7FB))
DENSE = _HAN + _KANA_AND_BOPOMOFO + _HANGUL

Flags = npt.NDArray[np.bool_]


def run_spans(batch: TextBatch, n: int) -> Spans:
    """Return the runs of each text, n code points where a dense one begins them."""
    starts = np.flatnonzero(~is_continuation(batch.units))
    return _spans(batch, starts, np.where(_is_dense(_points(batch.units, starts)), n, LONG))


def run_features(batch: TextBatch, n: int, bits: int) -> FeatureBatch:
    """Hash the runs of `run_spans` by poly64, all windows of a length at once."""
    if is_continuation(batch.units).any():
        spans = run_spans(batch, n)
        return FeatureBatch(registry.hash_spans(spans.units, spans.starts, spans.ends, bits), spans.offsets)
    dense = _is_dense(batch.units)
    if not dense.any():
        return char_features(batch, LONG, bits)
    first, after, offsets = _runs(np.where(dense, n, LONG), batch.offsets)
    lengths = after - first
    hashes = np.empty((len(first), 2) if bits == 128 else len(first), dtype=np.uint64)
    for length in (n, LONG):
        there = np.flatnonzero(lengths == length)
        hashes[there] = registry.hash_windows(batch.units, length, bits)[first[there]]
    # Only whole texts are of other lengths.
    whole = np.flatnonzero((lengths != n) & (lengths != LONG))
    hashes[whole] = registry.hash_spans(batch.units, first[whole], after[whole], bits)
    return FeatureBatch(hashes, offsets)


def _spans(batch: TextBatch, starts: Integers, lengths: Integers) -> Spans:
    """Return the runs whose first code points begin at ``starts``, with the given number of code points each."""
    bounds = np.append(starts, len(batch.units))
    first, after, offsets = _runs(lengths, np.searchsorted(starts, batch.offsets))
    return Spans(batch.units, bounds[first], bounds[after], offsets)


def _runs(lengths: Integers, offsets: Integers) -> tuple[Integers, Integers, Integers]:
    """Return the first code point of each run, the one after its last, and the offsets of the texts' runs.

    ``lengths`` are those that a run has at each code point, ``offsets`` those of the texts' code points.
    """
    after = np.arange(len(lengths)) + lengths
    counts = np.diff(offsets)
    kept = after <= np.repeat(offsets[1:], counts)
    found = np.append(0, np.cumsum(kept))[offsets]
    whole = (np.diff(found) == 0) & (counts > 0)
    firsts, ends = offsets[:-1][whole], offsets[1:][whole]
    kept[firsts], after[firsts] = True, ends
    first, runs = select(np.arange(len(lengths)), offsets, kept)
    return first, after[first], runs


def _points(units: Units, starts: Integers) -> npt.NDArray[np.int64]:
    """Return the code points that begin at ``starts``."""
    points = units[starts].astype(np.int64)
    pairs = np.flatnonzero((points >= 0xD800) & (points < 0xDC00))
    low = units[starts[pairs] + 1].astype(np.int64)
    points[pairs] = 0x10000 + ((points[pairs] & 0x3FF) << 10 | low & 0x3FF)
    return points


def _table() -> Flags:
    """Return whether each code point is dense, up to the last one that is, and one more for all that follow."""
    table = np.zeros(max(last for _, last in DENSE) + 2, dtype=np.bool_)
    for first, last in DENSE:
        table[first : last + 1] = True
    return table


_TABLE = _table()


def _is_dense(points: npt.NDArray[np.int64] | Units) -> Flags:
    if points.dtype == np.uint8:
        return np.zeros(len(points), dtype=np.bool_)
    return _TABLE.take(points, mode="clip")


def char_spans(batch: TextBatch, n: int) -> Spans:
    """Return the character n-grams of each text."""
    starts = np.flatnonzero(~is_continuation(batch.units))
    return _spans(batch, starts, np.full(len(starts), n))


def char_features(batch: TextBatch, n: int, bits: int) -> FeatureBatch:
    """Hash the character n-grams of `char_spans` by poly64, all windows at once."""
    if is_continuation(batch.units).any():
        spans = char_spans(batch, n)
        return FeatureBatch(registry.hash_spans(spans.units, spans.starts, spans.ends, bits), spans.offsets)
    starts, ends = batch.offsets[:-1], batch.offsets[1:]
    lengths = ends - starts
    counts = np.where(lengths > 0, np.maximum(lengths - n + 1, 1), 0)
    offsets = offsets_from_counts(counts)
    windows = registry.hash_windows(batch.units, n, bits)
    parts = [windows[start : start + count] for start, count in zip(starts.tolist(), counts.tolist(), strict=True)]
    short = np.flatnonzero((lengths > 0) & (lengths < n))
    whole = registry.hash_spans(batch.units, starts[short], ends[short], bits)
    for text, code in zip(short.tolist(), whole, strict=True):
        parts[text] = code[np.newaxis]
    return FeatureBatch(np.concatenate([windows[:0], *parts]), offsets)
