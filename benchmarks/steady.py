"""How much latency jumps: {finds:,} finds while others write into the index, and the first ones of a process.

Another process writes {rate} of the {documents:,} documents of 1.3 kB again each second, and the server refreshes each
second. Both ways search for the same texts in turns.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from statistics import median

from benchmarks.corpora import topical
from benchmarks.measuring import Latency, in_turns, seconds
from benchmarks.nodes import SERVERS, Server, running
from benchmarks.tables import Table
from benchmarks.ways import COMPARED, MoreLikeThis, Ours, Way
from es_simhash import Index

DOCUMENTS, LENGTH, FINDS, WARM_UP = 20_000, 1300, 10_000, 500
AT_ONCE, PAUSE = 50, 0.25
# Calls that take longer than this multiple of the median are counted.
LATE = 4
PROCESSES, NEXT = 7, 200
__doc__ = __doc__.format(finds=FINDS, documents=DOCUMENTS, rate=int(AT_ONCE / PAUSE))


def run(share: float = 1.0) -> Iterator[Table]:
    """Measure on both servers."""
    texts = topical(int(DOCUMENTS * share), LENGTH)
    columns = ("first find of a process, ms", "warm_up, ms", "first find after it, ms", f"p50 of the next {NEXT}, ms")
    first = Table("First finds", ["", *columns])
    for name, label in SERVERS.items():
        with running(name) as server:
            ways = [Ours(server, COMPARED, is_exact=True), MoreLikeThis(server, Ours.index)]
            _fill(server, ways[0], texts)
            first.add(label, *_first(server, texts[: NEXT + 1]))
            queries = random.Random(7).choices(texts, k=int(FINDS * share) + WARM_UP)
            with _writing(server, len(texts)):
                asked = {way.name: way.find for way in ways}
                found = in_turns(asked, queries[WARM_UP:], 1, queries[:WARM_UP], server.cpu)
        yield _table(f"{len(queries) - WARM_UP:,} finds alongside a writer, {label}", found)
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
    """Write some documents again and again."""
    server, chosen = Server(name, url), random.Random(8)
    texts = topical(int(documents), LENGTH)
    index = Index(Ours.index, server.client)
    while True:
        places = chosen.sample(range(len(texts)), min(AT_ONCE, len(texts)))
        made = ({"_id": str(place), "_source": {"body": texts[place]}} for place in places)
        server.load(Ours.index, index.documents.actions(made))
        time.sleep(PAUSE)


def _first(server: Server, texts: Sequence[str]) -> list[str]:
    """Return medians over processes: of the first find, of ``warm_up`` and the first find after it, of the next."""
    runs = [_started(server, mode, texts) for mode in ("cold", "warm") * PROCESSES]
    cold, warm = (list(zip(*runs[first::2], strict=True)) for first in (0, 1))
    return [f"{median(times):.1f}" for times in (cold[1], *warm)]


def _started(server: Server, mode: str, texts: Sequence[str]) -> list[float]:
    """Run a process that finds texts."""
    command = [sys.executable, "-m", "benchmarks.steady", mode, server.name, server.url]
    done = subprocess.run(command, check=True, input=json.dumps(texts), stdout=subprocess.PIPE, text=True)
    found: list[float] = json.loads(done.stdout)
    return found


def _find(mode: str, name: str, url: str) -> None:
    """Find the texts of the input; print the milliseconds of ``warm_up``, of the first find, and of the next ones."""
    index, texts = Index(Ours.index, Server(name, url).client), json.load(sys.stdin)
    warming, _ = seconds(index.warm_up) if mode == "warm" else (0.0, 0.0)
    times = [seconds(partial(index.find, text))[0] for text in texts]
    print(json.dumps([1e3 * each for each in (warming, times[0], median(times[1:]))]))


if __name__ == "__main__":
    mode, *arguments = sys.argv[1:]
    if mode == "write":
        _write(*arguments)
    else:
        _find(mode, *arguments)
