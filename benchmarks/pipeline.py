"""Documents indexed per second where an ingest pipeline makes the fingerprints on the server.

English documents of 1.3 kB go to fresh indices of one shard by ``helpers.bulk``: as they are, through
`Documents.actions`, and as they are into an index with the default pipeline. Ratios are those to the plain documents of
the same round, medians of {rounds} rounds; client and server share the machine. The time of the script alone is that
of simulated pipelines.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median

from benchmarks.corpora import topical
from benchmarks.nodes import SERVERS, Json, Server, documents_of, running
from benchmarks.tables import Table, side_by_side
from es_simhash import Documents, Index, Scheme
from es_simhash.documents.stored_scripts import pipeline

DOCUMENTS, ROUNDS = 5_000, 5
LENGTHS = (100, 1_000, 10_000, 100_000)
# Characters per simulation, and simulations per length.
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
    scripts = []
    for name, label in SERVERS.items():
        with running(name) as server:
            yield _indexing(server, texts)
            scripts.append((label, _lengths(server)))
    yield side_by_side("The script", scripts, "Milliseconds per text, default scheme, by the length of the text.")


def _indexing(server: Server, texts: Sequence[str]) -> Table:
    table = Table(
        f"Bulk indexing into {SERVERS[server.name]}",
        ["", "documents a second", "× plain", "CPU ms of the server a document"],
        f"{len(texts):,} documents.",
    )
    kinds = [PLAIN, OURS, SERVER]
    for kind in kinds * 3:  # lets the server compile what it does often
        _filled(server, kind, texts)
    rounds = [{kind: _filled(server, kind, texts) for kind in random.sample(kinds, 3)} for _ in range(ROUNDS)]
    for kind in kinds:
        wall, cpu = (median(times[kind][i] for times in rounds) for i in range(2))
        ratio = median(times[PLAIN][0] / times[kind][0] for times in rounds)
        table.add(kind, f"{len(texts) / wall:,.0f}", f"{ratio:.2f}", f"{1e3 * cpu / len(texts):.3f}")
    return table


def _filled(server: Server, kind: str, texts: Sequence[str]) -> tuple[float, float]:
    """Fill a fresh index; return the wall time and the CPU time of the server."""
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
    table = Table("", ["", *(f"{length:,} characters" for length in LENGTHS)])
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
    """Return the median time of a simulated pipeline for the texts."""
    asked = {"pipeline": body, "docs": [{"_source": {"text": text}} for text in texts]}
    return median(_time(lambda: server.http("POST", "/_ingest/pipeline/_simulate", asked)) for _ in range(REPEATS))


def _time(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
