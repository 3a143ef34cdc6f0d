"""Documents indexed per second by the clients' bulk helpers, with and without fingerprints.

English documents of 1.3 kB with a title and a body, sent to fresh indices of one shard: as they are, through
`Documents.actions`, and with fields made beforehand, which shows the cost of the server and the longer requests alone.
Ratios are those to the plain documents of the same round, medians of {rounds} rounds; in brackets what {level:.0%} of
other draws of the rounds give. Client and server share the machine.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import median
from typing import NamedTuple, TypeAlias

from benchmarks.corpora import topical
from benchmarks.intervals import LEVEL, over_rounds
from benchmarks.measuring import seconds
from benchmarks.nodes import CHUNK, SERVERS, Json, Server, documents_of, running
from benchmarks.tables import Table, side_by_side
from es_simhash import Index

DOCUMENTS, WARM_UP, ROUNDS = 10_000, 5_000, 7
__doc__ = __doc__.format(rounds=ROUNDS, level=LEVEL)

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


def _streaming_bulk(server: Server, index: str, actions: Actions) -> object:
    return deque(server.helpers.streaming_bulk(server.client, actions, index=index, chunk_size=CHUNK), maxlen=0)


def _parallel_bulk(server: Server, index: str, actions: Actions) -> object:
    helper = server.helpers.parallel_bulk
    return deque(helper(server.client, actions, index=index, chunk_size=CHUNK, thread_count=2), maxlen=0)


HELPERS: dict[str, Send] = {
    "bulk": _bulk,
    "streaming_bulk": _streaming_bulk,
    "parallel_bulk, 2 threads": _parallel_bulk,
}


class Cost(NamedTuple):
    """Wall seconds, and CPU seconds of the client and of the server."""

    wall: float
    client: float
    server: float


def _on_server(name: str, texts: Sequence[str]) -> Table:
    table = Table("", ["", "documents a second", "× plain", "CPU µs of the client a document", "of the server"])
    with running(name) as server:
        for kind in (PLAIN, OURS) * 3:  # lets the server compile what it does often
            _timed(server, _bulk, kind, texts[:WARM_UP])
        for label, send in HELPERS.items():
            rounds = [_round(server, send, texts, number) for number in range(ROUNDS)]
            for kind in (PLAIN, OURS, MADE):
                costs = [round_[kind] for round_ in rounds]
                ratio = over_rounds([round_[PLAIN].wall / round_[kind].wall for round_ in rounds])
                client, server_ = (1e6 * median(cost[i] for cost in costs) / len(texts) for i in (1, 2))
                rate = len(texts) / median(cost.wall for cost in costs)
                table.add(f"{label}: {kind}", f"{rate:,.0f}", ratio, f"{client:.0f}", f"{server_:.0f}")
    return table


def _round(server: Server, send: Send, texts: Sequence[str], number: int) -> dict[str, Cost]:
    """Measure each kind once, beginning with another in each round."""
    kinds = [PLAIN, OURS, MADE]
    turn = number % len(kinds)
    return {kind: _timed(server, send, kind, texts) for kind in kinds[turn:] + kinds[:turn]}


def _timed(server: Server, send: Send, kind: str, texts: Sequence[str]) -> Cost:
    """Fill a fresh index."""
    properties = {"title": {"type": "text"}, "body": {"type": "text"}}
    server.create("documents", properties)
    actions: Actions = documents_of(texts)
    if kind != PLAIN:
        index = Index("documents", server.client, scheme="default", fields=["title", "body"])
        index.init()
        actions = index.documents.actions(actions)
        if kind == MADE:
            actions = list(actions)
    before = server.cpu()
    times = seconds(lambda: send(server, "documents", actions))
    cost = Cost(*times, server.cpu() - before)
    server.delete("documents")
    return cost
