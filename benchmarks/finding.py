"""Latency, recall, precision and price of finding near-duplicates, compared with what people set up today.

Texts of 1.3 kB with up to {planted:,} copies in which 1%, 2% or 5% of the words were replaced; the originals are the
queries, {timed} of them in {rounds} rounds (a fifth where a call takes more than {slow} ms). One shard merged to one
segment. es_simhash makes the fingerprint and compares the candidates; the others return the engine's ranking,
unverified. "Of {batch}" is the time per text when {batch} are searched at once. `more_like_this` has 50 terms, 70% of
them required (`min_term_freq` 1, `min_doc_freq` 2), `dense_vector` 128 bits. In brackets: what {level:.0%} of other
draws of the queries give; ratios are of the same queries. CPU is that of a call.

"Recall in all" counts planted pairs with an exact Jaccard similarity of at least {similarity}, or for SimHash all pairs
within the distance. Precision is the share of returned pairs with that similarity. Bytes are those in addition to the
plain index; bulk speed is relative to it (medians of {bulk_rounds} rounds).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.corpora import CORPORA_VARIABLE, chinese_pages, topical
from benchmarks.corpus_search import SIMILARITY, SLOW_MS, Corpus, by_index, fill, latencies_of, what_is_found
from benchmarks.intervals import LEVEL
from benchmarks.measuring import Latency, in_turns_but_slow
from benchmarks.nodes import SERVERS, Json, Server, running
from benchmarks.planted import EDITS
from benchmarks.tables import Table, side_by_side
from benchmarks.ways import MoreLikeThis, Ours, Way, ours, ways

SIZES, LENGTH, PLANTED = (10_000, 100_000, 1_000_000), 1300, 1_000
# At this size all contenders are measured, and what is found at which price.
MAIN = 100_000
TIMED, ROUNDS = 150, 4
TOGETHER, BATCHES = 50, 8
BULK_DOCUMENTS, BULK_ROUNDS = 3_000, 5
__doc__ = __doc__.format(
    planted=PLANTED,
    timed=TIMED,
    rounds=ROUNDS,
    similarity=SIMILARITY,
    bulk_rounds=BULK_ROUNDS,
    batch=TOGETHER,
    level=LEVEL,
    slow=SLOW_MS,
)


@dataclass(frozen=True)
class Latencies:
    """Times of searches by the way, one at a time and ``TOGETHER`` at once."""

    single: dict[str, Latency]
    together: dict[str, Latency]


def run(share: float = 1.0, sizes: Sequence[int] = SIZES) -> Iterator[Table]:
    """Measure on both servers."""
    for size in sizes:
        texts = topical(int(size * share), LENGTH)
        corpus = Corpus.of("English", texts, min(PLANTED, len(texts) // 10))
        yield from _with_prices(corpus) if size == MAIN else _latencies_alone([corpus])
    if pages := chinese_pages():
        pages = pages[: int(len(pages) * share)]
        yield from _with_prices(Corpus.of("Chinese", pages, min(PLANTED, len(pages) // 10)))
    else:
        print(f"No Chinese pages: {CORPORA_VARIABLE} names no folder that has them.", flush=True)


def briefly() -> Iterator[Table]:
    """Measure the verified search and the estimates only, at the smaller sizes."""
    corpora = [Corpus.of("English", topical(size, LENGTH), PLANTED) for size in SIZES[:2]]
    yield from _latencies_alone(corpora, lambda server: ours(server)[:2])


def _latencies_alone(corpora: Sequence[Corpus], own: Callable[[Server], list[Way]] = ours) -> Iterator[Table]:
    """Measure our ways and `more_like_this` in one index, which has what both need."""
    for name, label in SERVERS.items():
        with running(name) as server:
            for corpus in corpora:
                contenders = [*own(server), MoreLikeThis(server, Ours.index)]
                fill(server, contenders, corpus)
                among = f" among {len(corpus.texts):,}" if len(corpus.texts) != MAIN else ""
                title = f"{corpus.name} on {label}: latency{among}"
                yield _table_of_latencies(title, _latencies(server, contenders, corpus), "All search one index.")
                server.delete(Ours.index)


def _with_prices(corpus: Corpus) -> Iterator[Table]:
    """Measure all ways: their latencies, what they find, and what their indices cost."""
    prices: list[tuple[str, Table]] = []
    for name, label in SERVERS.items():
        with running(name) as server:
            contenders = ways(server)
            sizes = fill(server, contenders, corpus)
            if not prices:  # the servers find the same
                prices.append(("", _table_of_what_is_found(contenders, corpus, sizes)))
            title = f"{corpus.name} on {label}: latency"
            yield _table_of_latencies(
                title, _latencies(server, contenders, corpus), f"{len(corpus.texts):,} documents."
            )
            prices.append((label, _table_of_bulk(server, contenders, corpus)))
    yield side_by_side(f"{corpus.name}: what is found, and at what price", prices)


# --- latency ---


def _latencies(server: Server, contenders: Sequence[Way], corpus: Corpus) -> Latencies:
    """Measure the latency of each way: of a search, and per text of a batch."""
    texts = corpus.queries
    single = latencies_of(server, contenders, texts[: 2 * TIMED], ROUNDS)
    batches = [texts[first : first + TOGETHER] for first in range(0, len(texts), TOGETHER)][:BATCHES]
    asked = {way.name: way.find_many for way in contenders}
    together = in_turns_but_slow(asked, batches, ROUNDS, batches[:1], TOGETHER * SLOW_MS, server.cpu)
    return Latencies(single, {name: latency.shared_by(TOGETHER) for name, latency in together.items()})


def _table_of_latencies(title: str, latencies: Latencies, note: str) -> Table:
    table = Table(
        title,
        [
            *("", "find p50, ms", "p90", "p99", "× more_like_this", "p90 × more_like_this"),
            *("CPU of the client, ms", "of the server", f"of {TOGETHER} p50, ms", f"of {TOGETHER} × more_like_this"),
        ],
        note,
    )
    peer, its = latencies.single[MoreLikeThis.name], latencies.together[MoreLikeThis.name]
    for name, own in latencies.single.items():
        together = latencies.together[name]
        table.add(
            name,
            *(own.within(share) for share in (0.5, 0.9, 0.99)),
            *(own.over(peer, share) for share in (0.5, 0.9)),
            *(f"{own.client:.2f}", f"{own.server:.2f}"),
            *(f"{together.p50:.2f}", together.over(its)),
        )
    return table


# --- prices ---


def _table_of_what_is_found(contenders: Sequence[Way], corpus: Corpus, sizes: dict[str, int]) -> Table:
    columns = (*(f"recall at {edits:.0%}" for edits in EDITS), "recall in all", "precision")
    table = Table("", ["", *columns, "candidates a query", "bytes a document"])
    for way in contenders:
        found = what_is_found(way, corpus)
        table.add(
            way.name,
            *(f"{share:.3f}" for share in [*found.recalls, found.recall, found.precision]),
            f"{found.candidates:.1f}",
            f"{(sizes[way.index] - sizes[MoreLikeThis.index]) / len(corpus.texts):.0f}",
        )
    return table


def _table_of_bulk(server: Server, contenders: Sequence[Way], corpus: Corpus) -> Table:
    """Measure the speed of bulk requests for each index, relative to the plain one in the same round."""
    seconds: dict[str, list[float]] = {index: [] for index in by_index(contenders)}
    for _ in range(BULK_ROUNDS):
        for index, way in by_index(contenders).items():
            seconds[index].append(_seconds_to_fill(server, way, list(corpus.documents(BULK_DOCUMENTS))))
    plain = seconds[MoreLikeThis.index]
    table = Table("", ["", "bulk × plain"])
    for way in contenders:
        ratios = (base / taken for base, taken in zip(plain, seconds[way.index], strict=True))
        table.add(way.name, f"{median(ratios):.2f}")
    return table


def _seconds_to_fill(server: Server, way: Way, documents: list[Json]) -> float:
    way.create("trial")
    start = time.perf_counter()
    server.load("trial", way.actions("trial", documents))
    taken = time.perf_counter() - start
    server.delete("trial")
    return taken
