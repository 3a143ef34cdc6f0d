"""Memory of a fresh process that fingerprints a file of 5 GB line by line."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.corpora import english
from benchmarks.measuring import peak
from benchmarks.tables import Table

GIGABYTES, GIGABYTE = 5, 1_000_000_000


def run(share: float = 1.0) -> list[Table]:
    """Make the file, fingerprint it in a process of its own, and remove it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts"
        lines = _write(path, int(GIGABYTES * share * GIGABYTE))
        table = Table(
            f"Memory for a file of {GIGABYTES * share:g} GB",
            ["", "documents", "peak, MB", "peak above the imports, MB", "wall s"],
            "Default scheme; each line is an English document of 1.5 kB.",
        )
        for name, native in (("numpy", "0"), ("compiled", "1")):
            command = [sys.executable, "-m", "benchmarks.memory", str(path)]
            start = time.perf_counter()
            done = subprocess.run(
                command, check=True, capture_output=True, text=True, env=os.environ | {"ES_SIMHASH_NATIVE": native}
            )
            before, after = map(int, done.stdout.split())
            seconds = time.perf_counter() - start
            table.add(name, f"{lines:,}", f"{after / 1024:.0f}", f"{(after - before) / 1024:.0f}", f"{seconds:.0f}")
        return [table]


def _write(path: Path, size: int) -> int:
    """Write numbered lines until the file has ``size`` bytes."""
    texts = english(2_000)
    written = lines = 0
    with path.open("w", encoding="ascii") as file:
        while written < size:
            written += file.write(f"{lines} {texts[lines % len(texts)]}\n")
            lines += 1
    return lines


def _fingerprint(path: str) -> None:
    from es_simhash import Scheme

    scheme = Scheme.preset("default")
    before = peak()

    def lines() -> Iterator[str]:
        with Path(path).open(encoding="ascii") as file:
            yield from file

    for _ in scheme.fingerprint_batches(lines()):
        pass
    print(before, peak())


if __name__ == "__main__":
    _fingerprint(sys.argv[1])
