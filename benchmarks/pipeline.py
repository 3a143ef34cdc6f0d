"""How many documents a second get into an index where the server makes the fingerprints itself, by an ingest pipeline.

The same English documents of 1.3 kB go to fresh indices of one shard by ``helpers.bulk``, in turns: as they are,
through `Documents.actions` in this process, and as they are into an index whose default pipeline is ours. Ratios are
those of one round to the plain ones beside it, in the median of {rounds} rounds. The server's CPU time is that of its
process, with whatever else it does meanwhile; client and server share the machine. Below that, how long the script
takes for one text: by a simulated pipeline that has it, beside one that has nothing.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median

from benchmarks.corpora import topical
from benchmarks.nodes import SERVERS, Json, Server, documents_of, running
from benchmarks.tables import Table
from es_simhash import Documents, Index, Scheme
from es_simhash.documents.painless.ingest_pipeline import pipeline

DOCUMENTS, ROUNDS = 5_000, 5
LENGTHS = (100, 1_000, 10_000, 100_000)
# Characters of texts of one length that are simulated at once, and how often.
AT_ONCE, REPEATS = 100_000, 7
__doc__ = __doc__.format(rounds=ROUNDS)

PLAIN, OURS, SERVER = "plain", "fingerprints by the client", "fingerprints by the pipeline"
ALPHABETS = {
    "English letters": "etaoinshrdlu ETAOIN,.",
    "ideographs": "".join(map(chr, range(0x4E00, 0x5200))) + "，。",
    "every script": "".join(map(chr, [*range(0xA0, 0xD800, 7), *range(0x10000, 0x1F000, 7)])),
}


def run(share: float = 1.0) -> Iterator[Table]:
    """Measure both servers."""
    texts = topical(int(DOCUMENTS * share))
    for name in SERVERS:
        with running(name) as server:
            yield _indexing(server, texts)
            yield _lengths(server)


def _indexing(server: Server, texts: Sequence[str]) -> Table:
    table = Table(
        f"Bulk indexing into {SERVERS[server.name]}",
        ["", "documents a second", "× plain", "CPU ms of the server a document"],
        f"{len(texts):,} documents.",
    )
    kinds = [PLAIN, OURS, SERVER]
    for kind in kinds * 3:  # the server compiles what it does often
        _filled(server, kind, texts)
    rounds = [{kind: _filled(server, kind, texts) for kind in random.sample(kinds, 3)} for _ in range(ROUNDS)]
    for kind in kinds:
        wall, cpu = (median(times[kind][i] for times in rounds) for i in range(2))
        ratio = median(times[PLAIN][0] / times[kind][0] for times in rounds)
        table.add(kind, f"{len(texts) / wall:,.0f}", f"{ratio:.2f}", f"{1e3 * cpu / len(texts):.3f}")
    return table


def _filled(server: Server, kind: str, texts: Sequence[str]) -> tuple[float, float]:
    """How long it takes to fill a fresh index: by the clock, and in CPU time of the server."""
    server.create("documents", {"title": {"type": "text"}, "body": {"type": "text"}})
    index = Index("documents", server.client, fields=["title", "body"])
    actions = documents_of(texts)
    if kind != PLAIN:
        index.init()
    if kind == OURS:
        actions = index.documents.actions(actions)
    if kind == SERVER:
        index.pipeline(install=True, default=True)
    start, cpu = time.perf_counter(), server.cpu()
    server.load("documents", actions)
    times = time.perf_counter() - start, server.cpu() - cpu
    server.delete("documents")
    index.remove_pipeline()
    return times


def _lengths(server: Server) -> Table:
    table = Table(
        f"The script in {SERVERS[server.name]}",
        ["", *(f"{length:,} characters" for length in LENGTHS)],
        "Milliseconds a text of the default scheme.",
    )
    body = pipeline("documents", Documents(Scheme(), ["text"]))
    nothing: Json = {"processors": []}
    for name, alphabet in ALPHABETS.items():
        rng = random.Random(1)
        cells = []
        for length in LENGTHS:
            texts = ["".join(rng.choices(alphabet, k=length)) for _ in range(max(AT_ONCE // length, 1))]
            without, with_ = (_simulated(server, each, texts) for each in (nothing, body))
            cells.append(f"{1e3 * (with_ - without) / len(texts):.2f}")
        table.add(name, *cells)
    return table


def _simulated(server: Server, body: Json, texts: Sequence[str]) -> float:
    """The median time of a simulated pipeline for the texts."""
    asked = {"pipeline": body, "docs": [{"_source": {"text": text}} for text in texts]}
    return median(_time(lambda: server.http("POST", "/_ingest/pipeline/_simulate", asked)) for _ in range(REPEATS))


def _time(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
