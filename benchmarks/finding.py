"""How quickly near-duplicates are found, how surely, and at what price, beside what people set up today.

Texts of 1.3 kB, and among them {planted:,} copies in which 1%, 2% or 5% of the words were replaced; the originals are
the queries, and each is in the index too, but does not count. All ways answer the same queries through the same client,
in turns, on one shard merged to one segment; times are medians of {rounds} rounds. Ours include making the fingerprint
and comparing the candidates, while the others return what the engine ranks first, unverified. "Bare" is the search
request alone, by plain HTTP, without the one by which `min_hash` tokens are learnt; "of {batch}" is the time a text
takes if {batch} are asked for at once.

Recall is told for each share of replaced words; "recall in all" is that of the planted pairs whose exact Jaccard
similarity is at least {similarity}, and for SimHash that of all pairs in the index within the distance. Precision is
how many of the pairs returned have that similarity. Bytes a document, and documents a second of bulk requests, are told
beside those of the plain index; the bulk ratios are medians of {bulk_rounds} rounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import mean, median
from typing import TypeAlias

import numpy as np

from benchmarks.corpora import CORPORA_VARIABLE, chinese_pages, topical
from benchmarks.latency import Latency, in_turns
from benchmarks.nodes import SERVERS, Json, Server, running
from benchmarks.planted import EDITS, Pair, plant
from benchmarks.tables import Table
from benchmarks.ways import MinHashMatch, MoreLikeThis, Ours, Way, ways
from es_simhash import Scheme
from es_simhash.codes import Codes
from es_simhash.hamming import distances

DOCUMENTS, LENGTH, PLANTED = 100_000, 1300, 2_000
TIMED, ROUNDS = 200, 5
TOGETHER, BATCHES = 50, 6
# A way that finds less of what it should is no peer to be compared with.
SURE = 0.95
BULK_DOCUMENTS, BULK_ROUNDS = 3_000, 5
COUNTED = 300
SCHEME = Scheme()
SIMILARITY = SCHEME.minhash.similarity if SCHEME.minhash else 1.0
__doc__ = __doc__.format(planted=PLANTED, rounds=ROUNDS, similarity=SIMILARITY, bulk_rounds=BULK_ROUNDS, batch=TOGETHER)

# By what is timed, then by the way.
Latencies: TypeAlias = dict[str, dict[str, Latency]]


@dataclass(frozen=True)
class Corpus:
    """Texts with planted pairs, and their SimHashes."""

    name: str
    texts: list[str]
    pairs: list[Pair]
    simhashes: Codes

    @classmethod
    def of(cls, name: str, texts: Sequence[str], planted: int) -> Corpus:
        """Plant pairs among texts."""
        own, pairs = plant(texts, planted)
        batches = [batch.simhashes for batch in SCHEME.fingerprint_batches(own)]
        return cls(name, own, pairs, np.concatenate([batch for batch in batches if batch is not None]))

    def documents(self, count: int | None = None) -> list[Json]:
        """Actions that index the texts, or the first of them."""
        return [{"_id": str(i), "_source": {"body": text}} for i, text in enumerate(self.texts[:count])]


@dataclass
class Found:
    """What a way returned for each query, without the query itself."""

    ids: list[set[int]]
    candidates: float
    recalls: list[float] = field(default_factory=list)
    recall: float = 0.0
    precision: float = 0.0


def run(share: float = 1.0) -> Iterator[Table]:
    """Measure on both servers."""
    planted = max(2 * TOGETHER, int(PLANTED * share))
    corpora = [Corpus.of("English", topical(int(DOCUMENTS * share), LENGTH), planted)]
    if pages := chinese_pages():
        corpora.append(Corpus.of("Chinese", pages[: int(len(pages) * share)], planted))
    else:
        print(f"No Chinese pages: {CORPORA_VARIABLE} names no folder that has them.", flush=True)
    for server in SERVERS:
        for corpus in corpora:
            yield from _tables(server, corpus)


def _tables(name: str, corpus: Corpus) -> Iterator[Table]:
    with running(name) as server:
        contenders = ways(server)
        sizes = _fill(server, contenders, corpus)
        found = {way.name: _found(way, corpus) for way in contenders}
        latencies = _latencies(server, contenders, corpus)
        bulk = _bulk_rates(server, contenders, corpus)
    title = f"{corpus.name} on {name.capitalize()}"
    yield _table_of_latencies(title, len(corpus.texts), contenders, found, latencies)
    table = Table(
        f"{title}: what is found, and at what price",
        [
            *("", *(f"recall at {edits:.0%}" for edits in EDITS), "recall in all", "precision"),
            *("candidates a query", "bytes a document", "bulk × plain"),
        ],
    )
    for way in contenders:
        result = found[way.name]
        table.add(
            way.name,
            *(f"{share:.3f}" for share in [*result.recalls, result.recall, result.precision]),
            f"{result.candidates:.1f}",
            f"{(sizes[way.index] - sizes[MoreLikeThis.index]) / len(corpus.texts):.0f}",
            f"{bulk[way.index]:.2f}",
        )
    yield table


def _table_of_latencies(
    title: str, count: int, contenders: Sequence[Way], found: dict[str, Found], latencies: Latencies
) -> Table:
    columns = [column for kind in latencies for column in (f"{kind} p50, ms", "p90", "× best peer")]
    table = Table(
        f"{title}: latency",
        ["", *columns],
        f"{count:,} documents. The best peer is the quickest of `more_like_this` and `min_hash` with a recall in all "
        f"of at least {SURE}.",
    )
    peers = [way.name for way in contenders if isinstance(way, MoreLikeThis | MinHashMatch)]
    sure = [name for name in peers if found[name].recall >= SURE]
    for way in contenders:
        cells = []
        for measured in latencies.values():
            own, best = measured[way.name], min((measured[name].p50 for name in sure), default=float("nan"))
            cells += [f"{own.p50:.2f}", f"{own.p90:.2f}", f"{own.p50 / best:.2f}"]
        table.add(way.name, *cells)
    return table


# --- indices ---


def _by_index(contenders: Sequence[Way]) -> dict[str, Way]:
    """The first way of each index, which fills it."""
    return {way.index: way for way in reversed(contenders)}


def _fill(server: Server, contenders: Sequence[Way], corpus: Corpus) -> dict[str, int]:
    """Make the indices; return their bytes."""
    for index, way in _by_index(contenders).items():
        way.create(index)
        server.load(index, way.actions(index, corpus.documents()))
        server.merge(index)
    return {index: server.size(index) for index in _by_index(contenders)}


def _bulk_rates(server: Server, contenders: Sequence[Way], corpus: Corpus) -> dict[str, float]:
    """Documents a second of bulk requests for each index, relative to the plain one's of the same round."""
    seconds: dict[str, list[float]] = {index: [] for index in _by_index(contenders)}
    for _ in range(BULK_ROUNDS):
        for index, way in _by_index(contenders).items():
            seconds[index].append(_seconds_to_fill(server, way, corpus.documents(BULK_DOCUMENTS)))
    plain = seconds[MoreLikeThis.index]
    return {
        index: median(base / taken for base, taken in zip(plain, rounds, strict=True))
        for index, rounds in seconds.items()
    }


def _seconds_to_fill(server: Server, way: Way, documents: list[Json]) -> float:
    way.create("trial")
    start = time.perf_counter()
    server.load("trial", way.actions("trial", documents))
    taken = time.perf_counter() - start
    server.delete("trial")
    return taken


# --- latency ---


def _latencies(server: Server, contenders: Sequence[Way], corpus: Corpus) -> Latencies:
    """The latencies of each way: of the whole, of its bare request, and of a text among many asked for at once."""
    texts = [corpus.texts[pair.original] for pair in corpus.pairs]
    asked: dict[str, Callable[[str], object]] = {}
    for way in contenders:
        asked[f"whole {way.name}"] = way.find
        asked[f"bare {way.name}"] = _bare(server, {text: way.bare(text) for text in texts[: 2 * TIMED]})
    half = len(texts[: 2 * TIMED]) // 2
    single = in_turns(asked, texts[half : 2 * half], ROUNDS, texts[:half])
    batches = [texts[first : first + TOGETHER] for first in range(0, len(texts) - TOGETHER + 1, TOGETHER)][:BATCHES]
    together = in_turns({way.name: way.find_many for way in contenders}, batches, ROUNDS, batches[:2])
    return {
        "find": {way.name: single[f"whole {way.name}"] for way in contenders},
        "bare": {way.name: single[f"bare {way.name}"] for way in contenders},
        f"of {TOGETHER}": {name: latency.shared_by(TOGETHER) for name, latency in together.items()},
    }


def _bare(server: Server, requests: dict[str, tuple[str, bytes]]) -> Callable[[str], object]:
    return lambda text: server.http.send("POST", *requests[text])


# --- recall and precision ---


def _found(way: Way, corpus: Corpus) -> Found:
    texts = [corpus.texts[pair.original] for pair in corpus.pairs]
    originals = [pair.original for pair in corpus.pairs]
    ids = [set(map(int, way.find(text))) - {place} for text, place in zip(texts, originals, strict=True)]
    found = Found(ids, mean(map(way.candidates, texts[:COUNTED])))
    found.recalls = [_recall_at(edits, ids, corpus.pairs) for edits in EDITS]
    distance = way.distance if isinstance(way, Ours) else None
    wanted = _alike(corpus) if distance is None else _within(distance, corpus)
    # The ten that peers return may have no room for all of many; a wanted document that is missing counts as such.
    hits = [len(each & near) for each, near in zip(ids, wanted, strict=True)]
    found.recall = sum(hits) / max(1, sum(map(len, wanted)))
    found.precision = _precision(ids, corpus)
    return found


def _recall_at(edits: float, ids: Sequence[set[int]], pairs: Sequence[Pair]) -> float:
    return mean(pair.copy in near for near, pair in zip(ids, pairs, strict=True) if pair.edits == edits)


def _alike(corpus: Corpus) -> list[set[int]]:
    """For each pair its copy, if it is similar enough."""
    return [{pair.copy} if _jaccard(corpus, pair.original, pair.copy) >= SIMILARITY else set() for pair in corpus.pairs]


def _within(distance: int, corpus: Corpus) -> list[set[int]]:
    """For each pair all documents within the distance of its original."""
    codes = corpus.simhashes
    near = [np.flatnonzero(distances(codes[pair.original], codes) <= distance) for pair in corpus.pairs]
    return [set(places.tolist()) - {pair.original} for places, pair in zip(near, corpus.pairs, strict=True)]


def _precision(ids: Sequence[set[int]], corpus: Corpus) -> float:
    returned = [(pair.original, other) for near, pair in zip(ids, corpus.pairs, strict=True) for other in near]
    return mean(_jaccard(corpus, *both) >= SIMILARITY for both in returned) if returned else 1.0


def _jaccard(corpus: Corpus, a: int, b: int) -> float:
    return SCHEME.exact_jaccard(corpus.texts[a], corpus.texts[b])
