"""Finding by MinHash among more and more documents, with the fewest bytes of keys for each number that find 99% of the
pairs of the similarity .6 and at most a hundred others.

Documents are generated and hold the fields of `default` and a keyword, but no text; unrelated ones agree in 3% of their
values, and in 9% within a topic. {planted} copies that are just as similar as the scheme asks for are searched for by
their originals: the request that `find` sends, and the comparison of what it returns, in all indices of a server in
turns. One shard: first with the segments that the server leaves, then merged to one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
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
from es_simhash.sketches.key_plans import TYPICAL, false_share

# The numbers of documents, and the keys for each.
KEYS = {
    100_000: MinHash(size=64, bands=19, rows=3, key_bits=24),
    1_000_000: MinHash(size=256, bands=34, rows=4, key_bits=30),
    10_000_000: MinHash(size=512, bands=57, rows=5, key_bits=36),
}
PLANTED, ROUNDS, BATCH = 400, 5, 4_000
__doc__ = __doc__.format(planted=PLANTED)
LISTS = FIRST_LIST, FIRST_LIST * GROWTH
_WARM_UP = 100


@dataclass(frozen=True)
class Generated:
    """``count`` documents with these keys; the last ones are copies of others."""

    count: int
    minhash: MinHash

    @cached_property
    def scheme(self) -> Scheme:
        """The scheme with its keys."""
        return Scheme(minhash=self.minhash)

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
        criteria, source = Criteria.of(self.scheme, "minhash"), query.compared_fields(self.scheme, DEFAULT_PREFIX)
        found = []
        for fingerprint in self.queries:
            clauses = [query.clause(self.scheme, fingerprint, criteria, scored=scored) for scored in (False, True)]
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
    """What searches of one index gave: their times, candidates in vain, the share of copies found, bytes a document."""

    find: Latency
    term: Latency
    in_vain: float
    found: float
    bytes: float


def run(share: float = 1.0, keys: Mapping[int, MinHash] = KEYS) -> Iterator[Table | None]:
    """Measure on both servers; others may use the machine while indices are filled, and while they are merged."""
    some = [Generated(int(size * share), minhash) for size, minhash in keys.items()]
    with ExitStack() as nodes, ThreadPoolExecutor(len(SERVERS)) as at_once:
        servers = {label: nodes.enter_context(running(name)) for name, label in SERVERS.items()}
        for state, prepare in (("", _load), (", merged", _merge)):
            list(at_once.map(lambda server, ready=prepare: [ready(server, each) for each in some], servers.values()))
            yield None
            for label, server in servers.items():
                yield _table(f"Finding at scale on {label}{state}", some, _searched(server, some))


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
        in_vain = [len(ids - {str(first + place), str(each.originals[place])}) for place, ids in enumerate(hits)]
        size = server.size(each.index) / each.count
        latencies = times[f"find {each.count}"], times[f"term {each.count}"]
        found.append(Searched(*latencies, float(np.mean(in_vain)), float(np.mean(is_found)), size))
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


def _table(title: str, some: Sequence[Generated], searched: Sequence[Searched]) -> Table:
    table = Table(
        title,
        [
            *(
                "documents",
                "bands × rows, key bits",
                "find p50, ms",
                "p90",
                f"p50 × that of {some[0].count:,}",
                "`term` p50, ms",
            ),
            *("recall", "false candidates a query", "as predicted", "bytes a document"),
        ],
    )
    for each, found in zip(some, searched, strict=True):
        minhash, predicted = each.minhash, each.count * false_share(each.minhash.layout, TYPICAL)
        table.add(
            *(f"{each.count:,}", f"{minhash.bands} × {minhash.rows}, {minhash.key_bits}"),
            *(found.find.within(0.5), found.find.within(0.9), found.find.over(searched[0].find)),
            f"{found.term.p50:.2f}",
            *(f"{found.found:.3f}", f"{found.in_vain:.1f}", f"{predicted:.1f}"),
            f"{found.bytes:.0f}",
        )
    return table
