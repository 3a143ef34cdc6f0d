"""Finding by MinHash among more and more documents, with the keys of the default scheme.

Documents are generated and hold the fields of `default` and a keyword, but no text; unrelated ones share keys about as
often as film reviews do. {planted} copies that are just as similar as the scheme asks for are searched for by their
originals: the request that `find` sends, and the comparison of what it returns, in all indices of a server in turns.
One shard: first with the segments that the server leaves, then merged to one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from benchmarks import generated_values
from benchmarks.generated_values import Numbers
from benchmarks.measuring import Latency, in_turns
from benchmarks.nodes import SERVERS, SETTINGS, Json, Server, running
from benchmarks.tables import Table
from es_simhash import Fingerprint, Fingerprints, Scheme
from es_simhash._core.prefetch import prefetched
from es_simhash.plans.candidates import FIRST_LIST, GROWTH
from es_simhash.scheme import own_fields, query, rerank
from es_simhash.scheme.mapping import DEFAULT_PREFIX
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.settings import MinHash
from es_simhash.sketches.shared_bands import by_chance, sharing

SIZES = (100_000, 1_000_000, 10_000_000)
PLANTED, ROUNDS, BATCH = 400, 5, 4_000
__doc__ = __doc__.format(planted=PLANTED)
LISTS = FIRST_LIST, FIRST_LIST * GROWTH
_WARM_UP = 100


@dataclass(frozen=True)
class Generated:
    """``count`` documents; the last ones are copies of others."""

    count: int
    scheme: Scheme = field(default_factory=Scheme)

    @property
    def minhash(self) -> MinHash:
        """The settings of the keys."""
        assert self.scheme.minhash
        return self.scheme.minhash

    @cached_property
    def criteria(self) -> Criteria:
        """What is found: estimates decide, as there are no texts."""
        return Criteria.of(self.scheme, "minhash")

    @cached_property
    def shared(self) -> int:
        """The number of keys that a candidate shares."""
        return query.shared_bands(self.minhash, self.criteria, self.count)

    @cached_property
    def index(self) -> str:
        """The name of the index."""
        return f"finding-{self.count}"

    @cached_property
    def planted(self) -> int:
        """The number of copies."""
        return min(PLANTED, self.count // 10)

    @cached_property
    def originals(self) -> Numbers:
        """The numbers of the documents that have copies."""
        return np.linspace(0, self.count - self.planted - 1, self.planted).astype(np.uint64)

    @cached_property
    def queries(self) -> list[Fingerprint]:
        """The fingerprints of the originals."""
        return list(self._fingerprints(self.originals, generated_values.signatures(self.originals, self._bands_size)))

    @cached_property
    def bodies(self) -> list[list[bytes]]:
        """The requests for the near-duplicates of each original, as `es_simhash.Index.find` sends them.

        The second asks for a longer list, where the first is full.
        """
        source = query.compared_fields(self.scheme, DEFAULT_PREFIX)
        found = []
        for fingerprint in self.queries:
            clauses = [
                query.clause(self.scheme, fingerprint, self.criteria, shared=self.shared, scored=scored)
                for scored in (False, True)
            ]
            sized = zip(clauses, LISTS, strict=True)
            found.append([json.dumps(query.body(each, size=size, source=source)).encode() for each, size in sized])
        return found

    def bulks(self) -> Iterator[bytes]:
        """Yield requests that index all documents; a thread makes the next."""
        unlike = self.count - self.planted
        starts = [np.arange(first, min(first + BATCH, unlike), dtype=np.uint64) for first in range(0, unlike, BATCH)]
        yield from prefetched(self._unlike, starts)
        values = generated_values.copies(self.originals, self._bands_size, self._similarity)
        yield self._lines(np.arange(unlike, self.count, dtype=np.uint64), values)

    def mapping(self) -> Json:
        """Return the mapping of the index."""
        mapping = self.scheme.mapping(DEFAULT_PREFIX, ["key"])
        return {**mapping, "properties": {**mapping["properties"], "key": {"type": "keyword"}}}

    @property
    def _bands_size(self) -> int:
        return self.minhash.layout.size

    @property
    def _similarity(self) -> float:
        return self.minhash.similarity

    def _unlike(self, numbers: Numbers) -> bytes:
        return self._lines(numbers, generated_values.signatures(numbers, self._bands_size))

    def _fingerprints(self, numbers: Numbers, values: np.ndarray) -> Fingerprints:
        """Give documents signatures with these first values, which are those that keys have."""
        whole = np.zeros((len(values), self.minhash.size), dtype=np.uint32)
        whole[:, : values.shape[1]] = values
        return Fingerprints(np.zeros(len(values), dtype=np.uint8), generated_values.words(numbers), whole)

    def _lines(self, numbers: Numbers, values: np.ndarray) -> bytes:
        keys = [f"key{number}" for number in numbers.tolist()]
        rows = own_fields.write(self.scheme, self.scheme.id, keys, self._fingerprints(numbers, values))
        lines = (
            f'{{"index":{{"_id":"{key[3:]}"}}}}\n{{"key":"{key}","{DEFAULT_PREFIX}":{json.dumps(row)}}}\n'
            for key, row in zip(keys, rows, strict=True)
        )
        return "".join(lines).encode()


@dataclass(frozen=True)
class Searched:
    """What searches of one index gave: their times, candidates by chance, the share of copies found, bytes."""

    find: Latency
    term: Latency
    by_chance: float
    found: float
    bytes: float


def run(share: float = 1.0, sizes: Sequence[int] = SIZES) -> Iterator[Table | None]:
    """Measure on both servers; others may use the machine while indices are filled, and while they are merged."""
    some = [Generated(int(size * share)) for size in sizes]
    found: list[Searched] = []
    with ExitStack() as nodes, ThreadPoolExecutor(len(SERVERS)) as at_once:
        servers = {label: nodes.enter_context(running(name)) for name, label in SERVERS.items()}
        for state, prepare in (("", _load), (", merged", _merge)):
            list(at_once.map(lambda server, ready=prepare: [ready(server, each) for each in some], servers.values()))
            yield None
            for label, server in servers.items():
                found = _searched(server, some)
                yield _latencies(f"Finding at scale on {label}{state}", some, found)
    yield _found(some, found)


def _load(server: Server, documents: Generated) -> None:
    server.http("PUT", f"/{documents.index}", {"settings": {"index": SETTINGS}, "mappings": documents.mapping()})
    for lines in documents.bulks():
        reply = json.loads(server.http.send("POST", f"/{documents.index}/_bulk?filter_path=errors", lines))
        if reply["errors"]:
            raise RuntimeError(f"Not all documents of {documents.index} were indexed.")
    for step in ("_refresh", "_flush"):
        server.http("POST", f"/{documents.index}/{step}")
    while _merges(server, documents.index):
        time.sleep(1)


def _merge(server: Server, documents: Generated) -> None:
    """Merge an index to one segment, which takes minutes."""
    path = f"/{documents.index}/_forcemerge?max_num_segments=1&wait_for_completion=false"
    task = server.http("POST", path)["task"]
    while not server.http("GET", f"/_tasks/{task}")["completed"]:
        time.sleep(1)
    server.http("POST", f"/{documents.index}/_refresh")


def _merges(server: Server, index: str) -> int:
    current: int = server.http("GET", f"/{index}/_stats/merge")["_all"]["total"]["merges"]["current"]
    return current


def _searched(server: Server, some: Sequence[Generated]) -> list[Searched]:
    ways: dict[str, Callable[[int], object]] = {}
    for each in some:
        ways[f"find {each.count}"] = _find(server, each)
        ways[f"term {each.count}"] = _term(server, each)
    places = range(min(each.planted for each in some))
    times = in_turns(ways, places[_WARM_UP:] or places, ROUNDS, places[:_WARM_UP])
    found = []
    for each in some:
        hits = [_find(server, each)(place) for place in range(each.planted)]
        first = each.count - each.planted
        is_found = [str(first + place) in ids for place, ids in enumerate(hits)]
        others = [len(ids - {str(first + place), str(each.originals[place])}) for place, ids in enumerate(hits)]
        size = server.size(each.index) / each.count
        latencies = times[f"find {each.count}"], times[f"term {each.count}"]
        found.append(Searched(*latencies, float(np.mean(others)), float(np.mean(is_found)), size))
    return found


def _find(server: Server, documents: Generated) -> Callable[[int], set[str]]:
    path, scheme = f"/{documents.index}/_search", documents.scheme

    def find(place: int) -> set[str]:
        for body, size in zip(documents.bodies[place], LISTS, strict=True):
            hits = json.loads(server.http.send("POST", path, body))["hits"]["hits"]
            if len(hits) < size:
                break
        compared = rerank.compare(scheme, scheme.id, documents.queries[place], hits, prefix=DEFAULT_PREFIX)
        return {hit["_id"] for hit in compared.hits}

    return find


def _term(server: Server, documents: Generated) -> Callable[[int], object]:
    path = f"/{documents.index}/_search"
    bodies = [json.dumps({"query": {"term": {"key": f"key{number}"}}}).encode() for number in documents.originals]
    return lambda place: server.http.send("POST", path, bodies[place])


def _latencies(title: str, some: Sequence[Generated], searched: Sequence[Searched]) -> Table:
    ratio = f"p50 × that of {some[0].count:,}"
    table = Table(title, ["documents", "find p50, ms", "p90", ratio, "`term` p50, ms"])
    for each, found in zip(some, searched, strict=True):
        times = found.find.within(0.5), found.find.within(0.9), found.find.over(searched[0].find)
        table.add(f"{each.count:,}", *times, f"{found.term.p50:.2f}")
    return table


def _found(some: Sequence[Generated], searched: Sequence[Searched]) -> Table:
    table = Table(
        "What is found at scale",
        [
            *("documents", "shared keys", "recall", "as computed", "candidates by chance", "as computed by chance"),
            "bytes a document",
        ],
        "In the merged indices of the last server.",
    )
    for each, found in zip(some, searched, strict=True):
        bands = each.minhash.layout
        table.add(
            *(f"{each.count:,}", f"{each.shared} of {bands.count}"),
            *(f"{found.found:.3f}", f"{sharing(each.minhash.similarity, bands, each.shared):.3f}"),
            f"{found.by_chance:.2f}",
            f"{each.count * by_chance(bands, each.shared, generated_values.UNRELATED):.2f}",
            f"{found.bytes:.0f}",
        )
    return table
