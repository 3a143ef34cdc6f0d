"""Latency of a search as an index on Elasticsearch grows, compared with what people set up today.

Texts of {length} characters, {planted} of them copies with 1%, 2% or 5% of the words replaced, searched as in
[Finding](#finding).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.corpora import topical
from benchmarks.corpus_search import Corpus, fill, latencies_of, what_is_found
from benchmarks.nodes import Server, running
from benchmarks.tables import Table
from benchmarks.ways import COMPARED, ESTIMATES, BitVectors, MinHashShould, MoreLikeThis, Ours

SIZES = (10_000, 100_000, 1_000_000)
LENGTH, PLANTED = 500, 500
TIMED, ROUNDS = 100, 3
__doc__ = __doc__.format(length=LENGTH, planted=PLANTED)


def run(share: float = 1.0) -> Iterator[Table]:
    """Measure at each size."""
    yield _texts([int(size * share) for size in SIZES])


def _texts(sizes: Sequence[int]) -> Table:
    table = Table(
        "Texts",
        [
            *("", "documents", "find p50, ms", "× more_like_this"),
            *("recall in all", "precision", "bytes a document"),
        ],
    )
    for size in sizes:
        corpus = Corpus.of("English", topical(size, LENGTH), min(PLANTED, size // 10))
        with running("elasticsearch") as server:
            _add(table, server, corpus)
    return table


def _add(table: Table, server: Server, corpus: Corpus) -> None:
    contenders = [
        Ours(server, ESTIMATES),
        Ours(server, COMPARED, is_exact=True),
        MoreLikeThis(server),
        MinHashShould(server, "30%"),
        BitVectors(server),
    ]
    sizes = fill(server, contenders, corpus)
    latencies = latencies_of(server, contenders, corpus.queries[: 2 * TIMED], ROUNDS)
    count = len(corpus.texts)
    for way in contenders:
        found, p50 = what_is_found(way, corpus), latencies[way.name].p50
        table.add(
            *(way.name, f"{count:,}", f"{p50:.2f}", f"{p50 / latencies[MoreLikeThis.name].p50:.2f}"),
            *(f"{found.recall:.3f}", f"{found.precision:.3f}"),
            f"{(sizes[way.index] - sizes[MoreLikeThis.index]) / count:.0f}",
        )
