"""Speed of a backfill, compared with the same updates by ``parallel_bulk`` with values known beforehand.

English documents of 1.3 kB with a title and a body, one shard. A backfill reads them, makes their fingerprints and
writes each unless the document has changed since. ``parallel_bulk``, with 2 threads, updates the same documents by
their ids, with constant fields and with the right ones made beforehand. Ratios are those to the constant updates just
before, medians of {rounds} rounds; all end with a refresh. Client and server share two cores.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, repeat
from statistics import median
from typing import NamedTuple

from benchmarks.corpora import topical
from benchmarks.measuring import peak, seconds
from benchmarks.nodes import CHUNK, SERVERS, Json, Server, running
from benchmarks.tables import Table
from es_simhash import Index
from es_simhash.documents.documents import Documents
from es_simhash.live.backfill.options import BackfillOptions

DOCUMENTS, ROUNDS = 40_000, 3
SIZES = (100_000, 300_000, 1_000_000)
__doc__ = __doc__.format(rounds=ROUNDS)

INDEX, FIELDS = "documents", ("title", "body")
_TEXTS = 20_000


def run(share: float = 1.0) -> Iterator[Table]:
    """Measure on both servers."""
    texts = topical(min(_TEXTS, int(DOCUMENTS * share)))
    for name in SERVERS:
        yield _beside_others(name, texts, int(DOCUMENTS * share))
    yield _larger_and_larger("elasticsearch", texts, [int(size * share) for size in SIZES])


def document(texts: Sequence[str], number: int) -> Json:
    """Make a document with a text of its own."""
    text = texts[number % len(texts)]
    return {"title": text[:60], "body": f"{number} {text}"}


def _fill(server: Server, texts: Sequence[str], count: int) -> Index:
    """Make an index of documents without fingerprints."""
    server.create(INDEX, {field: {"type": "text"} for field in FIELDS})
    server.load(INDEX, ({"_id": str(i), "_source": document(texts, i)} for i in range(count)))
    server.http("POST", f"/{INDEX}/_refresh")
    index = Index(INDEX, server.client, scheme="default", fields=FIELDS)
    index.init()
    return index


# --- beside others


@dataclass(frozen=True)
class Ways:
    """Ways to bring the fields of fingerprints into an index."""

    server: Server
    index: Index
    texts: Sequence[str]
    count: int

    def constant(self) -> None:
        """Give all documents the same fields, of a scheme that does not exist."""
        [fields] = self._documents.fields_of([self.texts[0]])
        assert isinstance(fields, dict)
        self._update(repeat(fields | {"scheme": "constant"}, self.count))

    def made_beforehand(self) -> Callable[[], None]:
        """Make all fields now; the result writes them."""
        documents = (document(self.texts, i) for i in range(self.count))
        made = [source[self._documents.prefix] for source in self._documents.add_fields_to_all(documents)]
        return lambda: self._update(made)

    def backfill(self, slices: int) -> None:
        """Backfill the index as a user does."""
        done = self.index.backfill(BackfillOptions(parallel=slices))
        assert done.written == self.count, done

    @property
    def _documents(self) -> Documents:
        return self.index.documents

    def _update(self, values: Iterable[Json]) -> None:
        prefix = self._documents.prefix
        actions = ({"_op_type": "update", "_id": str(i), "doc": {prefix: fields}} for i, fields in enumerate(values))
        helper = self.server.helpers.parallel_bulk
        deque(helper(self.server.client, actions, index=INDEX, chunk_size=CHUNK, thread_count=2), maxlen=0)


class Measured(NamedTuple):
    """Seconds of a way: wall, CPU of the client and of the server, and those of the constant updates."""

    wall: float
    cpu: float
    server: float
    constant: float
    constant_server: float


def _beside_others(name: str, texts: Sequence[str], count: int) -> Table:
    table = Table(
        f"Backfilling an index of {SERVERS[name]}",
        [
            "",
            "documents a second",
            "wall × constant values",
            "client CPU, % of the wall",
            "server CPU × constant values",
        ],
        f"{count:,} documents.",
    )
    with running(name) as server:
        ways = Ways(server, _fill(server, texts, count), texts, count)
        tried: dict[str, Callable[[], None]] = {
            "backfill": lambda: ways.backfill(1),
            "backfill, 2 slices": lambda: ways.backfill(2),
            "parallel_bulk, fields made beforehand": ways.made_beforehand(),
        }
        _measured(ways, tried["backfill"])  # lets the server compile what it does often
        rounds = {label: list[Measured]() for label in tried}
        for number in range(ROUNDS):
            for label in _turned(list(tried), number):
                rounds[label].append(_measured(ways, tried[label]))
        constant = [each.constant for each in chain.from_iterable(rounds.values())]
        table.add("parallel_bulk, constant values", f"{count / median(constant):,.0f}", "1.00", "", "1.00")
        for label, times in rounds.items():
            rate = count / median(each.wall for each in times)
            ratio = median(each.wall / each.constant for each in times)
            share = median(each.cpu / each.wall for each in times)
            server_ratio = median(each.server / each.constant_server for each in times)
            table.add(label, f"{rate:,.0f}", f"{ratio:.2f}", f"{100 * share:.0f}", f"{server_ratio:.2f}")
    return table


def _turned(labels: list[str], number: int) -> list[str]:
    """Rotate the labels, so that each round begins with another."""
    turn = number % len(labels)
    return labels[turn:] + labels[:turn]


def _measured(ways: Ways, way: Callable[[], None]) -> Measured:
    first = ways.server.cpu()
    constant, _ = seconds(partial(_refreshed, ways.server, ways.constant))
    second = ways.server.cpu()
    wall, cpu = seconds(partial(_refreshed, ways.server, way))
    return Measured(wall, cpu, ways.server.cpu() - second, constant, second - first)


def _refreshed(server: Server, way: Callable[[], None]) -> None:
    way()
    server.http("POST", f"/{INDEX}/_refresh")


# --- larger and larger


def _larger_and_larger(name: str, texts: Sequence[str], sizes: Sequence[int]) -> Table:
    table = Table(
        f"Backfills by size, {SERVERS[name]}",
        ["documents", "documents a second", "client CPU, % of the wall", "peak, MB"],
        "Each in its own process, one slice.",
    )
    with running(name) as server:
        for count in sizes:
            _fill(server, texts, count)
            command = [sys.executable, "-m", "benchmarks.backfill", name, server.url]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            wall, cpu, peak = json.loads(done.stdout)
            table.add(f"{count:,}", f"{count / wall:,.0f}", f"{100 * cpu / wall:.0f}", f"{peak:.0f}")
            server.delete(INDEX)
    return table


def _alone(name: str, url: str) -> None:
    """Backfill the index; print wall and CPU seconds, and megabytes."""
    index = Index(INDEX, Server(name, url).client)
    wall, cpu = seconds(index.backfill)
    print(json.dumps([wall, cpu, peak() / 1024]))


if __name__ == "__main__":
    _alone(*sys.argv[1:])
