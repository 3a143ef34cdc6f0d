"""Grouping a whole index on OpenSearch, compared with one ``find`` per document.

Documents hold the fields of the default scheme, but no text: SimHashes and signatures are random, and a tenth are near
copies of another; estimates decide. Grouping runs in its own process with the default memory; the mean of {finds} finds
is multiplied by the number of documents. Client and server share the machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks import incremental, online_groups
from benchmarks.measuring import peak
from benchmarks.million import BATCH, INDEX, Million, lines_of, mapping_of_keys
from benchmarks.nodes import SETTINGS, Server, running
from benchmarks.tables import Table
from es_simhash import Index
from es_simhash.groups.options import GroupOptions
from es_simhash.plans.operations import Refresh

SIZES, FINDS = (100_000, 300_000, 1_000_000), 300
__doc__ = __doc__.format(finds=FINDS)


def run(share: float = 1.0, sizes: Sequence[int] = SIZES) -> Iterator[Table]:
    """Group indices of several sizes, and again after new documents; then as documents come."""
    table = Table(
        "Grouping by size",
        [
            "documents",
            "reading, s",
            "all else, s",
            "peak, MB",
            "one find, ms",
            "× of a find for each",
            "planted groups found, %",
            "other groups",
        ],
        "By MinHash. `× of a find for each` is the time of grouping divided by that of all finds.",
    )
    with running("opensearch") as server:
        for size in sizes:
            _measure(server, int(size * share), table)
        yield table
        yield incremental.measure(server, share, sizes)
    yield online_groups.measure(share)


def _measure(server: Server, count: int, table: Table) -> None:
    million = Million.random(count, count // 10)
    server.http("PUT", f"/{INDEX}", {"settings": {"index": SETTINGS}, "mappings": mapping_of_keys()})
    for number, batch in enumerate(million.batches()):
        server.http.send("POST", f"/{INDEX}/_bulk?filter_path=errors", lines_of(number * BATCH, batch))
    server.http("POST", f"/{INDEX}/_refresh")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "groups"
        command = [sys.executable, "-m", "benchmarks.grouping", server.url, str(path)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        reading, rest, peak = json.loads(done.stdout)
        groups = {frozenset(json.loads(line)) for line in path.read_text(encoding="ascii").splitlines()}
    one = _find(server, million)
    planted = {frozenset(map(str, pair)) for pair in million.pairs.tolist()}
    table.add(
        *(f"{count:,}", f"{reading:.1f}", f"{rest:.1f}", f"{peak:.0f}", f"{1000 * one:.2f}"),
        f"1/{one * count / (reading + rest):.0f}",
        f"{100 * len(groups & planted) / len(planted):.2f}",
        f"{len(groups - planted):,}",
    )
    server.delete(INDEX)


def _find(server: Server, million: Million) -> float:
    """Measure the mean time of finding by id, in seconds."""
    index = Index(INDEX, server.client)
    ids = [str(place) for place in range(0, len(million.simhashes), len(million.simhashes) // FINDS)]
    for id_ in ids[:50]:
        index.find(id=id_, estimate=True)
    start = time.perf_counter()
    for id_ in ids:
        index.find(id=id_, estimate=True)
    return (time.perf_counter() - start) / len(ids)


def group_into(path: str, index: Index, options: GroupOptions, clock: Callable[[], float]) -> list[float]:
    """Group an index into a file; return seconds of reading, seconds of the rest, megabytes, and pairs compared."""
    index.engine.perform(Refresh(index.name))
    read = start = clock()

    def reading(done: int) -> None:
        nonlocal read
        read = clock()

    with index.group(**vars(options), on_progress=reading) as grouped, Path(path).open("w", encoding="ascii") as out:
        compared = grouped.counts.compared
        for group in grouped:
            out.write(json.dumps([member.id for member in group.members]) + "\n")
    return [read - start, clock() - read, peak() / 1024, compared]


def _alone(url: str, path: str) -> None:
    """Group the index in a process of its own, and print what that takes."""
    index = Index(INDEX, Server("opensearch", url).client)
    print(json.dumps(group_into(path, index, GroupOptions(estimate=True), time.perf_counter)[:3]))


if __name__ == "__main__":
    _alone(*sys.argv[1:])
