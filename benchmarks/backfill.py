"""Speed of a backfill, compared with the same updates by ``parallel_bulk`` with values known beforehand.

English documents of 1.3 kB with a title and a body, one shard. A backfill, in a process of its own, reads them, makes
their fingerprints and writes each unless the document has changed since. ``parallel_bulk``, with 2 threads, updates the
same documents by their ids, with constant fields and with the right ones made beforehand. Ratios are those to the
constant updates just before, medians of {rounds} rounds; in brackets what {level:.0%} of other draws of the rounds
give. All end with a refresh. Client and server share two cores.
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
from benchmarks.intervals import LEVEL, over_rounds
from benchmarks.measuring import peak, seconds
from benchmarks.nodes import CHUNK, SERVERS, Json, Server, running
from benchmarks.tables import Table
from es_simhash import Index
from es_simhash.documents.documents import Documents
from es_simhash.live.backfill import BackfillOptions
from es_simhash.scheme.own_fields import DEFERRED

DOCUMENTS, ROUNDS, BRIEFLY = 30_000, 4, 10_000
SIZES = (100_000, 300_000, 1_000_000)
__doc__ = __doc__.format(rounds=ROUNDS, level=LEVEL)

INDEX, FIELDS = "documents", ("title", "body")
BACKFILLS = {
    "backfill": BackfillOptions(),
    "backfill, 2 slices": BackfillOptions(parallel=2),
}
_TEXTS = 20_000


class Cost(NamedTuple):
    """Wall and CPU seconds of a client, and the megabytes of its process."""

    wall: float
    cpu: float
    peak: float


def run(share: float = 1.0, sizes: Sequence[int] = SIZES) -> Iterator[Table]:
    """Measure on both servers."""
    texts = topical(min(_TEXTS, int(DOCUMENTS * share)))
    for name in SERVERS:
        yield _with_others(name, texts, int(DOCUMENTS * share))
    if sizes:
        yield _larger_and_larger("elasticsearch", texts, [int(size * share) for size in sizes])


def briefly() -> Iterator[Table]:
    """Measure one slice only, on fewer documents."""
    texts = topical(BRIEFLY)
    for name in SERVERS:
        yield _with_others(name, texts, BRIEFLY, ["backfill"])


def document(texts: Sequence[str], number: int) -> Json:
    """Make a document with a text of its own."""
    text = texts[number % len(texts)]
    return {"title": text[:60], "body": f"{number} {text}"}


def _fill(server: Server, texts: Sequence[str], count: int) -> Index:
    """Make an index of documents without fingerprints."""
    server.create(INDEX, {field: {"type": "text"} for field in FIELDS})
    server.fill(INDEX, ({"_id": str(i), "_source": document(texts, i)} for i in range(count)))
    server.http("POST", f"/{INDEX}/_refresh")
    index = Index(INDEX, server.client, scheme="default", fields=FIELDS)
    index.init()
    return index


# --- other writers


@dataclass(frozen=True)
class Ways:
    """Ways to bring the fields of fingerprints into an index."""

    server: Server
    index: Index
    texts: Sequence[str]
    count: int

    def constant(self) -> None:
        """Give all documents the same fields, marked as those of a text to be done later: each backfill does them."""
        [fields] = self._documents.fields_of([self.texts[0]])
        assert isinstance(fields, dict)
        self._update(repeat(fields | {"scheme": None, "status": DEFERRED}, self.count))

    def made_beforehand(self) -> Callable[[], None]:
        """Make all fields now; the result writes them."""
        documents = (document(self.texts, i) for i in range(self.count))
        made = [source[self._documents.prefix] for source in self._documents.add_fields_to_all(documents)]
        return lambda: self._update(made)

    def backfill(self, way: str) -> Cost:
        """Backfill the index as a user does."""
        return _backfilled(self.server, way, self.count)

    @property
    def _documents(self) -> Documents:
        return self.index.documents

    def _update(self, values: Iterable[Json]) -> None:
        prefix = self._documents.prefix
        actions = ({"_op_type": "update", "_id": str(i), "doc": {prefix: fields}} for i, fields in enumerate(values))
        helper = self.server.helpers.parallel_bulk
        deque(helper(self.server.client, actions, index=INDEX, chunk_size=CHUNK, thread_count=2), maxlen=0)


class Measured(NamedTuple):
    """A way's cost, the CPU seconds of the server, and those of the constant updates."""

    cost: Cost
    server: float
    constant: Cost
    constant_server: float


def _with_others(name: str, texts: Sequence[str], count: int, backfills: Iterable[str] = BACKFILLS) -> Table:
    table = Table(
        f"Backfilling an index of {SERVERS[name]}",
        [
            *("", "documents a second", "wall × constant values", "client CPU, µs a document"),
            *("server CPU × constant values", "peak, MB"),
        ],
        f"{count:,} documents.",
    )
    with running(name) as server:
        ways = Ways(server, _fill(server, texts, count), texts, count)
        made = ways.made_beforehand()
        tried: dict[str, Callable[[], Cost]] = {way: partial(ways.backfill, way) for way in backfills}
        tried["parallel_bulk, fields made beforehand"] = lambda: _here(made)
        _measured(ways, tried["backfill"])  # lets the server compile what it does often
        rounds = {label: list[Measured]() for label in tried}
        for number in range(ROUNDS):
            for label in _turned(list(tried), number):
                rounds[label].append(_measured(ways, tried[label]))
    constant = [each.constant for each in chain.from_iterable(rounds.values())]
    table.add(
        "parallel_bulk, constant values", *_rate_of(constant, count), "1.00", _cpu_of(constant, count), "1.00", ""
    )
    for label, times in rounds.items():
        costs = [each.cost for each in times]
        peaks = [each.peak for each in costs if each.peak]
        table.add(
            label,
            *_rate_of(costs, count),
            over_rounds([each.cost.wall / each.constant.wall for each in times]),
            _cpu_of(costs, count),
            over_rounds([each.server / each.constant_server for each in times]),
            f"{max(peaks):.0f}" if peaks else "",
        )
    return table


def _rate_of(costs: Sequence[Cost], count: int) -> list[str]:
    return [f"{count / median(cost.wall for cost in costs):,.0f}"]


def _cpu_of(costs: Sequence[Cost], count: int) -> str:
    return f"{1e6 * median(cost.cpu for cost in costs) / count:.0f}"


def _turned(labels: list[str], number: int) -> list[str]:
    """Rotate the labels, so that each round begins with another."""
    turn = number % len(labels)
    return labels[turn:] + labels[:turn]


def _measured(ways: Ways, way: Callable[[], Cost]) -> Measured:
    first = ways.server.cpu()
    constant = _refreshed(ways.server, lambda: _here(ways.constant))
    second = ways.server.cpu()
    cost = _refreshed(ways.server, way)
    return Measured(cost, ways.server.cpu() - second, constant, second - first)


def _refreshed(server: Server, way: Callable[[], Cost]) -> Cost:
    """Measure a way and the refresh after it."""
    cost = way()
    wall, cpu = seconds(lambda: server.http("POST", f"/{INDEX}/_refresh"))
    return cost._replace(wall=cost.wall + wall, cpu=cost.cpu + cpu)


def _here(work: Callable[[], object]) -> Cost:
    """Measure work in this process, whose memory says nothing."""
    return Cost(*seconds(work), 0.0)


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
            cost = _backfilled(server, "backfill", count)
            row = (f"{count / cost.wall:,.0f}", f"{100 * cost.cpu / cost.wall:.0f}", f"{cost.peak:.0f}")
            table.add(f"{count:,}", *row)
            server.delete(INDEX)
    return table


# --- a process of its own


def _backfilled(server: Server, way: str, count: int) -> Cost:
    """Backfill the index in another process."""
    command = [sys.executable, "-m", "benchmarks.backfill", server.name, server.url, way]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    written, *cost = json.loads(done.stdout)
    if written != count:
        raise RuntimeError(f"{way} wrote {written:,} of {count:,} documents.")
    return Cost(*cost)


def _alone(name: str, url: str, way: str) -> None:
    """Backfill the index; print the documents written, wall and CPU seconds, and megabytes."""
    index, options = Index(INDEX, Server(name, url).client), BACKFILLS[way]
    written = 0

    def backfill() -> None:
        nonlocal written
        written = index.backfill(**vars(options)).written

    wall, cpu = seconds(backfill)
    print(json.dumps([written, wall, cpu, peak() / 1024]))


if __name__ == "__main__":
    _alone(*sys.argv[1:])
