"""Distinct results on a search of one's own, compared with the same search and with what servers offer.

{documents:,} texts of 1.3 kB: originals, each with up to {most} copies in which 1%, 2% or 5% of the words were
replaced. A search for some rare and some common words of a text has {window} hits and more; ten distinct ones are
wanted of these. `diversify` (Elasticsearch) goes by a `dense_vector` of 64 bits, the SimHash; it leaves out documents
whose vector is not indexed. `collapse`, OpenSearch's response processor of that name, and our search template go by
groups that a whole run has written before. Copies left are pairs among the hits shown with an exact Jaccard similarity
of at least {similarity}. Whole calls through the same client.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from statistics import mean
from typing import Any

from benchmarks.corpora import topical
from benchmarks.measuring import Latency, in_turns
from benchmarks.nodes import SERVERS, SETTINGS, Json, Server, running
from benchmarks.planted import EDITS, edited
from benchmarks.tables import Table
from es_simhash import Index, Scheme

DOCUMENTS, LENGTH, MOST, SIMILARITY = 20_000, 1300, 8, 0.5
WINDOW, PAGE, QUERIES, ROUNDS = 100, 10, 100, 4
# Words of a query: the longest of a text, which few but its copies have, and the commonest, which most texts have.
LONG, COMMON = 4, 2
INDEX, PIPELINE, SCRIPTS = "distinct", "es_simhash_benchmark", "es-simhash-benchmark"
LAMBDA = 0.5
_PROCESSORS: Json = {
    "request_processors": [{"oversample": {"sample_factor": WINDOW // PAGE}}],
    "response_processors": [{"collapse": {"field": "dedup.group"}}, {"truncate_hits": {}}],
}
PLAIN = f"the same search, {WINDOW} hits"
__doc__ = __doc__.format(documents=DOCUMENTS, most=MOST, window=WINDOW, similarity=SIMILARITY)

# What a search returns: the ids of the hits that are shown.
Ask = Callable[[str], list[str]]


def run(share: float = 1.0) -> Iterator[Table]:
    """Measure on both servers."""
    texts = _with_copies(topical(int(DOCUMENTS * share) // (MOST // 2), LENGTH))
    queries = _queries(texts, QUERIES)
    for name in SERVERS:
        with running(name) as server:
            yield _on_server(server, texts, queries)


def _with_copies(originals: Sequence[str]) -> list[str]:
    """Return the texts, each followed by some edited copies."""
    chosen, found = random.Random(6), []
    for place, text in enumerate(originals):
        words = originals[place - 1].split()
        found += [text, *(edited(text, chosen.choice(EDITS), words, chosen) for _ in range(chosen.randint(0, MOST)))]
    return found


def _queries(texts: Sequence[str], count: int) -> list[str]:
    """Return searches for some words of texts."""
    chosen, found = random.Random(7), []
    for text in chosen.sample(list(texts), count):
        words = Counter(re.findall("[a-z]+", text))
        common = [word for word, _ in words.most_common(COMMON)]
        found.append(" ".join([*sorted(words, key=len)[-LONG:], *common]))
    return found


def _on_server(server: Server, texts: Sequence[str], queries: Sequence[str]) -> Table:
    scheme = Scheme()
    index = Index(INDEX, server.client, scheme=scheme, fields=["body"])
    bits: Json = {"type": "dense_vector", "element_type": "bit", "dims": 64}
    properties: Json = {"body": {"type": "text"}} | ({"bits": bits} if server.name == "elasticsearch" else {})
    index.init(create={"settings": {"index": SETTINGS}, "mappings": {"properties": properties}})
    server.fill(INDEX, index.documents.actions(_actions(server, scheme, texts)))
    server.merge(INDEX)
    index.learn()
    with index.group() as grouped:
        index.write_groups(grouped, singles=True)
    server.merge(INDEX)
    ways = _ways(server, index)
    half = len(queries) // 2
    latencies = in_turns(ways, queries[half:], ROUNDS, queries[:half], server.cpu)
    table = Table(
        f"Ten distinct hits of {WINDOW}, {SERVERS[server.name]}",
        [
            *("", "p50, ms", "p90", f"× {PLAIN}", f"ms more than {PLAIN}", "CPU of the client, ms", "of the server"),
            *("hits shown", "copies left"),
        ],
    )
    plain = latencies[PLAIN]
    for name, latency in latencies.items():
        table.add(name, *_row(latency, plain), *_left(scheme, texts, ways[name], queries[half:]))
    return table


def _row(latency: Latency, plain: Latency) -> list[object]:
    return [
        *(latency.within(0.5), latency.within(0.9), latency.over(plain), f"{latency.p50 - plain.p50:.2f}"),
        *(f"{latency.client:.2f}", f"{latency.server:.2f}"),
    ]


def _actions(server: Server, scheme: Scheme, texts: Sequence[str]) -> Iterator[Json]:
    for place, (text, made) in enumerate(zip(texts, scheme.fingerprints(texts), strict=True)):
        vector = {"bits": f"{made.simhash or 0:016x}"} if server.name == "elasticsearch" else {}
        yield {"_id": str(place), "_source": {"body": text, **vector}}


def _ways(server: Server, index: Index) -> dict[str, Ask]:
    """Return the ways to search, each with its name; all return ten hits."""

    def body(words: str, size: int = PAGE) -> Json:
        return {"query": {"match": {"body": words}}, "size": size, "track_total_hits": False}

    def hits(request: Json, **more: Any) -> list[str]:
        reply = server.client.search(index=INDEX, body=request, **more)
        return [hit["_id"] for hit in reply["hits"]["hits"]][:PAGE]

    def distinct(words: str, estimate: bool = False) -> list[str]:
        return [each.hit["_id"] for each in index.search(body(words), distinct=True, estimate=estimate)]

    ways: dict[str, Ask] = {
        PLAIN: lambda words: hits(body(words, WINDOW)),
        f"the same search, {PAGE} hits": lambda words: hits(body(words)),
        "es_simhash, texts compared": distinct,
        "es_simhash, fingerprints": lambda words: distinct(words, estimate=True),
        "collapse, by stored groups": lambda words: hits(body(words) | {"collapse": {"field": "dedup.group"}}),
    }
    if server.name == "elasticsearch":
        ways[f"diversify, λ = {LAMBDA}"] = lambda words: hits({"retriever": _diversify(words), "size": PAGE})
        return ways
    server.http("PUT", f"/_search/pipeline/{PIPELINE}", _PROCESSORS)
    group = {"docvalue_fields": ["dedup.group"]}
    ways["collapse processor, by stored groups"] = lambda words: hits(body(words) | group, search_pipeline=PIPELINE)
    index.install_scripts(SCRIPTS)
    ways["our search template, by stored groups"] = lambda words: _by_template(server, words)
    return ways


def _by_template(server: Server, words: str) -> list[str]:
    asked = {"id": f"{SCRIPTS}-distinct", "params": {"query": {"match": {"body": words}}, "size": PAGE}}
    reply = server.client.search_template(index=INDEX, body=asked)
    buckets = reply["aggregations"]["window"]["distinct"]["buckets"]
    return [each["hit"]["hits"]["hits"][0]["_id"] for each in buckets]


def _diversify(words: str) -> Json:
    found = {"standard": {"query": {"match": {"body": words}}}}
    how = {"type": "mmr", "field": "bits", "lambda": LAMBDA, "rank_window_size": WINDOW, "size": PAGE}
    return {"diversify": {**how, "retriever": found}}


def _left(scheme: Scheme, texts: Sequence[str], ask: Ask, queries: Sequence[str]) -> list[str]:
    """Return how many hits are shown, and how many pairs of them are near-duplicates by brute force."""
    shown = [ask(words) for words in queries]
    left = [
        sum(scheme.exact_jaccard(texts[int(a)], texts[int(b)]) >= SIMILARITY for a, b in combinations(ids, 2))
        for ids in shown
    ]
    return [f"{mean(map(len, shown)):.1f}", f"{mean(left):.2f}"]
