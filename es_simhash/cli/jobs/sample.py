"""Random samples of the documents of files or of an index, taken before anything is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from es_simhash._core.json_paths import Json
from es_simhash.cli.jobs.labelled_documents import OnProgress, hits_of, with_texts
from es_simhash.documents.files import FileDocument
from es_simhash.documents.rejected import OnReject
from es_simhash.engines.base import Engine
from es_simhash.plans.operations import Count, Refresh, Sample
from es_simhash.quality.stored_documents import StoredDocuments

_ALL: Json = {"match_all": {}}


@dataclass(frozen=True)
class Sampled:
    """Documents as (id, text) pairs, out of ``total``."""

    documents: Sequence[tuple[str, str]]
    total: int


def sample_of_files(
    found: Iterable[tuple[FileDocument, str]], size: int, on_progress: OnProgress = lambda _: None, seed: int = 0
) -> Sampled:
    """Sample ``size`` documents in their order (Vitter, "Random sampling with a reservoir", 1985)."""
    random, reservoir, total = Random(seed), list[tuple[int, str, str]](), 0
    for each, text in found:
        place = total if total < size else random.randint(0, total)
        if total < size:
            reservoir.append((total, each.id, text))
        elif place < size:
            reservoir[place] = (total, each.id, text)
        total += 1
        on_progress(total)
    return Sampled([(id_, text) for _, id_, text in sorted(reservoir)], total)


def sample_of_index(
    engine: Engine, index: str, fields: Sequence[str], filter: Json | None, size: int, on_reject: OnReject
) -> Sampled:
    """Sample ``size`` documents with a text in the fields; they need no fingerprints."""
    wanted = filter or _ALL
    engine.perform(Refresh(index))
    hits = engine.perform(Sample(index, size, fields, wanted))
    texts = [(hit["_id"], text) for hit, text in with_texts(hits, fields, on_reject)]
    return Sampled(texts, engine.perform(Count(index, wanted)))


def all_of_index(
    engine: Engine,
    index: str,
    stored: StoredDocuments,
    fields: Sequence[str],
    filter: Json | None,
    on_reject: OnReject,
    on_progress: OnProgress,
    patience: float,
) -> None:
    """Store all documents, which labels need; if several indices have the same id, the first document."""
    for hit, text in with_texts(hits_of(engine, index, filter or _ALL, list(fields), patience), fields, on_reject):
        stored.add(hit["_id"], text)
        on_progress(len(stored))
