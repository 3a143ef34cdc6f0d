"""A gate before an embedded index of {documents:,} texts of 1.3 kB, with the compiled kernels.

Each text is asked about once; a duplicate is a text of the index without its last words. Yes is on disk before it is
answered, or, *without sync*, handed to the system. Throughput is by the CPU time of the one process, in batches of
{batch}, once the fingerprints of the index are in memory. `Index.check` remembers nothing, and writes no journal.
"""

from __future__ import annotations

import http.client
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from benchmarks.corpora import topical
from benchmarks.intervals import quantile
from benchmarks.tables import Table
from es_simhash import Index
from es_simhash._core.batches import rarely_collected
from es_simhash._core.json_codec import Json
from es_simhash.gate import Gate, GateOptions
from es_simhash.gate.requests import AskedDocument
from es_simhash.plans.operations import Action, Bulk, CreateIndex

DOCUMENTS, LENGTH, BATCH = 1_000_000, 1300, 100
ASKED, WARM_UP = 2_000, 200
__doc__ = __doc__.format(documents=DOCUMENTS, batch=BATCH)
INDEX = "gate"
# Characters that a duplicate lacks at its end.
_CUT = 20

# Answers about one document.
Ask = Callable[[str, str], object]


def run(share: float = 1.0) -> Iterator[Table]:
    """Measure one gate after the other."""
    count, asked = int(DOCUMENTS * share), max(2 * BATCH, int(ASKED * min(1.0, 10 * share)))
    texts = topical(count + 10 * (asked + WARM_UP) + 4 * BATCH, LENGTH)
    there, fresh = texts[:count], iter(texts[count:])
    with tempfile.TemporaryDirectory() as folder:
        engine = Path(folder, "engine")
        _fill(engine, there)
        yield _latencies(folder, engine, there, fresh, asked)
        yield _throughput(folder, engine, there, fresh, asked)
        yield _sizes(folder, there[: max(BATCH, count // 100)])


def _fill(engine: Path, texts: Sequence[str]) -> None:
    with Index(INDEX, engine, fields=["body"]) as index:
        index.init()
        index.add({"_id": str(place), "_source": {"body": text}} for place, text in enumerate(texts))
        index.refresh()
        index.learn()


def _duplicates(texts: Sequence[str], count: int) -> list[str]:
    return [text[:-_CUT] for text in random.Random(3).choices(texts, k=count)]


def _latencies(folder: str, engine: Path, there: Sequence[str], fresh: Iterator[str], asked: int) -> Table:
    table = Table("One document", ["", "p50, ms", "p90, ms", "p99, ms"])
    ways: dict[str, Callable[[Path, Path], AbstractContextManager[Ask]]] = {
        "in process": partial(_in_process, syncs=True),
        "in process, without sync": partial(_in_process, syncs=False),
        "over HTTP": _over_http,
    }
    for way, opened in ways.items():
        with opened(engine, Path(folder, way)) as ask:
            for kind in ("new", "duplicate"):
                count = asked + WARM_UP
                sent = [next(fresh) for _ in range(count)] if kind == "new" else _duplicates(there, count)
                times = np.array([_milliseconds(ask, f"{kind} {place}", text) for place, text in enumerate(sent)])
                found = times[np.newaxis, WARM_UP:]
                table.add(f"{way}, {kind}", *(quantile(found, part) for part in (0.5, 0.9, 0.99)))
    return table


def _milliseconds(ask: Ask, id_: str, text: str) -> float:
    began = time.perf_counter()
    ask(id_, text)
    return 1e3 * (time.perf_counter() - began)


@contextmanager
def _opened(engine: Path, state: Path, syncs: bool) -> Iterator[Gate]:
    options = GateOptions(syncs=syncs)
    with Gate(INDEX, str(engine), state=state, options=options) as gate, rarely_collected():
        gate.warm_up()
        yield gate


@contextmanager
def _in_process(engine: Path, state: Path, syncs: bool) -> Iterator[Ask]:
    with _opened(engine, state, syncs) as gate:
        yield lambda id_, text: gate.check([{"_id": id_, "body": text}])


@contextmanager
def _over_http(engine: Path, state: Path) -> Iterator[Ask]:
    """Yield a client with one connection that stays open, as those of services do."""
    command = [sys.executable, "-m", "es_simhash", "gate", INDEX, "--url", str(engine), "--state", str(state)]
    command += ["--port", "0", "--json", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        place = urlsplit(json.loads(process.stdout.readline())["address"])
        with closing(http.client.HTTPConnection(str(place.hostname), place.port)) as connection:
            while not _is_warm(connection):
                time.sleep(0.5)
            yield partial(_asked, connection)
        process.terminate()


def _is_warm(connection: http.client.HTTPConnection) -> bool:
    connection.request("GET", "/health")
    with connection.getresponse() as reply:
        return bool(json.loads(reply.read())["warm"])


def _asked(connection: http.client.HTTPConnection, id_: str, text: str) -> None:
    connection.request("POST", "/check", json.dumps({"_id": id_, "body": text}), {"content-type": "application/json"})
    with connection.getresponse() as reply:
        reply.read()
        if reply.status != http.HTTPStatus.OK:
            raise RuntimeError(f"The gate answered {reply.status}.")


def _throughput(folder: str, engine: Path, there: Sequence[str], fresh: Iterator[str], asked: int) -> Table:
    table = Table("In batches", ["", "documents a second", "µs a document"])
    ways = {
        "check, new": (False, [next(fresh) for _ in range(asked)]),
        "check, duplicates": (False, _duplicates(there, asked)),
        "add, new": (True, [next(fresh) for _ in range(asked)]),
    }
    with _opened(engine, Path(folder, "throughput"), syncs=True) as gate:
        for label, (writes, texts) in ways.items():
            # All that is read once is read by a batch before.
            gate.answer(
                [AskedDocument({"_id": f"before {label} {n}", "body": text}) for n, text in enumerate(texts[:BATCH])]
            )
            batches = [
                [AskedDocument({"_id": f"{label} {place + n}", "body": text}, writes) for n, text in enumerate(part)]
                for place in range(BATCH, len(texts), BATCH)
                if (part := texts[place : place + BATCH])
            ]
            began = time.process_time()
            for batch in batches:
                gate.answer(batch)
            _add_rate(table, label, time.process_time() - began, sum(map(len, batches)))
    with Index(INDEX, engine) as index, rarely_collected():
        texts = [next(fresh) for _ in range(asked)]
        list(index.check([{"body": text} for text in texts[:BATCH]]))
        began = time.process_time()
        for text in texts[BATCH:]:
            list(index.check([{"body": text}]))
        _add_rate(table, "`Index.check`, one at a time, new", time.process_time() - began, len(texts) - BATCH)
    return table


def _add_rate(table: Table, label: str, seconds: float, count: int) -> None:
    each = seconds / max(1, count)
    table.add(label, f"{1 / each:,.0f}" if each else "", f"{1e6 * each:.0f}")


def _sizes(folder: str, texts: Sequence[str]) -> Table:
    """Measure files; the index has as many documents with fields as without."""
    table = Table("On disk", ["", "bytes a document"])
    sizes = []
    for name in ("with", "without"):
        target = Path(folder, f"size {name}")
        with Index(INDEX, target, fields=["body"]) as index:
            documents = ({"_id": str(place), "_source": {"body": text}} for place, text in enumerate(texts))
            if name == "with":
                index.init()
                index.add(documents)
            else:
                _write_plain(index, documents)
            index.refresh()
        sizes.append(sum(path.stat().st_size for path in target.rglob("*") if path.is_file()) / len(texts))
    table.add("fields in the index", f"{sizes[0] - sizes[1]:,.0f}")
    with _opened(Path(folder, "size with"), Path(folder, "size state"), syncs=False) as gate:
        for start in range(0, len(texts), BATCH):
            part = enumerate(texts[start : start + BATCH], start)
            # Read backwards, they are like nothing in the index.
            gate.answer([AskedDocument({"_id": f"new {place}", "body": text[::-1]}) for place, text in part])
        table.add("journal, until the index shows the document", f"{gate.journal_bytes / max(1, gate.pending):,.0f}")
    return table


def _write_plain(index: Index, documents: Iterator[Json]) -> None:
    index.engine.perform(CreateIndex(index.name, {}))
    actions = [Action("index", each["_id"], each["_source"]) for each in documents]
    index.engine.perform(Bulk(index.name, actions))
