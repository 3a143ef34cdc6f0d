"""Who compares the candidates: this process, or the server by a script.

{count:,} documents hold the fields of a fingerprint, but no text. SimHashes are random, and {planted:,} of them differ
in at most 3 bits from another; queries are those others. More distance, or fewer blocks, make more candidates. Each
query is asked in turns: "here" fetches all candidates and compares them, "server" has a script leave out those too far
away, and the default chooses between them. All is told from the fingerprint to the matches, through the client; times
are medians of {rounds} rounds, on one shard merged to one segment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from statistics import mean
from unittest.mock import patch

from benchmarks.latency import in_turns
from benchmarks.million import BATCH, Million, lines_of
from benchmarks.nodes import SERVERS, SETTINGS, Server, running
from benchmarks.tables import Table
from es_simhash import Fingerprint, Matches, Scheme, SimHash
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import run as carry_out
from es_simhash.plans import find
from es_simhash.plans.candidates import ServerFilter
from es_simhash.plans.find_options import FindRequest
from es_simhash.plans.query_documents import QueryDocument
from es_simhash.scheme import own_fields

COUNT, PLANTED = 100_000, 500
QUERIES, ROUNDS = 200, 5
__doc__ = __doc__.format(count=COUNT, planted=PLANTED, rounds=ROUNDS)
SIMHASHES = (SimHash(64, 6, 3), SimHash(64, 6, 4), SimHash(64, 4, 3), SimHash(64, 5, 4), SimHash(64, 6, 5))
WAYS: dict[str, ServerFilter | None] = {"here": ServerFilter.NEVER, "server": ServerFilter.ALWAYS, "default": None}


def run(share: float = 1.0) -> Iterator[Table]:
    """Measure on both servers."""
    million = Million.random(int(COUNT * share), PLANTED)
    for name in SERVERS:
        columns = [f"{way}, p50 ms" for way in WAYS]
        table = Table(
            f"On {SERVERS[name]}",
            ["blocks", "distance", "candidates a query", "matches", *columns, "server × here", "default × here"],
        )
        with running(name) as server:
            for simhash in SIMHASHES:
                _measure(table, server, million, replace(Scheme(), simhash=simhash))
        yield table


def _measure(table: Table, server: Server, million: Million, scheme: Scheme) -> None:
    assert scheme.simhash
    simhash, index = scheme.simhash, f"blocks-{scheme.simhash.blocks}-{scheme.simhash.distance}"
    documents = Documents(scheme, ["key"])
    _fill(server, index, million, documents)
    prints = list(million.fingerprints(million.pairs[: 2 * QUERIES, 0]))
    wanted = QueryDocument("", {})

    def way(who: ServerFilter | None) -> Callable[[Fingerprint], Matches]:
        options = FindRequest(distance=simhash.distance, size=100)

        def ask(each: Fingerprint) -> Matches:
            with patch.object(find, "sifting", return_value=who) if who else nullcontext():
                plan = find.find_fingerprinted(index, documents, [wanted], [each], options, None)
                return carry_out(plan, server.engine)[0]

        return ask

    ways = {name: way(who) for name, who in WAYS.items()}
    half = len(prints) // 2
    latencies = in_turns(ways, prints[half:], ROUNDS, prints[:half])
    found = {name: [ask(each) for each in prints[half:]] for name, ask in ways.items()}
    assert all([each.matches for each in found[name]] == [each.matches for each in found["here"]] for name in WAYS)
    here = latencies["here"].p50
    table.add(
        *(str(simhash.blocks), str(simhash.distance)),
        f"{mean(each.candidates for each in found['here']):.1f}",
        f"{mean(map(len, found['here'])):.1f}",
        *(f"{latencies[name].p50:.2f}" for name in WAYS),
        *(f"{latencies[name].p50 / here:.2f}" for name in ("server", "default")),
    )
    server.delete(index)


def _fill(server: Server, index: str, million: Million, documents: Documents) -> None:
    scheme = documents.scheme
    mappings = scheme.mapping(documents.prefix, documents.fields)
    server.http("PUT", f"/{index}", {"settings": {"index": SETTINGS}, "mappings": mappings})
    for first in range(0, len(million.simhashes), BATCH):
        batch = million.fingerprints(slice(first, first + BATCH))
        keys = [f"key{place}" for place in range(first, first + len(batch))]
        rows = own_fields.write(scheme, scheme.id, keys, batch)
        written = [{documents.prefix: row} for row in rows]
        server.http.send("POST", f"/{index}/_bulk?filter_path=errors", lines_of(first, written))
    server.merge(index)
