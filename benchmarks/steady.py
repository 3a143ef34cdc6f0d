"""How much latency jumps: {finds:,} finds while others write into the index, and the first ones of a process.

Another process writes {rate} of the {documents:,} documents of 1.3 kB anew each second, and the server refreshes each
second. Both ways search for the same texts in turns.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import median

from benchmarks.corpora import topical
from benchmarks.measuring import Latency, in_turns
from benchmarks.nodes import SERVERS, Server, running
from benchmarks.tables import Table
from benchmarks.ways import COMPARED, MoreLikeThis, Ours, Way
from es_simhash import Index

DOCUMENTS, LENGTH, FINDS, WARM_UP = 20_000, 1300, 10_000, 500
AT_ONCE, PAUSE = 50, 0.25
# Calls that take longer than this multiple of the median are counted.
LATE = 4
PROCESSES, NEXT = 5, 200
__doc__ = __doc__.format(finds=FINDS, documents=DOCUMENTS, rate=int(AT_ONCE / PAUSE))


def run(share: float = 1.0) -> Iterator[Table]:
    """Measure on both servers."""
    texts = topical(int(DOCUMENTS * share), LENGTH)
    first = Table("First finds", ["", "first find of a process, ms", f"p50 of the next {NEXT}, ms"])
    for name, label in SERVERS.items():
        with running(name) as server:
            ways = [Ours(server, COMPARED, is_exact=True), MoreLikeThis(server, Ours.index)]
            _fill(server, ways[0], texts)
            first.add(label, *_first(server))
            queries = random.Random(7).choices(texts, k=int(FINDS * share) + WARM_UP)
            with _writing(server, len(texts)):
                asked = {way.name: way.find for way in ways}
                found = in_turns(asked, queries[WARM_UP:], 1, queries[:WARM_UP], server.cpu)
        yield _table(f"{len(queries) - WARM_UP:,} finds beside a writer, {label}", found)
    yield first


def _fill(server: Server, way: Way, texts: Sequence[str]) -> None:
    way.create(way.index)
    documents = ({"_id": str(place), "_source": {"body": text}} for place, text in enumerate(texts))
    server.fill(way.index, way.actions(way.index, documents))
    way.prepare()
    server.http("PUT", f"/{way.index}/_settings", {"index": {"refresh_interval": "1s"}})


def _table(title: str, found: dict[str, Latency]) -> Table:
    table = Table(title, ["", "p50, ms", "p90", "p99", "longest", "p99 × p50", f"more than {LATE} × p50"])
    for name, latency in found.items():
        times = latency.times
        table.add(
            *(name, *(latency.within(share) for share in (0.5, 0.9, 0.99))),
            *(f"{times.max():.1f}", latency.spread(0.99)),
            f"{int((times > LATE * latency.p50).sum()):,}",
        )
    return table


# --- other processes ---


@contextmanager
def _writing(server: Server, documents: int) -> Iterator[None]:
    """Write within the block, in another process."""
    command = [sys.executable, "-m", "benchmarks.steady", "write", server.name, server.url, str(documents)]
    with subprocess.Popen(command) as writer:
        try:
            yield
            if writer.poll() is not None:
                raise RuntimeError(f"The writer ended with {writer.returncode}.")
        finally:
            writer.kill()


def _write(name: str, url: str, documents: str) -> None:
    """Write some documents anew, again and again."""
    server, chosen = Server(name, url), random.Random(8)
    texts = topical(int(documents), LENGTH)
    index = Index(Ours.index, server.client)
    while True:
        places = chosen.sample(range(len(texts)), min(AT_ONCE, len(texts)))
        made = ({"_id": str(place), "_source": {"body": texts[place]}} for place in places)
        server.load(Ours.index, index.documents.actions(made))
        time.sleep(PAUSE)


def _first(server: Server) -> tuple[str, str]:
    """Return the median over processes of the first find, and of the next ones."""
    command = [sys.executable, "-m", "benchmarks.steady", "find", server.name, server.url]
    runs = [
        json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(PROCESSES)
    ]
    first, following = (median(times) for times in zip(*runs, strict=True))
    return f"{first:.1f}", f"{following:.2f}"


def _find(name: str, url: str) -> None:
    """Find some texts; print how long the first and the next ones took."""
    way = Ours(Server(name, url), COMPARED, is_exact=True)
    times = []
    for text in topical(NEXT + 1, LENGTH, seed=9):
        start = time.perf_counter()
        way.find(text)
        times.append((time.perf_counter() - start) * 1e3)
    print(json.dumps([times[0], median(times[1:])]))


if __name__ == "__main__":
    work: Callable[..., None] = _write if sys.argv[1] == "write" else _find
    work(*sys.argv[2:])
