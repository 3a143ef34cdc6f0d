"""Groups of {tenants:,} tenants in one run, compared with groups of the same index without a scope.

Documents of {sizes} are those of *Grouping* on OpenSearch, and belong to random tenants, sources and days of a year. A
tenth are near copies of another of the same tenant, from another source and at most a day later. One key of
grouping is that of one of {templates} templates, which documents of all tenants share, as boilerplate would. Estimates
decide. Each run is a process of its own; {rounds} of each, in turns, and the least CPU time of the client counts.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.grouping import group_into
from benchmarks.million import BATCH, Million, lines_of, mapping_of_keys
from benchmarks.nodes import SETTINGS, Json, Server, running
from benchmarks.scale_model import tables
from benchmarks.tables import Table
from es_simhash import Index, Scope
from es_simhash.groups.options import GroupOptions

INDEX = "scopes"
COUNT, TENANTS, SOURCES, TEMPLATES, ROUNDS = 1_000_000, 1_000, 50, 200, 3
__doc__ = __doc__.format(tenants=TENANTS, sizes="a million", templates=TEMPLATES, rounds=ROUNDS)
_START, _DAY = 1_767_225_600_000, 86_400_000
_WINDOW = timedelta(days=3)
SCOPES: dict[str, Scope | None] = {
    "all documents": None,
    "within a tenant": Scope(("tenant",)),
    "within a tenant and 3 days": Scope(("tenant",), (), _WINDOW, "at"),
    "within a tenant, across sources": Scope(("tenant",), ("source",)),
    "within 3 days": Scope((), (), _WINDOW, "at"),
}


@dataclass(frozen=True)
class Owned:
    """Fingerprints with templates, and the tenant, source and time of each document, by its place."""

    million: Million
    tenants: npt.NDArray[np.int64]
    sources: npt.NDArray[np.int64]
    times: npt.NDArray[np.int64]

    @classmethod
    def random(cls, count: int) -> Owned:
        """Draw documents."""
        million, rng = Million.random(count, count // 10), np.random.default_rng(12)
        originals, copies = million.pairs.T
        key = list(tables()[0])
        frames = rng.integers(0, 1 << 32, (TEMPLATES, len(key)), dtype=np.uint32)
        million.signatures[:, key] = frames[rng.integers(0, TEMPLATES, count)]
        million.signatures[np.ix_(copies, key)] = million.signatures[np.ix_(originals, key)]
        tenants, sources = rng.integers(0, TENANTS, count), rng.integers(0, SOURCES, count)
        times = _START + rng.integers(0, 365 * _DAY, count)
        tenants[copies] = tenants[originals]
        sources[copies] = (sources[originals] + rng.integers(1, SOURCES, len(copies))) % SOURCES
        times[copies] = times[originals] + rng.integers(0, _DAY, len(copies))
        return cls(million, tenants, sources, times)

    def batches(self) -> Iterator[list[Json]]:
        """Yield the documents in batches."""
        first = 0
        for batch in self.million.batches():
            for place, document in enumerate(batch, first):
                document["tenant"] = f"tenant {self.tenants[place]}"
                document["source"] = f"source {self.sources[place]}"
                document["at"] = int(self.times[place])
            yield batch
            first += len(batch)


def run(share: float = 1.0) -> Iterator[Table]:
    """Group in each scope, in turns."""
    table = Table(
        "Grouping in scopes",
        [
            "pairs",
            "reading, CPU s",
            "all else, CPU s",
            "× of all documents",
            "peak, MB",
            "pairs compared",
            "planted groups found, %",
            "groups of several tenants",
        ],
    )
    owned = Owned.random(int(COUNT * share))
    with running("opensearch") as server, tempfile.TemporaryDirectory() as folder:
        _fill(server, owned)
        found: dict[str, list[list[float]]] = {name: [] for name in SCOPES}
        for _ in range(ROUNDS):
            for name in SCOPES:
                command = [sys.executable, "-m", "benchmarks.scopes", server.url, name, str(Path(folder) / name)]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                found[name].append(json.loads(done.stdout))
        whole = min(sum(each[:2]) for each in found["all documents"])
        for name, rounds in found.items():
            _add(table, name, min(rounds, key=lambda each: sum(each[:2])), whole, owned, Path(folder) / name)
        server.delete(INDEX)
    yield table


def _fill(server: Server, owned: Owned) -> None:
    mapping = mapping_of_keys()
    mapping["properties"] |= {"tenant": {"type": "keyword"}, "source": {"type": "keyword"}, "at": {"type": "date"}}
    server.http("PUT", f"/{INDEX}", {"settings": {"index": SETTINGS}, "mappings": mapping})
    for number, batch in enumerate(owned.batches()):
        server.http.send("POST", f"/{INDEX}/_bulk?filter_path=errors", lines_of(number * BATCH, batch))
    server.http("POST", f"/{INDEX}/_refresh")


def _add(table: Table, name: str, measured: list[float], whole: float, owned: Owned, path: Path) -> None:
    reading, rest, peak, compared = measured
    groups = {frozenset(json.loads(line)) for line in path.read_text(encoding="ascii").splitlines()}
    planted = {frozenset(map(str, pair)) for pair in owned.million.pairs.tolist()}
    mixed = sum(len({int(owned.tenants[int(id_)]) for id_ in group}) > 1 for group in groups)
    table.add(
        *(name, f"{reading:.1f}", f"{rest:.1f}", f"{(reading + rest) / whole:.2f}", f"{peak:.0f}", f"{compared:,.0f}"),
        *(f"{100 * len(groups & planted) / len(planted):.2f}", f"{mixed:,}"),
    )


def _alone(url: str, name: str, path: str) -> None:
    """Group the index in a process of its own, and print what that takes of the processor."""
    index = Index(INDEX, Server("opensearch", url).client)
    print(json.dumps(group_into(path, index, GroupOptions(estimate=True, scope=SCOPES[name]), time.process_time)))


if __name__ == "__main__":
    _alone(*sys.argv[1:])
