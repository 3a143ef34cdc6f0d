"""Groups on Spark, `local[2]`, alongside one process on the same machine: from Parquet files to a file of groups.

Texts are of 1.3 kB, one in six a near copy of another with 1 to 10% of its words replaced. Skew is measured among
documents given by their fields, a tenth near copies of another, once as they are, and once where {shared:.0%} share
one key and nothing else. Runs are processes with their start; medians of {rounds}.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.corpora import topical
from benchmarks.dedup import with_near_copies
from benchmarks.machine_load import Reading
from benchmarks.million import Million
from benchmarks.tables import Table
from es_simhash import Documents, Scheme, dedup

SIZES, ROUNDS, SHARED = (1_000_000,), 3, 0.05
__doc__ = __doc__.format(rounds=ROUNDS, shared=SHARED)
SCHEME = Scheme()
_PART, _LENGTH = 50_000, 1300
_SPARK: dict[str, bool | float | int | str | None] = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "4g",
    "spark.sql.shuffle.partitions": "16",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def run(share: float = 1.0, sizes: Sequence[int] = SIZES) -> Iterator[Table]:
    """Compare Spark with one process, then documents that share a key with those that do not."""
    peers = Table("Texts", ["", "wall s", "CPU s", "× one process", "groups", "as by one process"])
    skew = Table("One key that many share", ["", "wall s", "CPU s", "× none", "groups"])
    for size in sizes:
        count = int(size * share)
        with tempfile.TemporaryDirectory() as folder:
            _compare(count, Path(folder), peers)
        with tempfile.TemporaryDirectory() as folder:
            _skew(count, Path(folder), skew)
    yield peers
    yield skew


def _compare(count: int, folder: Path, table: Table) -> None:
    _write_texts(count, folder / "texts.parquet")
    ways = {"one process": "alone", "Spark": "texts"}
    walls, cpu = _in_turns({name: (way, folder / "texts.parquet", folder / way) for name, way in ways.items()})
    groups = {name: _groups_in(folder / way) for name, way in ways.items()}
    for name in ways:
        same = "" if name == "one process" else "yes" if groups[name] == groups["one process"] else "NO"
        _add(table, f"{count:,}, {name}", walls[name], cpu[name], walls["one process"], len(groups[name]), same)


def _skew(count: int, folder: Path, table: Table) -> None:
    ways = {"no such key": 0.0, f"{SHARED:.0%} share a key": SHARED}
    for name, shared in ways.items():
        _write_fields(count, shared, folder / f"{name}.parquet")
    walls, cpu = _in_turns({name: ("fields", folder / f"{name}.parquet", folder / name) for name in ways})
    for name in ways:
        _add(table, f"{count:,}, {name}", walls[name], cpu[name], walls["no such key"], len(_groups_in(folder / name)))


def _add(table: Table, name: str, wall: float, cpu: float, base: float, *others: object) -> None:
    cells = [f"{each:,}" if isinstance(each, int) else each for each in others]
    table.add(name, f"{wall:.1f}", f"{cpu:.1f}", f"{wall / base:.2f}", *cells)


def _in_turns(ways: dict[str, tuple[str, Path, Path]]) -> tuple[dict[str, float], dict[str, float]]:
    """Return the median wall and CPU times of each way; its processes start Java and workers, which count."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, (way, *paths) in ways.items():
            before = Reading.now()
            subprocess.run([sys.executable, "-m", "benchmarks.spark", way, *map(str, paths)], check=True)
            after = Reading.now()
            times[name].append((after.at - before.at, after.ours_since(before)))
    walls, cpus = ({name: statistics.median(each[n] for each in some) for name, some in times.items()} for n in (0, 1))
    return walls, cpus


# --- documents ---


def _write_texts(count: int, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([("id", pa.string()), ("body", pa.string())])
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, count, _PART):
            size = min(_PART, count - first)
            originals = [text.split(" ") for text in topical(size * 5 // 6, _LENGTH, seed=first)]
            texts, _ = with_near_copies(originals, " ", size)
            writer.write_batch(pa.record_batch([_ids(first, size), texts], schema=schema))


def _write_fields(count: int, shared: float, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    assert SCHEME.minhash
    million = Million.random(count, count // 10)
    chosen = np.random.default_rng(5).permutation(count)[: int(count * shared)]
    million.signatures[chosen, : SCHEME.minhash.rows] = 0
    names = [(name, pa.string()) for name in Documents(SCHEME, "key").names]
    schema = pa.schema([("id", pa.string()), ("dedup", pa.struct(names))])
    with pq.ParquetWriter(path, schema) as writer:
        first = 0
        for batch in million.batches():
            columns = [_ids(first, len(batch)), [each["dedup"] for each in batch]]
            arrays = [pa.array(column, type=field.type) for column, field in zip(columns, schema, strict=True)]
            writer.write_batch(pa.record_batch(arrays, schema=schema))
            first += len(batch)


def _ids(first: int, count: int) -> list[str]:
    """Name documents so that they are in the order of their ids."""
    return [f"{place:09}" for place in range(first, first + count)]


def _groups_in(path: Path) -> set[frozenset[str]]:
    import pyarrow.parquet as pq

    groups: dict[str, list[str]] = {}
    table = pq.read_table(path, columns=["group", "id"])
    for group, id_ in zip(table["group"].to_pylist(), table["id"].to_pylist(), strict=True):
        groups.setdefault(group, []).append(id_)
    return set(map(frozenset, groups.values()))


# --- a process ---


def _alone(source: str, target: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    def documents() -> Iterator[tuple[str, str]]:
        for batch in pq.ParquetFile(source).iter_batches():
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    with dedup(documents(), scheme=SCHEME) as found:
        rows = [(group[0], id_) for group in found.ids() for id_ in group]
    groups, ids = zip(*rows, strict=True) if rows else ((), ())
    pq.write_table(pa.table({"group": pa.array(groups, pa.string()), "id": pa.array(ids, pa.string())}), target)


def _texts(source: str, target: str) -> None:
    _on_spark(source, target, lambda of, frame: of.of_texts(frame))


def _fields(source: str, target: str) -> None:
    _on_spark(source, target, lambda of, frame: of.of_fields(frame))


def _on_spark(source: str, target: str, find: Callable[[Any, Any], Any]) -> None:
    from pyspark.sql import SparkSession

    from es_simhash.integrations.spark import SparkDeduplicator

    with tempfile.TemporaryDirectory(dir=Path(target).parent) as folder:
        os.environ["PYSPARK_PYTHON"] = sys.executable
        spark = SparkSession.builder.master("local[2]").config(map=_SPARK | {"spark.local.dir": folder}).getOrCreate()
        spark.sparkContext.setLogLevel("OFF")
        of = SparkDeduplicator(Documents(SCHEME, "body"))
        find(of, spark.read.parquet(source)).groups.write.mode("overwrite").parquet(target)
        gateway: Any = spark.sparkContext._gateway
        spark.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()  # then Java ends; what it took counts once it is waited for
        gateway.proc.wait()


WAYS: dict[str, Callable[[str, str], None]] = {"alone": _alone, "texts": _texts, "fields": _fields}

if __name__ == "__main__":
    WAYS[sys.argv[1]](*sys.argv[2:])
