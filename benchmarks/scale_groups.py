"""Grouping of generated fingerprints of 152 bytes, which no index holds, in {memory} of memory.

{share:.0%} are in planted groups of 2 to 1,000 that agree in four fifths of their values; 1% share a key and nothing
else. `beyond them` is the most that files took in addition to the fingerprints.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import numpy as np

from benchmarks.measuring import peak
from benchmarks.planted_fingerprints import KINDS, Planted
from benchmarks.tables import Table
from es_simhash import Scheme
from es_simhash.groups.corpus import default_threads, link
from es_simhash.groups.pairs.compare import Comparison
from es_simhash.groups.pairs.fingerprint_store import FingerprintStore, settings_needed
from es_simhash.groups.pairs.stored_rows import KeptStages, Spools
from es_simhash.scheme.query import Criteria

SIZES = (1_000_000, 10_000_000, 100_000_000)
MEMORY = 2 << 30
# So much memory holds all fingerprints of the sizes that are compared with.
AMPLE, IN_MEMORY = 64 << 30, 10_000_000
__doc__ = __doc__.format(memory=f"{MEMORY >> 30} GiB", share=sum(kind.share for kind in KINDS))

Figures = dict[str, float]


def run(share: float = 1.0, sizes: Sequence[int] = SIZES) -> Iterator[Table]:
    """Group generated documents, each size in a process of its own."""
    table = Table(
        "Grouping of generated fingerprints",
        [
            *("documents", "writing fingerprints, s", "grouping, s", "µs a document", "peak, MB"),
            *("fingerprints, GB", "beyond them, GB", "pairs compared", "planted groups found, %", "other groups"),
            "as in memory",
        ],
        "By MinHash, estimated.",
    )
    for size in sizes:
        count = int(size * share)
        with tempfile.TemporaryDirectory() as folder:
            found = _child(count, MEMORY, folder)
            same = _is_same(count, found, folder) if count <= IN_MEMORY else ""
        table.add(
            *(f"{count:,}", f"{found['written']:.1f}", f"{found['grouped']:.1f}"),
            f"{1e6 * found['grouped'] / count:.2f}",
            f"{found['peak'] / 1024:.0f}",
            *(f"{found[name] / 1e9:.2f}" for name in ("fingerprints", "beyond")),
            f"{found['compared']:,.0f}",
            f"{100 * found['found'] / found['planted']:.4f}",
            f"{found['others']:,.0f}",
            same,
        )
    yield table


def _child(count: int, memory: int, folder: str, *, kept: bool = True) -> Figures:
    command = [sys.executable, "-m", "benchmarks.scale_groups", str(count), folder, "--memory", str(memory)]
    done = subprocess.run([*command, *(["--kept"] if kept else [])], check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout))


def _is_same(count: int, found: Figures, folder: str) -> str:
    alone = _child(count, AMPLE, folder, kept=False)
    return "yes" if all(alone[name] == found[name] for name in ("firsts", "pairs", "left_out", "compared")) else "NO"


def grouped(count: int, memory: int, folder: Path, *, kept: bool) -> Figures:
    """Write fingerprints, group them, and compare the groups with those that were planted."""
    planted, scheme = Planted(count), Scheme()
    criteria = Criteria.of(scheme, "minhash", None, None, None)
    settings = replace(settings_needed(scheme, criteria), simhash=scheme.simhash)
    stages = None
    if kept:
        stages = KeptStages(folder / "stages")
        stages.begin({"documents": count})
    with Spools(memory // 32, folder, stages) as spools, _disk_watched(folder) as disk:
        start = time.perf_counter()
        store = FingerprintStore(settings, spools, 8)
        for batch in planted.batches():
            store.add(batch)
        store.complete()
        disk["fingerprints"] = _bytes_in(folder)
        written = time.perf_counter()
        comparison = Comparison(store, criteria, None, default_threads())
        links = link(store, criteria, comparison, memory, spools)
        groups = links.union.groups()
        done = time.perf_counter()
        figures = {"written": written - start, "grouped": done - written, "peak": peak()}
        figures |= {"compared": comparison.compared, "left_out": links.left_out, "pairs": len(links.pairs)}
        spools.stages.remove()
    firsts = groups.firsts
    expected = planted.firsts
    return figures | {
        "fingerprints": disk["fingerprints"],
        "beyond": disk["most"] - disk["fingerprints"],
        "firsts": int((firsts.astype(np.uint64) * np.arange(1, count + 1, dtype=np.uint64)).sum()),
        **_compared(firsts, expected),
    }


def _compared(firsts: np.ndarray, expected: np.ndarray) -> Figures:
    """Count planted groups, those found whole, and groups that were not planted."""
    count = len(expected)
    sizes, others = (np.bincount(each, minlength=count) for each in (expected, firsts))
    differ = np.zeros(count, dtype=np.bool_)
    differ[expected[firsts != expected]] = True
    are_planted = sizes > 1
    whole = are_planted & ~differ & (sizes == others)
    return {
        "planted": int(are_planted.sum()),
        "found": int(whole.sum()),
        "others": int(((others > 1) & ~whole).sum()),
    }


@contextmanager
def _disk_watched(folder: Path) -> Iterator[dict[str, int]]:
    """Note the most bytes that files of a folder take, those without a name included."""
    seen, stop = {"most": 0}, Event()

    def watch() -> None:
        while not stop.wait(0.2):
            seen["most"] = max(seen["most"], _bytes_in(folder))

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join()


def _bytes_in(folder: Path) -> int:
    found = {}
    for descriptor in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            if os.readlink(f"/proc/self/fd/{descriptor}").startswith(str(folder)):
                stat = os.fstat(int(descriptor))
                found[stat.st_ino] = stat.st_blocks * 512
    return sum(found.values())


def main() -> None:
    """Group generated documents in this process, and print what that takes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--memory", type=int, default=MEMORY)
    parser.add_argument("--kept", action="store_true")
    options = parser.parse_args()
    print(json.dumps(grouped(options.count, options.memory, options.folder, kept=options.kept)))


if __name__ == "__main__":
    main()
