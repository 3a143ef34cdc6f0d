"""Adding documents that get their groups as they come, compared with adding alone and a run of groups afterwards."""

from __future__ import annotations

import time
from statistics import median

from benchmarks.corpora import topical
from benchmarks.nodes import SERVERS, Server, documents_of, running
from benchmarks.planted import plant
from benchmarks.tables import Table, side_by_side
from es_simhash import Index, Policy

COUNT, ROUNDS = 10_000, 3
_INDEX = "online"
_POLICIES = {"groups by a run of their own": None, "groups: online": Policy(groups="online")}


def measure(share: float) -> Table:
    """Add documents to both servers under both policies, in turns."""
    texts, _ = plant(topical(int(COUNT * share)), int(COUNT * share) // 10)
    labelled = [(label, _on_server(name, texts)) for name, label in SERVERS.items()]
    note = (
        f"{len(texts):,} documents of 1.3 kB by `Index.add`, a tenth near copies of others; medians of {ROUNDS} rounds."
    )
    return side_by_side("Groups as documents come", labelled, note)


def _on_server(name: str, texts: list[str]) -> Table:
    table = Table("", ["", "documents a second", "CPU µs of the client a document", "of the server"])
    with running(name) as server:
        _add(server, texts[:2_000], _POLICIES["groups: online"])  # lets the server compile what it does often
        rounds = [{label: _add(server, texts, policy) for label, policy in _POLICIES.items()} for _ in range(ROUNDS)]
    for label in _POLICIES:
        wall, *cpu = (median(each[label][i] for each in rounds) for i in range(3))
        table.add(label, f"{len(texts) / wall:,.0f}", *(f"{1e6 * each / len(texts):,.0f}" for each in cpu))
    return table


def _add(server: Server, texts: list[str], policy: Policy | None) -> tuple[float, float, float]:
    """Return the seconds that adding takes, and the CPU seconds of the client and of the server."""
    index = Index(_INDEX, server.client, fields=["title", "body"])
    index.init(policy=policy)
    documents = list(documents_of(texts))
    start, client, on_server = time.perf_counter(), time.process_time(), server.cpu()
    index.add(documents)
    spent = time.perf_counter() - start, time.process_time() - client, server.cpu() - on_server
    server.delete(_INDEX)
    return spent
