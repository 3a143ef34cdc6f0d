"""Joining a million documents by 32 keys each in little memory, compared with DuckDB.

Keys are random numbers of 30 bits; one document in ten shares six keys with another. Both start from the same keys and
may use {memory} MB; each runs in its own process, imports included.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from benchmarks.measuring import peak
from benchmarks.tables import Table

DOCUMENTS, BANDS, SHARED = 1_000_000, 32, 6
MEMORY = 256
_AT_ONCE = 10_000
_BYTES_A_NUMBER = 128  # as es_simhash.groups.corpus reckons
__doc__ = __doc__.format(memory=MEMORY)

Keys = npt.NDArray[np.uint32]


def run(share: float = 1.0) -> list[Table]:
    """Measure time, memory and number of pairs of each."""
    documents = int(DOCUMENTS * share)
    table = Table(
        f"{documents:,} documents of {BANDS} keys, {MEMORY} MB",
        ["", "CPU s", "wall s", "peak memory, MB", "pairs"],
    )
    for label, arguments in (
        ("es_simhash", ["es_simhash"]),
        ("DuckDB, 2 threads", ["duckdb", "2"]),
        ("DuckDB, 1 thread", ["duckdb", "1"]),
    ):
        command = [sys.executable, "-m", "benchmarks.key_join", str(documents), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            table.add(label, *[done.stderr.strip().splitlines()[-1]], *[""] * 3)
            continue
        found = json.loads(done.stdout)
        table.add(
            label, f"{found['cpu']:.1f}", f"{found['wall']:.1f}", f"{found['peak'] / 1000:.0f}", f"{found['pairs']:,}"
        )
    return [table]


def _keys(documents: int) -> Iterator[Keys]:
    """Draw the keys of documents in batches; one document in ten shares keys with the one before it."""
    rng = np.random.default_rng(documents)
    for start in range(0, documents, _AT_ONCE):
        keys = rng.integers(0, 1 << 30, (min(_AT_ONCE, documents - start), BANDS), dtype=np.uint32)
        keys[9::10, :SHARED] = keys[8::10, :SHARED][: len(keys[9::10])]
        yield keys


def _by_es_simhash(documents: int) -> int:
    from es_simhash.groups.pairs.candidates import Candidates, Linker, entries
    from es_simhash.groups.pairs.stored_rows import Columns, Numbers, Spools, sorted_pieces

    numbers = (MEMORY << 20) // _BYTES_A_NUMBER
    with tempfile.TemporaryDirectory() as folder, Spools(MEMORY << 18, folder) as spools:
        kept = Columns(spools, BANDS, np.uint32)
        for keys in _keys(documents):
            kept.append(keys)

        def table(band: int) -> Iterator[Numbers]:
            first = 0
            for column in kept.columns([band]):
                yield entries(column, first)
                first += len(column)

        candidates, linker = Candidates(spools, numbers), Linker(32, 2)
        for band in range(BANDS):
            for codes in linker.pairs(sorted_pieces(table(band), spools, numbers, linker.grain), band):
                candidates.add(codes)
        return sum(len(some.codes) for some in candidates.distinct())


def _by_duckdb(documents: int, threads: str) -> int:
    import duckdb
    import pyarrow as pa

    with tempfile.TemporaryDirectory() as folder:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": f"{MEMORY}MB",
            "threads": threads,
            "temp_directory": folder,
        }
        connection = duckdb.connect(f"{folder}/keys.db", config=settings)
        connection.execute("SET preserve_insertion_order = false")
        connection.execute("CREATE TABLE keys (entry UBIGINT, document UINTEGER)")
        first = 0
        for keys in _keys(documents):
            bands = np.broadcast_to(np.arange(BANDS, dtype=np.uint64) << np.uint64(32), keys.shape)
            rows = np.repeat(np.arange(first, first + len(keys), dtype=np.uint32), BANDS)
            batch = pa.table({"entry": (bands | keys).ravel(), "document": rows})
            connection.register("batch", batch)
            connection.execute("INSERT INTO keys SELECT entry, document FROM batch")
            connection.unregister("batch")
            first += len(keys)
        [[pairs]] = connection.execute(
            "SELECT count(*) FROM (SELECT DISTINCT a.document, b.document FROM keys a JOIN keys b "
            "ON a.entry = b.entry AND a.document < b.document)"
        ).fetchall()
        return int(pairs)


def main() -> None:
    """Run one contender in this process."""
    documents, contender, *arguments = sys.argv[1:]
    joins: dict[str, Callable[..., int]] = {"es_simhash": _by_es_simhash, "duckdb": _by_duckdb}
    cpu, wall = time.process_time(), time.perf_counter()
    pairs = joins[contender](int(documents), *arguments)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    print(json.dumps({"cpu": cpu, "wall": wall, "peak": peak(), "pairs": pairs}))


if __name__ == "__main__":
    main()
