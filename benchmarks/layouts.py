"""Size of fingerprints in an index and latency of a search, by field layout.

English documents of 1.3 kB with a title and a body; one shard merged to one segment. Bytes are those in addition to the
same index without fingerprints; keys are in the index proper, the rest mostly in `_source`. A search is the request
that `Index.find` sends, without comparing candidates; medians of {rounds} rounds.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import mean

from benchmarks.corpora import topical
from benchmarks.measuring import Latency, in_turns
from benchmarks.nodes import SERVERS, SETTINGS, Json, Recorder, Server, documents_of, running
from benchmarks.tables import Table, side_by_side
from es_simhash import Index, Layout, MinHash, Scheme

DOCUMENTS, LENGTH = 100_000, 1300
QUERIES, ROUNDS = 300, 3
__doc__ = __doc__.format(rounds=ROUNDS)

DEFAULT, STRICT = Scheme(), Scheme.preset("strict")
LAYOUTS = {
    "default: text": DEFAULT,
    "default: keyword": replace(DEFAULT, layout=Layout("keyword")),
    "default: fields": replace(DEFAULT, layout=Layout("fields")),
    "default: text, 8-bit signature apart": replace(DEFAULT, layout=Layout(signature_bits=8)),
    "default: text, keys of 18 bits": replace(DEFAULT, minhash=MinHash(key_bits=18)),
    "default: text, keys of 30 bits": replace(DEFAULT, minhash=MinHash(key_bits=30)),
    "default: text, SimHash in blocks alone": replace(DEFAULT, layout=Layout(simhash="blocks")),
    "default without SimHash": replace(DEFAULT, simhash=None),
    "short": Scheme.preset("short"),
    "strict (SimHash alone)": STRICT,
    "strict, SimHash in a field": replace(STRICT, layout=Layout(doc_values=False)),
    "strict, with doc values": replace(STRICT, layout=Layout()),
}
PLAIN: Json = {"title": {"type": "text"}, "body": {"type": "text"}}


@dataclass
class Measured:
    """An index with fingerprints: its size, and searches for some of its documents."""

    index: str
    size: int
    key_bytes: int
    searches: list[bytes] = field(default_factory=list)
    candidates: list[int] = field(default_factory=list)


def run(share: float = 1.0) -> Iterator[Table]:
    """Measure all layouts on both servers; bytes are those of the first."""
    texts = topical(int(DOCUMENTS * share), LENGTH)
    sizes, searches = [], []
    for name, server in SERVERS.items():
        plain, measured, latencies = _on_server(name, texts)
        sizes.append(_table_of_sizes(len(texts), plain, measured))
        searches.append((server, _table_of_searches(latencies)))
    yield side_by_side("Layouts", [("", sizes[0]), *searches], sizes[0].note)


def _on_server(name: str, texts: Sequence[str]) -> tuple[Measured, dict[str, Measured], dict[str, Latency]]:
    chosen = random.Random(2).sample(texts, min(QUERIES, len(texts) // 2))
    with running(name) as server:
        plain = _plain(server, texts)
        measured = {label: _measure(server, label, scheme, texts, chosen) for label, scheme in LAYOUTS.items()}
        ways = {label: _search(server, each) for label, each in measured.items()}
        places = range(len(chosen))
        latencies = in_turns(ways, places, ROUNDS, places[: len(places) // 3])
    return plain, measured, latencies


def _plain(server: Server, texts: Sequence[str]) -> Measured:
    server.create("plain", PLAIN)
    server.load("plain", documents_of(texts))
    return _sizes(server, "plain")


def _measure(server: Server, label: str, scheme: Scheme, texts: Sequence[str], chosen: Sequence[str]) -> Measured:
    name = re.sub(r"\W+", "-", label).strip("-").lower()
    recorder = Recorder(server.engine)
    index = Index(name, recorder, scheme=scheme, fields=["title", "body"])
    index.init(create={"settings": {"index": SETTINGS}, "mappings": {"properties": PLAIN}})
    server.load(name, index.documents.actions(documents_of(texts)))
    measured = _sizes(server, name)
    for text in chosen:
        recorder.searches.clear()
        measured.candidates.append(index.find(doc={"title": text[:60], "body": text}, estimate=True).candidates)
        measured.searches.append(json.dumps(recorder.searches[0].body).encode())
    return measured


def _sizes(server: Server, index: str) -> Measured:
    server.merge(index)
    sizes = server.field_sizes(index) if server.name == "elasticsearch" else {}
    keys = (usage["total_in_bytes"] for name, usage in sizes.items() if name.startswith(("dedup.block", "dedup.band")))
    return Measured(index, server.size(index), sum(keys))


def _search(server: Server, measured: Measured) -> Callable[[int], object]:
    path = f"/{measured.index}/_search"
    return lambda place: server.http.send("POST", path, measured.searches[place])


def _table_of_sizes(count: int, plain: Measured, measured: dict[str, Measured]) -> Table:
    note = f"{count:,} documents; the plain index takes {plain.size / count:,.0f} bytes a document."
    table = Table("", ["", "bytes a document", "of these, keys", "candidates a query"], note)
    for label, each in measured.items():
        sizes = (each.size - plain.size) / count, each.key_bytes / count
        table.add(label, *(f"{size:.1f}" for size in sizes), f"{mean(each.candidates):.1f}")
    return table


def _table_of_searches(latencies: dict[str, Latency]) -> Table:
    table = Table("", ["", "find p50, ms", "p90, ms"])
    for label, latency in latencies.items():
        table.add(label, f"{latency.p50:.2f}", f"{latency.p90:.2f}")
    return table
