"""Sets of fingerprints to test with: random ones of all widths, and skewed ones with near-duplicates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import strategies as st

from es_simhash._core.arrays import from_ints

if TYPE_CHECKING:
    from es_simhash._core.arrays import Codes

WIDTHS = (1, 2, 5, 16, 31, 32, 33, 63, 64, 65, 100, 127, 128)


@st.composite
def fingerprint_sets(draw: st.DrawFn, max_size: int = 40) -> tuple[int, list[int]]:
    """Return a width and codes of it that differ in few bits, or in none, from one of a few centres."""
    bits = draw(st.sampled_from(WIDTHS))
    centres = draw(st.lists(st.integers(0, (1 << bits) - 1), min_size=1, max_size=4))
    flips = st.lists(st.integers(0, bits - 1), max_size=6)
    near = st.builds(_flipped, st.sampled_from(centres), flips)
    return bits, draw(st.lists(near, max_size=max_size))


def _flipped(code: int, positions: list[int]) -> int:
    for position in positions:
        code ^= 1 << position
    return code


def random_codes(rng: np.random.Generator, count: int, bits: int) -> Codes:
    """Uniformly random codes."""
    low = rng.integers(0, 1 << min(bits, 64), count, dtype=np.uint64)
    if bits <= 64:
        return low
    return np.stack([rng.integers(0, 1 << (bits - 64), count, dtype=np.uint64), low], axis=1)


def at_distance(rng: np.random.Generator, codes: Codes, bits: int, distance: int) -> Codes:
    """For each code another one in which ``distance`` random bits differ."""
    masks = (sum(1 << int(position) for position in rng.permutation(bits)[:distance]) for _ in codes)
    return codes ^ from_ints(masks, bits)
