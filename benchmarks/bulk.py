"""Documents indexed per second by the clients' bulk helpers, with and without fingerprints.

English documents of 1.3 kB with a title and a body, sent to fresh indices of one shard: as they are, through
`Documents.actions`, and with fields made beforehand, which shows the cost of the server and the longer requests alone.
Ratios are those to the plain documents of the same round, medians of {rounds} rounds. Client and server share the
machine.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import median
from typing import TypeAlias

from benchmarks.corpora import topical
from benchmarks.measuring import seconds
from benchmarks.nodes import CHUNK, SERVERS, Json, Server, documents_of, running
from benchmarks.tables import Table, side_by_side
from es_simhash import Index

DOCUMENTS, WARM_UP, ROUNDS = 10_000, 5_000, 7
__doc__ = __doc__.format(rounds=ROUNDS)

Actions: TypeAlias = Iterable[Json]
Send: TypeAlias = Callable[[Server, str, Actions], object]

PLAIN, OURS, MADE = "plain", "with fingerprints", "with fields made beforehand"


def run(share: float = 1.0) -> Iterator[Table]:
    """Measure the helpers of both clients."""
    texts = topical(int(DOCUMENTS * share))
    labelled = [(server, _on_server(name, texts)) for name, server in SERVERS.items()]
    yield side_by_side("Bulk indexing", labelled, f"{len(texts):,} documents in chunks of {CHUNK}.")


def _bulk(server: Server, index: str, actions: Actions) -> object:
    return server.helpers.bulk(server.client, actions, index=index, chunk_size=CHUNK)


def _parallel_bulk(server: Server, index: str, actions: Actions) -> object:
    helper = server.helpers.parallel_bulk
    return deque(helper(server.client, actions, index=index, chunk_size=CHUNK, thread_count=2), maxlen=0)


HELPERS: dict[str, Send] = {"bulk": _bulk, "parallel_bulk, 2 threads": _parallel_bulk}


def _on_server(name: str, texts: Sequence[str]) -> Table:
    table = Table("", ["", "documents a second", "× plain", "CPU ms of the client a document"])
    with running(name) as server:
        for kind in (PLAIN, OURS) * 3:  # lets the server compile what it does often
            _timed(server, _bulk, kind, texts[:WARM_UP])
        for label, send in HELPERS.items():
            rounds = [_round(server, send, texts, number) for number in range(ROUNDS)]
            for kind in (PLAIN, OURS, MADE):
                wall = median(times[kind][0] for times in rounds)
                cpu = median(times[kind][1] for times in rounds)
                ratio = median(times[PLAIN][0] / times[kind][0] for times in rounds)
                rate, milliseconds = len(texts) / wall, 1e3 * cpu / len(texts)
                table.add(f"{label}: {kind}", f"{rate:,.0f}", f"{ratio:.2f}", f"{milliseconds:.3f}")
    return table


def _round(server: Server, send: Send, texts: Sequence[str], number: int) -> dict[str, tuple[float, float]]:
    """Measure each kind once, beginning with another in each round."""
    kinds = [PLAIN, OURS, MADE]
    turn = number % len(kinds)
    return {kind: _timed(server, send, kind, texts) for kind in kinds[turn:] + kinds[:turn]}


def _timed(server: Server, send: Send, kind: str, texts: Sequence[str]) -> tuple[float, float]:
    """Fill a fresh index; return the wall and the CPU time."""
    properties = {"title": {"type": "text"}, "body": {"type": "text"}}
    server.create("documents", properties)
    actions: Actions = documents_of(texts)
    if kind != PLAIN:
        index = Index("documents", server.client, scheme="default", fields=["title", "body"])
        index.init()
        actions = index.documents.actions(actions)
        if kind == MADE:
            actions = list(actions)
    times = seconds(lambda: send(server, "documents", actions))
    server.delete("documents")
    return times
