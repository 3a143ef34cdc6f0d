"""Finding among a million fingerprints, on Elasticsearch and in the embedded engine.

Documents hold the fields of the default scheme and a keyword, but no text: SimHashes and signatures are random, and
{planted:,} are near copies of others, which are the queries. Each search runs in turns with a ``term`` query that finds
one document; medians of {rounds} rounds. Elasticsearch (one segment) gets the bare request; the embedded engine (index
as written) also compares the candidates.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import mean

import numpy as np
import numpy.typing as npt

from benchmarks.measuring import Latency, in_turns
from benchmarks.nodes import SETTINGS, Json, running
from benchmarks.tables import Table
from es_simhash import Fingerprint, Fingerprints, Matches, Scheme
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.plans.operations import Action, Bulk, CreateIndex, Refresh, Search
from es_simhash.scheme import own_fields, query
from es_simhash.scheme.mapping import DEFAULT_PREFIX
from es_simhash.scheme.query import By, Criteria

COUNT, PLANTED, BATCH = 1_000_000, 10_000, 5_000
QUERIES, ROUNDS = 500, 5
__doc__ = __doc__.format(planted=PLANTED, rounds=ROUNDS)
INDEX = "million"
SCHEME = Scheme()
COLUMNS = ("", "p50, ms", "p90, ms", "× term", "candidates a query", "recall of planted pairs")
KINDS: tuple[By, ...] = ("minhash", "simhash")


@dataclass(frozen=True)
class Million:
    """Fingerprints, and the places of planted pairs: one row per original and copy."""

    simhashes: npt.NDArray[np.uint64]
    signatures: npt.NDArray[np.uint32]
    pairs: npt.NDArray[np.int64]

    @classmethod
    def random(cls, count: int, planted: int) -> Million:
        """Draw fingerprints; copies differ in at most 3 bits and in a tenth of the signature's values."""
        rng = np.random.default_rng(11)
        simhashes = rng.integers(0, 1 << 64, count, dtype=np.uint64)
        signatures = rng.integers(0, 1 << 32, (count, 128), dtype=np.uint32)
        pairs = rng.permutation(count)[: 2 * planted].reshape(-1, 2)
        originals, copies = pairs.T
        simhashes[copies] = simhashes[originals]
        for _ in range(3):
            simhashes[copies] ^= np.uint64(1) << rng.integers(0, 64, planted, dtype=np.uint64)
        keeps = rng.random((planted, 128)) < 0.9
        signatures[copies] = np.where(keeps, signatures[originals], signatures[copies])
        return cls(simhashes, signatures, pairs)

    def fingerprints(self, places: npt.NDArray[np.int64] | slice) -> Fingerprints:
        """Return some of the fingerprints."""
        simhashes = self.simhashes[places]
        return Fingerprints(np.zeros(len(simhashes), dtype=np.uint8), simhashes, self.signatures[places])

    def batches(self) -> Iterator[list[Json]]:
        """Yield the documents in batches."""
        for first in range(0, len(self.simhashes), BATCH):
            batch = self.fingerprints(slice(first, first + BATCH))
            keys = [f"key{place}" for place in range(first, first + len(batch))]
            rows = own_fields.write(SCHEME, SCHEME.id, keys, batch)
            yield [{"key": key, "dedup": row} for key, row in zip(keys, rows, strict=True)]

    @cached_property
    def queries(self) -> list[Fingerprint]:
        """Fingerprints of the originals, which are the queries."""
        return list(self.fingerprints(self.pairs[: 2 * QUERIES, 0]))


def run(share: float = 1.0) -> Iterator[Table]:
    """Measure both engines."""
    table = Table("On Elasticsearch", COLUMNS)
    table.note = on_elasticsearch(_drawn(share), table)
    yield table
    yield from in_process(share)


def in_process(share: float = 1.0) -> Iterator[Table]:
    """Measure the embedded engine."""
    table = Table("In the embedded engine", COLUMNS)
    table.note = _embedded(_drawn(share), table)
    yield table


def _drawn(share: float) -> Million:
    return Million.random(int(COUNT * share), int(PLANTED * share))


def _bodies(million: Million) -> dict[str, list[Json]]:
    """Make the requests by MinHash, by SimHash, and for one value of the keyword."""
    bodies: dict[str, list[Json]] = {}
    for kind in KINDS:
        bodies[kind] = [_body(fingerprint, kind) for fingerprint in million.queries]
    originals = million.pairs[: len(million.queries), 0].tolist()
    bodies["term"] = [{"query": {"term": {"key": f"key{place}"}}} for place in originals]
    return bodies


def _body(fingerprint: Fingerprint, by: By) -> Json:
    """Make the request that `es_simhash.Index.find` sends."""
    clause = query.clause(SCHEME, fingerprint, Criteria.of(SCHEME, by), scored=False)
    return query.body(clause, size=100, source=query.compared_fields(SCHEME, DEFAULT_PREFIX))


def mapping_of_keys() -> Json:
    mapping = SCHEME.mapping(DEFAULT_PREFIX, ["key"])
    return {**mapping, "properties": {**mapping["properties"], "key": {"type": "keyword"}}}


def _add_rows(
    table: Table, latencies: dict[str, Latency], candidates: dict[str, list[set[int]]], million: Million
) -> None:
    copies = million.pairs[:, 1].tolist()
    for kind, latency in latencies.items():
        found = candidates[kind]
        recall = mean(copy in each for copy, each in zip(copies, found, strict=False)) if kind in KINDS else None
        table.add(
            kind,
            *(f"{latency.p50:.2f}", f"{latency.p90:.2f}", f"{latency.p50 / latencies['term'].p50:.2f}"),
            f"{mean(map(len, found)):.1f}",
            "" if recall is None else f"{recall:.4f}",
        )


def _latencies(ways: dict[str, Callable[[int], object]], million: Million) -> dict[str, Latency]:
    places = range(len(million.queries))
    half = len(places) // 2
    return in_turns(ways, places[half:], ROUNDS, places[:half])


# --- Elasticsearch ---


def on_elasticsearch(million: Million, table: Table) -> str:
    """Measure on Elasticsearch, add the rows, and return a note with the number and size of the documents."""
    count = len(million.simhashes)
    with running("elasticsearch") as server:
        server.http("PUT", f"/{INDEX}", {"settings": {"index": SETTINGS}, "mappings": mapping_of_keys()})
        for number, batch in enumerate(million.batches()):
            server.http.send("POST", f"/{INDEX}/_bulk?filter_path=errors", lines_of(number * BATCH, batch))
        server.merge(INDEX)
        size = server.size(INDEX)
        bodies = _bodies(million)
        candidates = {
            kind: [_ids(server.http("POST", f"/{INDEX}/_search", body)) for body in asked]
            for kind, asked in bodies.items()
        }
        requests = {kind: [json.dumps(body).encode() for body in asked] for kind, asked in bodies.items()}

        def way(kind: str) -> Callable[[int], object]:
            return lambda place: server.http.send("POST", f"/{INDEX}/_search", requests[kind][place])

        latencies = _latencies({kind: way(kind) for kind in requests}, million)
    _add_rows(table, latencies, candidates, million)
    return f"{count:,} documents, {size / count:.0f} bytes each on disk."


def lines_of(first: int, batch: list[Json]) -> bytes:
    lines = []
    for place, document in enumerate(batch, first):
        lines += [{"index": {"_id": str(place)}}, document]
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines).encode()


def _ids(reply: Json) -> set[int]:
    return {int(hit["_id"]) for hit in reply["hits"]["hits"]}


# --- embedded ---


def _embedded(million: Million, table: Table) -> str:
    count = len(million.simhashes)
    with tempfile.TemporaryDirectory() as folder:
        loading = _load(EmbeddedEngine(folder), million)
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        bodies = _bodies(million)
        start = time.perf_counter()
        engine = EmbeddedEngine(folder)
        engine.perform(Search(INDEX, bodies["term"][0]))
        opening = time.perf_counter() - start
        candidates = {
            kind: [_ids(engine.perform(Search(INDEX, body))) for body in asked] for kind, asked in bodies.items()
        }
        ways: dict[str, Callable[[int], object]] = {
            "minhash": lambda place: _find(engine, million.queries[place], "minhash"),
            "simhash": lambda place: _find(engine, million.queries[place], "simhash"),
            "term": lambda place: engine.perform(Search(INDEX, bodies["term"][place])),
        }
        latencies = _latencies(ways, million)
        engine.close()
    _add_rows(table, latencies, candidates, million)
    return (
        f"{count:,} documents, {size / count:.0f} bytes each on disk; loaded at {count / loading:,.0f} documents a "
        f"second until all were searchable; opened in {opening * 1e3:.0f} ms, one search included."
    )


def _load(engine: EmbeddedEngine, million: Million) -> float:
    """Fill an index; return the seconds of the engine."""
    engine.perform(CreateIndex(INDEX, {"mappings": mapping_of_keys()}))
    seconds = 0.0
    for number, batch in enumerate(million.batches()):
        actions = [Action("index", str(place), document) for place, document in enumerate(batch, number * BATCH)]
        start = time.perf_counter()
        engine.perform(Bulk(INDEX, actions))
        seconds += time.perf_counter() - start
    start = time.perf_counter()
    engine.perform(Refresh(INDEX))
    engine.close()
    return seconds + time.perf_counter() - start


def _find(engine: EmbeddedEngine, fingerprint: Fingerprint, by: By) -> Matches:
    return SCHEME.rerank(fingerprint, engine.perform(Search(INDEX, _body(fingerprint, by))), by=by)
