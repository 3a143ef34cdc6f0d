"""Groups of an index to which some documents were added: read whole, and read only where these may change them."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.million import BATCH, INDEX, Million, lines_of, mapping_of_keys
from benchmarks.nodes import SETTINGS, Server
from benchmarks.tables import Table
from es_simhash import Index
from es_simhash.plans.operations import Refresh

NEW, ROUNDS = 0.01, 3
WHOLE, ONLY_NEW = "whole", "--incremental"


def measure(server: Server, share: float, sizes: Sequence[int]) -> Table:
    """Group indices of several sizes after a hundredth of new documents."""
    table = Table(
        "Groups after new documents",
        [
            "documents",
            "run",
            "documents read",
            "s",
            "CPU s of the client",
            "of the server",
            "× of a whole run",
            "groups",
        ],
        f"Groups were written, then {NEW:.0%} more documents added, a tenth of them near copies of others. Neither run "
        f"writes. Each is a process of its own, in turns; the least of {ROUNDS} rounds.",
    )
    for size in sizes:
        _fill(server, int(size * share))
        runs: dict[str, list[list[float]]] = {WHOLE: [], ONLY_NEW: []}
        for _ in range(ROUNDS):
            for kind, found in runs.items():
                found.append(_timed(server, kind))
        whole, *_ = best = [min(found) for found in runs.values()]
        for kind, (seconds, client, on_server, read, groups) in zip(runs, best, strict=True):
            numbers = f"{seconds:.2f}", f"{client:.2f}", f"{on_server:.2f}", f"{seconds / whole[0]:.2f}"
            table.add(f"{int(size * share):,}", kind, f"{read:,.0f}", *numbers, f"{groups:,.0f}")
        server.delete(INDEX)
    return table


def _fill(server: Server, count: int) -> None:
    """Write documents and their groups, then a few more documents."""
    new = int(NEW * count)
    million = Million.random(count + new, (count + new) // 10)
    server.http("PUT", f"/{INDEX}", {"settings": {"index": SETTINGS}, "mappings": mapping_of_keys()})
    documents = (document for batch in million.batches() for document in batch)
    index, first = Index(INDEX, server.client), 0
    for stop in (count, count + new):
        while some := [document for _, document in zip(range(min(BATCH, stop - first)), documents, strict=False)]:
            server.http.send("POST", f"/{INDEX}/_bulk?filter_path=errors", lines_of(first, some))
            first += len(some)
        if stop == count:
            index.engine.perform(Refresh(INDEX))
            with index.group(estimate=True) as grouped:
                index.write_groups(grouped)
    index.engine.perform(Refresh(INDEX))


def _timed(server: Server, kind: str) -> list[float]:
    """Return the seconds of a run, its CPU seconds and those of the server, how many documents it read, and groups."""
    before = server.cpu()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "found"
        subprocess.run([sys.executable, "-m", "benchmarks.incremental", server.url, kind, str(path)], check=True)
        seconds, client, read, groups = json.loads(path.read_text(encoding="ascii"))
    return [seconds, client, server.cpu() - before, read, groups]


def _alone(url: str, kind: str, path: str) -> None:
    """Group the index in a process of its own."""
    index = Index(INDEX, Server("opensearch", url).client)
    index.engine.perform(Refresh(INDEX))
    read, start, client = 0, time.perf_counter(), time.process_time()

    def reading(done: int) -> None:
        nonlocal read
        read = done

    with index.group(estimate=True, incremental=kind == ONLY_NEW, on_progress=reading) as grouped:
        groups = sum(1 for _ in grouped)
    found = [time.perf_counter() - start, time.process_time() - client, read, groups]
    Path(path).write_text(json.dumps(found), encoding="ascii")


if __name__ == "__main__":
    _alone(*sys.argv[1:])
