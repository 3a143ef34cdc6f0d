"""Several shared keys on real servers: searches for them, and near-duplicates found by them.

100,000 film reviews. *Search alone*: the {queries} texts are there; 100 ids at most, milliseconds; "any" asks for the
keys by one `terms` query, all others by a bool query with `minimum_should_match`. The segments are as the server made
them, then one. *Find*: `Index.find` of reviews with 5% of the words replaced, their texts compared, and
`more_like_this` (`min_term_freq` 1, `min_doc_freq` 2), which compares nothing, in its two good settings. *Together*:
microseconds a text of `Index.check` of {together} texts, which also compares them with one another, and of
`more_like_this` by `_msearch`. *Bytes* are those of our fields, a document. *Bulk*: {bulk} reviews by the client's
`helpers.bulk` into fresh indices, medians of {rounds} rounds in turns. *Embedded*: the same reviews in the engine of
this process, loaded by `Index.add`. *Larger*: fingerprints without texts, each value of a signature that of one of
three reviews.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.corpora import CORPORA_VARIABLE
from benchmarks.keys import CONTENDERS, Keys, Signatures, signatures, texts_of
from benchmarks.measuring import Latency, in_turns, seconds
from benchmarks.nodes import SERVERS, SETTINGS, Http, Json, Server, running
from benchmarks.planted import edited
from benchmarks.tables import Table
from es_simhash import Index, MinHash, Scheme
from es_simhash._core import arrays
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.sketches.keys import Bands
from es_simhash.text import Chars, Normalisation, Runs

QUERIES, ROUNDS, TOGETHER, BULK, CHUNK, LARGER = 200, 5, 50, 20_000, 5_000, (100_000, 1_000_000)
RUNS = Runs(dense=3)
SEARCHED = (
    CONTENDERS[0],
    *(Keys(RUNS, Bands(count, 3, 24), 2) for count in (28, 36, 42)),
    Keys(RUNS, Bands(42, 3, 18), 2),
    Keys(RUNS, Bands(48, 2, 18), 4),
)
DEFAULT = SEARCHED[2]
KEYS: Json = {"type": "text", "analyzer": "whitespace", "index_options": "docs", "norms": False}
MORE_LIKE_THIS = {"50 terms, 70%": (50, "70%"), "25 terms, 60%": (25, "60%")}
__doc__ = __doc__.format(queries=QUERIES, together=TOGETHER, bulk=f"{BULK:,}", rounds=ROUNDS)


def run(share: float = 1.0, sizes: Sequence[int] = LARGER) -> Iterator[Table]:
    """Measure on both servers."""
    texts = texts_of("reviews")
    texts = texts[: round(share * len(texts))]
    if not texts:
        print(f"No texts: {CORPORA_VARIABLE} names no folder that has them.", flush=True)
        return
    for name, written in SERVERS.items():
        with running(name) as server:
            yield from _searches(server, written, texts)
            yield from _finds(server, written, texts)
            yield _bulk(server, written, texts[:BULK])
            yield from _larger(server, written, texts, sizes)
    yield _embedded(texts)


# ---- search alone


def _searches(server: Server, written: str, texts: Sequence[str]) -> Iterator[Table]:
    made = {keys: joined(keys, signatures(keys.tokens, texts)) for keys in SEARCHED}
    for place, stored in enumerate(made.values()):
        server.create(f"keys{place}", {"bands": KEYS})
        server.fill(f"keys{place}", ({"_id": str(i), "_source": {"bands": each}} for i, each in enumerate(stored)))
        server.http("POST", f"/keys{place}/_refresh")
    queries = random.Random(2).sample(range(len(texts)), QUERIES)
    ways: dict[str, Callable[[int], object]] = {
        keys.name: partial(_search, server, f"keys{place}", keys, stored)
        for place, (keys, stored) in enumerate(made.items())
    }
    columns = ("", "p50, segments", "p90", "p50, merged", "p90", "p99", "hits", "bytes a document")
    table = Table(f"Search alone, {written}", columns)
    before = in_turns(ways, queries, ROUNDS, queries[:50], server.cpu)
    for place in range(len(made)):
        server.merge(f"keys{place}")
    after = in_turns(ways, queries, ROUNDS, queries[:50], server.cpu)
    for place, (keys, stored) in enumerate(made.items()):
        hits = fmean(len(server.hits(f"keys{place}", body(keys, stored[i]))) for i in queries)
        size = server.size(f"keys{place}") / len(texts)
        times = [before[keys.name].p50, before[keys.name].p90, *_levels(after[keys.name])]
        table.add(keys.name, *(f"{each:.2f}" for each in times), f"{hits:.1f}", f"{size:.0f}")
        server.delete(f"keys{place}")
    yield table


def joined(keys: Keys, made: Signatures) -> list[str]:
    """Write the keys of each signature as a document has them."""
    return arrays.joined(keys.bands.key_points(made))


def _search(server: Server, index: str, keys: Keys, stored: Sequence[str], place: int) -> object:
    return server.hits(index, body(keys, stored[place]))


def body(keys: Keys, stored: str, field: str = "bands") -> Json:
    """Return the request for documents that share enough of the stored keys."""
    terms = stored.split()
    if keys.shared == 1:
        query: Json = {"terms": {field: terms}}
    else:
        should = [{"term": {field: term}} for term in terms]
        query = {"bool": {"should": should, "minimum_should_match": keys.shared}}
    filtered = {"constant_score": {"filter": query}}
    return {"query": filtered, "size": 100, "_source": False, "track_total_hits": False}


def _levels(latency: Latency) -> tuple[float, float, float]:
    return latency.p50, latency.p90, float(np.quantile(latency.times, 0.99))


# ---- near-duplicates of texts


def _finds(server: Server, written: str, texts: Sequence[str]) -> Iterator[Table]:
    opened = {name: _filled(server, name.replace(" ", "-"), scheme, texts) for name, scheme in defaults().items()}
    server.create("plain", {"body": {"type": "text"}})
    server.fill("plain", ({"_id": str(i), "_source": {"body": text}} for i, text in enumerate(texts)))
    server.merge("plain")
    queries = _edited(texts)
    ways: dict[str, Callable[[str], object]] = {f"find, {name}": index.find for name, index in opened.items()}
    for name, setting in MORE_LIKE_THIS.items():
        ways[f"more_like_this, {name}"] = partial(_more_like_this, server, *setting)
    measured = in_turns(ways, queries, ROUNDS, queries[:50], server.cpu)
    columns = ("", "p50", "p90", "p99", "candidates", "client ms", "server ms", f"{TOGETHER} together, µs", "bytes")
    table = Table(f"Find, {written}", columns)
    for name, latency in measured.items():
        index = opened.get(name.removeprefix("find, "))
        candidates = f"{fmean(index.find(each).candidates for each in queries):.1f}" if index else "–"
        together = partial(_check, index) if index else partial(_together, server, name)
        times = f"{_microseconds(together, queries):,.0f}"
        cpu = f"{latency.client:.2f}", f"{latency.server:.2f}"
        more = (server.size(index.name) - server.size("plain")) / len(texts) if index else 0
        table.add(name, *(f"{each:.2f}" for each in _levels(latency)), candidates, *cpu, times, f"{more:.0f}")
    yield table
    for full in ("plain", *(index.name for index in opened.values())):
        server.delete(full)


def defaults() -> dict[str, Scheme]:
    """Return what new indices have, and what those of the first default have."""
    first = Scheme(normalisation=Normalisation(), tokens=Chars(5), minhash=MinHash(bands=32, rows=4, key_bits=30))
    return {"second default": Scheme(), "first default": first}


def _edited(texts: Sequence[str]) -> list[str]:
    chosen = random.Random(5)
    return [edited(text, 0.05, chosen.choice(texts).split(), chosen) for text in chosen.sample(list(texts), QUERIES)]


def _filled(server: Server, name: str, scheme: Scheme, texts: Sequence[str]) -> Index:
    index = Index(name, server.client, scheme=scheme, fields=["body"])
    index.init(create={"settings": {"index": SETTINGS}, "mappings": {"properties": {"body": {"type": "text"}}}})
    actions = ({"_id": str(i), "_source": {"body": text}} for i, text in enumerate(texts))
    server.fill(name, index.documents.actions(actions))
    server.merge(name)
    index.learn()
    return index


def _more_like_this(server: Server, terms: int, share: str, text: str) -> object:
    return server.hits("plain", _like(text, terms, share))


def _like(text: str, terms: int, share: str) -> Json:
    settings = {"min_term_freq": 1, "min_doc_freq": 2, "max_query_terms": terms, "minimum_should_match": share}
    query = {"more_like_this": {"fields": ["body"], "like": [text], "include": True, **settings}}
    return {"query": query, "size": 10, "_source": False, "track_total_hits": False}


def _check(index: Index, texts: Sequence[str]) -> object:
    return list(index.check([{"body": text} for text in texts]))


def _together(server: Server, name: str, texts: Sequence[str]) -> object:
    setting = MORE_LIKE_THIS[name.removeprefix("more_like_this, ")]
    return server.many_hits("plain", [_like(text, *setting) for text in texts])


def _microseconds(work: Callable[[Sequence[str]], object], texts: Sequence[str]) -> float:
    best = float("inf")
    for start in [*range(0, len(texts), TOGETHER)] * 2:
        began = time.perf_counter()
        work(texts[start : start + TOGETHER])
        best = min(best, time.perf_counter() - began)
    return best / TOGETHER * 1e6


# ---- documents written


def _bulk(server: Server, written: str, texts: Sequence[str]) -> Table:
    ways: dict[str, Scheme | None] = {"plain": None, **defaults()}
    costs: dict[str, list[tuple[float, float, float]]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, scheme in ways.items():
            costs[name].append(_written(server, scheme, texts))
    table = Table(f"Bulk, {written}", ("", "documents a second", "× plain", "client µs a document", "server µs"))
    for name, found in costs.items():
        ratio = median(plain / own for (plain, *_), (own, *_) in zip(costs["plain"], found, strict=True))
        wall, client, of_server = (median(each) for each in zip(*found, strict=True))
        cpu = (f"{1e6 * each / len(texts):.0f}" for each in (client, of_server))
        table.add(name, f"{len(texts) / wall:,.0f}", f"{ratio:.2f}", *cpu)
    return table


def _written(server: Server, scheme: Scheme | None, texts: Sequence[str]) -> tuple[float, float, float]:
    """Fill a fresh index; return the seconds, and the CPU seconds of the client and of the server."""
    server.create("bulk", {"body": {"type": "text"}})
    actions: Iterable[Json] = ({"_id": str(i), "_source": {"body": text}} for i, text in enumerate(texts))
    if scheme:
        index = Index("bulk", server.client, scheme=scheme, fields=["body"])
        index.init()
        actions = index.documents.actions(actions)
    before = server.cpu()
    wall, cpu = seconds(lambda: server.load("bulk", actions))
    found = wall, cpu, server.cpu() - before
    server.delete("bulk")
    return found


# ---- the embedded engine


def _embedded(texts: Sequence[str]) -> Table:
    columns = ("", "documents a second", "p50", "p90", "p99", "candidates", f"{TOGETHER} together, µs", "bytes")
    table, queries = Table("Find, embedded", columns), _edited(texts)
    for name, scheme in defaults().items():
        with TemporaryDirectory() as folder:
            engine = EmbeddedEngine(folder)
            index = Index("reviews", engine, scheme=scheme, fields=["body"])
            index.init(create={"mappings": {"properties": {"body": {"type": "text"}}}})
            wall, _ = seconds(partial(_load, index, texts))
            times = _levels(in_turns({"": index.find}, queries, ROUNDS, queries[:50])[""])
            candidates = fmean(index.find(each).candidates for each in queries)
            together = _microseconds(partial(_check, index), queries)
            size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()) / len(texts)
            levels = (f"{each:.2f}" for each in times)
            table.add(
                name, f"{len(texts) / wall:,.0f}", *levels, f"{candidates:.1f}", f"{together:,.0f}", f"{size:,.0f}"
            )
            engine.close()
    return table


def _load(index: Index, texts: Sequence[str]) -> None:
    index.add({"_id": str(i), "_source": {"body": text}} for i, text in enumerate(texts))
    index.refresh()
    index.learn()


# ---- larger indices


def _larger(server: Server, written: str, texts: Sequence[str], sizes: Sequence[int]) -> Iterator[Table]:
    made, rng = signatures(RUNS, texts), np.random.default_rng(7)
    columns = ("", "documents", "shared", "candidates", "p90", "most", "p50", "p90", "p99")
    table = Table(f"Larger, {written}", columns)
    for size in sizes:
        server.create("larger", {"bands": KEYS})
        for start in range(0, size, 50_000):
            _fill(server, joined(DEFAULT, mixtures(made, rng, min(50_000, size - start))))
        server.http("POST", "/larger/_refresh")
        queries = joined(DEFAULT, mixtures(made, rng, QUERIES))
        for is_merged in (False, True):
            if is_merged:
                server.merge("larger")
            for shared in (2, 3):
                table.add(_segments(server), f"{size:,}", shared, *_ranged(server, queries, shared, is_merged))
        server.delete("larger")
    yield table


def _fill(server: Server, stored: Sequence[str]) -> None:
    """Write documents of keys alone over two connections."""
    lines = [f'{{"index":{{}}}}\n{{"bands":"{each}"}}\n' for each in stored]
    requests = ["".join(lines[start : start + CHUNK]).encode() for start in range(0, len(lines), CHUNK)]

    def sent(requests: Sequence[bytes]) -> list[bytes]:
        http = Http(server.url)
        return [http.send("POST", "/larger/_bulk?filter_path=errors", each) for each in requests]

    with ThreadPoolExecutor(2) as pool:
        replies = {reply for part in pool.map(sent, (requests[::2], requests[1::2])) for reply in part}
    assert replies == {b'{"errors":false}'}, replies


def _segments(server: Server) -> str:
    shards = server.http("GET", "/larger/_segments")["indices"]["larger"]["shards"]
    count = len(shards["0"][0]["segments"])
    return f"{count} segments" if count > 1 else "merged"


def _ranged(server: Server, queries: Sequence[str], shared: int, is_merged: bool) -> tuple[str, ...]:
    """Measure how many candidates there are, unless it is known, and the latency of the search for them."""
    keys = replace(DEFAULT, shared=shared)
    counts = [] if is_merged else [_count(server, keys, each) for each in queries]
    found = (f"{fmean(counts):.1f}", f"{np.quantile(counts, 0.9):.0f}", f"{max(counts):,}") if counts else ("",) * 3
    times = in_turns({"": partial(_ask, server, keys)}, queries, ROUNDS, queries[:50], server.cpu)[""]
    return *found, *(f"{each:.2f}" for each in _levels(times))


def mixtures(made: Signatures, rng: np.random.Generator, count: int) -> Signatures:
    """Return signatures each of whose values is that of one of three documents."""
    of = rng.integers(0, len(made), (count, 3))
    part = rng.integers(0, 3, (count, made.shape[1]))
    found: Signatures = made[np.take_along_axis(of, part, axis=1), np.arange(made.shape[1])]
    return found


def _ask(server: Server, keys: Keys, stored: str) -> object:
    return server.hits("larger", body(keys, stored))


def _count(server: Server, keys: Keys, stored: str) -> int:
    asked = {**body(keys, stored), "size": 0, "track_total_hits": True}
    total: int = server.http("POST", "/larger/_search", asked)["hits"]["total"]["value"]
    return total
