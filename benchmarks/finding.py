"""Latency, recall, precision and price of finding near-duplicates, compared with what people set up today.

Texts of 1.3 kB with {planted:,} copies in which 1%, 2% or 5% of the words were replaced; the originals are the queries.
One shard merged to one segment; medians of {rounds} rounds. es_simhash makes the fingerprint and compares the
candidates; the others return the engine's ranking, unverified. "Of {batch}" is the time per text when {batch} are
searched at once. The best peer is the fastest of `more_like_this` and `min_hash` with a recall in all of at least
{sure}. `more_like_this` has 50 terms, 70% of them required (`min_term_freq` 1, `min_doc_freq` 2), `dense_vector` 128
bits.

"Recall in all" counts planted pairs with an exact Jaccard similarity of at least {similarity}, or for SimHash all pairs
within the distance. Precision is the share of returned pairs with that similarity. Bytes are those in addition to the
plain index; bulk speed is relative to it (medians of {bulk_rounds} rounds).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from statistics import median
from typing import TypeAlias

from benchmarks.corpora import CORPORA_VARIABLE, chinese_pages, topical
from benchmarks.corpus_search import SIMILARITY, Corpus, Found, by_index, fill, latencies_of, what_is_found
from benchmarks.measuring import Latency, in_turns
from benchmarks.nodes import SERVERS, Json, Server, running
from benchmarks.planted import EDITS
from benchmarks.tables import Table, side_by_side
from benchmarks.ways import MinHashMatch, MoreLikeThis, Way, ways

DOCUMENTS, LENGTH, PLANTED = 100_000, 1300, 2_000
TIMED, ROUNDS = 200, 5
TOGETHER, BATCHES = 50, 6
# A way with less recall is not compared with.
SURE = 0.95
BULK_DOCUMENTS, BULK_ROUNDS = 3_000, 5
__doc__ = __doc__.format(
    planted=PLANTED, rounds=ROUNDS, similarity=SIMILARITY, bulk_rounds=BULK_ROUNDS, batch=TOGETHER, sure=SURE
)

# By what is timed, then by the way.
Latencies: TypeAlias = dict[str, dict[str, Latency]]


def run(share: float = 1.0) -> Iterator[Table]:
    """Measure on both servers."""
    planted = max(2 * TOGETHER, int(PLANTED * share))
    corpora = [Corpus.of("English", topical(int(DOCUMENTS * share), LENGTH), planted)]
    if pages := chinese_pages():
        corpora.append(Corpus.of("Chinese", pages[: int(len(pages) * share)], planted))
    else:
        print(f"No Chinese pages: {CORPORA_VARIABLE} names no folder that has them.", flush=True)
    for corpus in corpora:
        prices: list[tuple[str, Table]] = []
        for name, server in SERVERS.items():
            latencies, found, bulk = _measured(name, corpus)
            yield latencies
            prices += [("", found), (server, bulk)] if not prices else [(server, bulk)]
        yield side_by_side(f"{corpus.name}: what is found, and at what price", prices)


def _measured(name: str, corpus: Corpus) -> tuple[Table, Table, Table]:
    """Measure latencies, what is found at which size, and the speed of bulk requests."""
    with running(name) as server:
        contenders = ways(server)
        sizes = fill(server, contenders, corpus)
        found = {way.name: what_is_found(way, corpus) for way in contenders}
        latencies = _latencies(contenders, corpus)
        bulk = _bulk_rates(server, contenders, corpus)
    columns = (*(f"recall at {edits:.0%}" for edits in EDITS), "recall in all", "precision")
    table = Table("", ["", *columns, "candidates a query", "bytes a document"])
    rates = Table("", ["", "bulk × plain"])
    for way in contenders:
        rates.add(way.name, f"{bulk[way.index]:.2f}")
        result = found[way.name]
        table.add(
            way.name,
            *(f"{share:.3f}" for share in [*result.recalls, result.recall, result.precision]),
            f"{result.candidates:.1f}",
            f"{(sizes[way.index] - sizes[MoreLikeThis.index]) / len(corpus.texts):.0f}",
        )
    title = f"{corpus.name} on {SERVERS[name]}: latency"
    return _table_of_latencies(title, len(corpus.texts), contenders, found, latencies), table, rates


def _table_of_latencies(
    title: str, count: int, contenders: Sequence[Way], found: dict[str, Found], latencies: Latencies
) -> Table:
    columns = [column for kind in latencies for column in (f"{kind} p50, ms", *_p90(kind), "× best peer")]
    table = Table(
        title,
        ["", *columns],
        f"{count:,} documents.",
    )
    peers = [way.name for way in contenders if isinstance(way, MoreLikeThis | MinHashMatch)]
    sure = [name for name in peers if found[name].recall >= SURE]
    for way in contenders:
        cells = []
        for kind, measured in latencies.items():
            own, best = measured[way.name], min((measured[name].p50 for name in sure), default=float("nan"))
            cells += [f"{own.p50:.2f}", *(f"{own.p90:.2f}" for _ in _p90(kind)), f"{own.p50 / best:.2f}"]
        table.add(way.name, *cells)
    return table


def _p90(kind: str) -> list[str]:
    return ["p90"] if kind == "find" else []


# --- indices ---


def _bulk_rates(server: Server, contenders: Sequence[Way], corpus: Corpus) -> dict[str, float]:
    """Measure documents per second of bulk requests for each index, relative to the plain one in the same round."""
    seconds: dict[str, list[float]] = {index: [] for index in by_index(contenders)}
    for _ in range(BULK_ROUNDS):
        for index, way in by_index(contenders).items():
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


def _latencies(contenders: Sequence[Way], corpus: Corpus) -> Latencies:
    """Measure the latency of each way: of a search, and per text of a batch."""
    texts = [corpus.texts[pair.original] for pair in corpus.pairs]
    single = latencies_of(contenders, texts[: 2 * TIMED], ROUNDS)
    batches = [texts[first : first + TOGETHER] for first in range(0, len(texts) - TOGETHER + 1, TOGETHER)][:BATCHES]
    together = in_turns({way.name: way.find_many for way in contenders}, batches, ROUNDS, batches[:2])
    return {
        "find": single,
        f"of {TOGETHER}": {name: latency.shared_by(TOGETHER) for name, latency in together.items()},
    }
