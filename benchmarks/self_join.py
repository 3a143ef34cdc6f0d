"""All pairs within 3 bits among a million 64-bit fingerprints, compared with other libraries.

One process, one thread. The other libraries query their index with each fingerprint. `simhash` gets fewer fingerprints;
its last row extrapolates linearly, though its time grows faster than that.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable

import numpy as np

from benchmarks.tables import Table
from es_simhash._core.arrays import Codes
from es_simhash.sketches.in_memory import Pairs, self_join

Join = Callable[[Codes], Pairs]

BITS, K = 64, 3
COUNT, FEW = 1_000_000, 20_000


def run() -> list[Table]:
    """Measure the time of each installed library and its recall of the planted pairs."""
    table = Table(
        f"All pairs within {K} of {BITS} bits",
        ["", "fingerprints", "CPU s", "wall s", "pairs", "recall of planted pairs"],
        "One fingerprint in a hundred is a copy of another with up to three bits flipped.",
    )
    _measure(table, "es_simhash", join_by_es_simhash, COUNT)
    _measure(table, "faiss, MultiHash", join_by_faiss, COUNT)
    _measure(table, "es_simhash", join_by_es_simhash, FEW)
    cpu = _measure(table, "simhash, SimhashIndex", join_by_simhash, FEW)
    if cpu is not None:
        table.add("simhash, extrapolated linearly", f"{COUNT:,}", f"{cpu * COUNT / FEW:.0f}", "", "", "")
    return [table]


def _measure(table: Table, name: str, join: Join, count: int) -> float | None:
    """Add a row to the table; return the CPU seconds, or nothing if the library is not installed."""
    codes, planted = planted_codes(count)
    try:
        join(codes[:100])  # imports and other one-time costs
    except ModuleNotFoundError:
        return None
    cpu, wall = time.process_time(), time.perf_counter()
    pairs = join(codes)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    recall = np.isin(_numbers(planted, count), _numbers(pairs, count)).mean()
    table.add(name, f"{count:,}", f"{cpu:.3f}", f"{wall:.3f}", f"{len(pairs):,}", f"{recall:.4f}")
    return cpu


def planted_codes(count: int) -> tuple[Codes, Pairs]:
    """Draw fingerprints, one in a hundred a near copy of another, and list these pairs."""
    rng = np.random.default_rng(count)
    codes = rng.integers(0, 1 << BITS, count, dtype=np.uint64)
    originals, copies = rng.permutation(count)[: count // 50].reshape(2, -1)
    codes[copies] = codes[originals]
    for _ in range(K):  # a bit flipped twice is unchanged, so distances are 0 to 3
        codes[copies] ^= np.uint64(1) << rng.integers(0, BITS, len(copies), dtype=np.uint64)
    return codes, np.sort(np.stack([originals, copies], axis=1), axis=1)


def join_by_es_simhash(codes: Codes) -> Pairs:
    """Find pairs with es_simhash."""
    return self_join(codes, BITS, K)[0]


def join_by_faiss(codes: Codes) -> Pairs:
    """Find pairs with faiss's index of 4 hash tables of 16 bits each (the pigeonhole principle in C++)."""
    faiss = importlib.import_module("faiss")
    faiss.omp_set_num_threads(1)
    vectors = codes.view(np.uint8).reshape(len(codes), -1)
    index = faiss.IndexBinaryMultiHash(BITS, K + 1, BITS // (K + 1))
    index.add(vectors)
    limits, _, neighbours = index.range_search(vectors, K + 1)
    queries = np.repeat(np.arange(len(codes)), np.diff(limits.astype(np.int64)))
    return np.stack([queries, neighbours], axis=1)[queries < neighbours]


def join_by_simhash(codes: Codes) -> Pairs:
    """Find pairs with the index of the package simhash, blocks in Python dictionaries."""
    simhash = importlib.import_module("simhash")
    objects = [simhash.Simhash(int(code)) for code in codes]
    index = simhash.SimhashIndex([(str(row), code) for row, code in enumerate(objects)], k=K)
    pairs = [(row, int(near)) for row, code in enumerate(objects) for near in index.get_near_dups(code)]
    return np.array([pair for pair in pairs if pair[0] < pair[1]], dtype=np.int64).reshape(-1, 2)


def _numbers(pairs: Pairs, count: int) -> Pairs:
    return pairs[:, 0] * count + pairs[:, 1]
