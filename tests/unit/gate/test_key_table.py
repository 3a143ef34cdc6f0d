"""A table of keys finds what shares a band and is similar enough by its fingerprint, however documents are added."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.gate.key_table import KeyTables, packed
from es_simhash.sketches.bands import Bands
from es_simhash.sketches.minhash.estimate import estimates

BANDS = st.sampled_from([Bands(4, 2, 12), Bands(8, 4), Bands(3, 1, 60), Bands(2, 5, 60), Bands(1, 1, 6)])


@given(
    bands=BANDS,
    sizes=st.lists(st.integers(0, 30), max_size=5),
    seed=st.integers(0, 2**32),
    shared=st.integers(1, 3),
    least=st.floats(0.05, 1),
)
def test_similar_documents_are_those_of_all_pairs(
    bands: Bands, sizes: list[int], seed: int, shared: int, least: float
) -> None:
    rng = np.random.default_rng(seed)
    count = sum(sizes)
    stored = rng.integers(0, 3, (count, bands.size + 2), dtype=np.uint32) * np.uint32(0x9E3779B1)
    wanted = rng.integers(0, 3, (5, bands.size + 2), dtype=np.uint32) * np.uint32(0x9E3779B1)
    tables, start = KeyTables(bands), 0
    for size in sizes:
        tables.add(packed(bands, stored[start : start + size]), [str(n) for n in range(start, start + size)])
        start += size
    found = tables.similar(packed(bands, wanted), shared, least)
    keys, others = bands.values(wanted), bands.values(stored)
    expected = {
        (row, str(n))
        for row in range(5)
        for n in range(count)
        if (keys[row] == others[n]).sum() >= shared
        and estimates(wanted[row, : bands.size], stored[n, : bands.size], bands.value_bits) >= least
    }
    assert set(found) == expected
    assert len(found) == len(expected)
