"""How long it takes to find all pairs within 3 bits among a million 64-bit fingerprints, beside others.

Run it with ``python -m benchmarks.self_join``. Every library joins random fingerprints with planted pairs, in
one process and on one thread; the others do it by a query of their index for each fingerprint. `simhash` is
given fewer, because it takes long, and a row says what that comes to for all if it grew linearly. (It grows
faster: its buckets fill up.)
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable

import numpy as np

from es_simhash.codes import Codes
from es_simhash.self_join import Pairs, self_join

Join = Callable[[Codes], Pairs]

BITS, K = 64, 3
COUNT, FEW = 1_000_000, 20_000


def main() -> None:
    """Print the times of each library that is installed and its recall of the planted pairs."""
    print(f"{'library':12}{'fingerprints':>14}{'CPU s':>10}{'wall s':>10}{'pairs':>10}{'recall':>8}")
    measure("es_simhash", join_by_es_simhash, COUNT)
    measure("faiss", join_by_faiss, COUNT)
    measure("es_simhash", join_by_es_simhash, FEW)
    cpu = measure("simhash", join_by_simhash, FEW)
    if cpu is not None:
        print(f"{'simhash':12}{COUNT:>14,}{cpu * COUNT / FEW:>10.3f}  extrapolated linearly")


def measure(name: str, join: Join, count: int) -> float | None:
    """Print a row of the table; return the CPU seconds, or nothing if the library is not installed."""
    codes, planted = planted_codes(count)
    try:
        join(codes[:100])  # imports, and what else happens only once
    except ModuleNotFoundError as error:
        print(f"{name:12} {error}")
        return None
    cpu, wall = time.process_time(), time.perf_counter()
    pairs = join(codes)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    recall = np.isin(_numbers(planted, count), _numbers(pairs, count)).mean()
    print(f"{name:12}{count:>14,}{cpu:>10.3f}{wall:>10.3f}{len(pairs):>10,}{recall:>8.4f}")
    return cpu


def planted_codes(count: int) -> tuple[Codes, Pairs]:
    """Random fingerprints, of which one in a hundred is a near copy of another, and the pairs of them."""
    rng = np.random.default_rng(count)
    codes = rng.integers(0, 1 << BITS, count, dtype=np.uint64)
    originals, copies = rng.permutation(count)[: count // 50].reshape(2, -1)
    codes[copies] = codes[originals]
    for _ in range(K):  # a bit flipped twice is as it was, so that the distances are 0 to 3
        codes[copies] ^= np.uint64(1) << rng.integers(0, BITS, len(copies), dtype=np.uint64)
    return codes, np.sort(np.stack([originals, copies], axis=1), axis=1)


def join_by_es_simhash(codes: Codes) -> Pairs:
    """The subject of the comparison."""
    return self_join(codes, BITS, K)[0]


def join_by_faiss(codes: Codes) -> Pairs:
    """Pairs by faiss's index of 4 hash tables of 16 bits each, the pigeonhole in C++."""
    faiss = importlib.import_module("faiss")
    faiss.omp_set_num_threads(1)
    vectors = codes.view(np.uint8).reshape(len(codes), -1)
    index = faiss.IndexBinaryMultiHash(BITS, K + 1, BITS // (K + 1))
    index.add(vectors)
    limits, _, neighbours = index.range_search(vectors, K + 1)
    queries = np.repeat(np.arange(len(codes)), np.diff(limits.astype(np.int64)))
    return np.stack([queries, neighbours], axis=1)[queries < neighbours]


def join_by_simhash(codes: Codes) -> Pairs:
    """Pairs by the index of the package simhash, blocks in Python dictionaries."""
    simhash = importlib.import_module("simhash")
    objects = [simhash.Simhash(int(code)) for code in codes]
    index = simhash.SimhashIndex([(str(row), code) for row, code in enumerate(objects)], k=K)
    pairs = [(row, int(near)) for row, code in enumerate(objects) for near in index.get_near_dups(code)]
    return np.array([pair for pair in pairs if pair[0] < pair[1]], dtype=np.int64).reshape(-1, 2)


def _numbers(pairs: Pairs, count: int) -> Pairs:
    return pairs[:, 0] * count + pairs[:, 1]


if __name__ == "__main__":
    main()
