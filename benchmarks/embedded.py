"""Documents loaded into the embedded engine a second, compared with tantivy, the library that stores them.

English documents of 1.3 kB with a title and a body. `Index.add` gets their texts, the engine without fingerprints the
same documents as its bulk request. tantivy, with one thread and the same buffer, gets the same sources to store, and
cuts the texts into words by itself. CPU time of the process until all are searchable, medians of {rounds} rounds in
turns.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median

import tantivy

from benchmarks.corpora import topical
from benchmarks.measuring import seconds
from benchmarks.nodes import Json, documents_of
from benchmarks.tables import Table
from es_simhash import Index
from es_simhash.engines.embedded import EmbeddedEngine
from es_simhash.plans.operations import Action, Bulk, CreateIndex, Refresh

DOCUMENTS, ROUNDS, BATCH = 30_000, 5, 500
BUFFER = 128_000_000
__doc__ = __doc__.format(rounds=ROUNDS)

INDEX, FIELDS = "documents", ("title", "body")
MAPPINGS: Json = {"properties": {field: {"type": "text"} for field in FIELDS}}

# Loads documents into an empty directory.
Load = Callable[[Sequence[Json], Path], None]


def _with_fingerprints(documents: Sequence[Json], folder: Path) -> None:
    engine = EmbeddedEngine(folder)
    index = Index(INDEX, engine, scheme="default", fields=FIELDS)
    index.init(create={"mappings": MAPPINGS})
    index.add(documents)
    index.refresh()
    engine.close()


def _without(documents: Sequence[Json], folder: Path) -> None:
    engine = EmbeddedEngine(folder)
    engine.perform(CreateIndex(INDEX, {"mappings": MAPPINGS}))
    for first in range(0, len(documents), BATCH):
        batch = documents[first : first + BATCH]
        engine.perform(Bulk(INDEX, [Action("index", each["_id"], each["_source"]) for each in batch]))
    engine.perform(Refresh(INDEX))
    engine.close()


def _by_tantivy(documents: Sequence[Json], folder: Path) -> None:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_bytes_field("source", stored=True)
    for field in FIELDS:
        builder.add_text_field(field, index_option="freq")
    index = tantivy.Index(builder.build(), path=str(folder))
    writer = index.writer(BUFFER, 1)
    for each in documents:
        source = each["_source"]
        stored = json.dumps(source, ensure_ascii=False).encode()
        writer.add_document(tantivy.Document(id=each["_id"], source=stored, **source))
    writer.commit()
    writer.wait_merging_threads()


LOADS: dict[str, Load] = {
    "Index.add": _with_fingerprints,
    "the engine, without fingerprints": _without,
    "tantivy": _by_tantivy,
}


def run(share: float = 1.0) -> Iterator[Table]:
    """Load the same documents in all ways."""
    documents = list(documents_of(topical(int(DOCUMENTS * share))))
    taken: dict[str, list[float]] = {label: [] for label in LOADS}
    sizes: dict[str, int] = {}
    for _ in range(ROUNDS):
        for label, load in LOADS.items():
            cpu, sizes[label] = _loaded(load, documents)
            taken[label].append(cpu)
    table = Table(
        "Loading",
        ["", "documents a second of CPU", "× tantivy", "bytes a document"],
        f"{len(documents):,} documents.",
    )
    for label, times in taken.items():
        ratio = median(base / own for base, own in zip(taken["tantivy"], times, strict=True))
        rate, size = len(documents) / median(times), sizes[label] / len(documents)
        table.add(label, f"{rate:,.0f}", f"{ratio:.2f}", f"{size:,.0f}")
    yield table


def _loaded(load: Load, documents: Sequence[Json]) -> tuple[float, int]:
    """Load documents; return the CPU seconds and the bytes on disk."""
    with tempfile.TemporaryDirectory() as folder:
        _, cpu = seconds(lambda: load(documents, Path(folder)))
        return cpu, sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
