"""Random samples of the documents of files or of an index, taken before anything is written.

With a scope, a sample says which pairs of its documents count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash._core.json_codec import Json
from es_simhash._core.stages import OnProgress
from es_simhash.cli.jobs.labelled_documents import hits_of, with_texts
from es_simhash.documents.files import FileDocument
from es_simhash.documents.rejected import OnReject
from es_simhash.engines.base import Engine, run
from es_simhash.plans.operations import Count, Refresh
from es_simhash.plans.reply_size import sampled
from es_simhash.quality.measures import Flags, InScope
from es_simhash.quality.predictions import StoredDocuments
from es_simhash.scheme.scope import Scope

_ALL: Json = {"match_all": {}}


@dataclass(frozen=True)
class Sampled:
    """Documents as (id, text) pairs, out of ``total``, and which pairs are ``in_scope``; None without a scope."""

    documents: Sequence[tuple[str, str]]
    total: int
    in_scope: InScope | None = None


def sample_of_files(
    found: Iterable[tuple[FileDocument, str]],
    size: int,
    on_progress: OnProgress[int] = lambda _: None,
    seed: int = 0,
    scope: Scope | None = None,
) -> Sampled:
    """Sample ``size`` documents in their order (Vitter, "Random sampling with a reservoir", 1985)."""
    random, reservoir, total = Random(seed), list[tuple[int, FileDocument, str]](), 0
    for each, text in found:
        place = total if total < size else random.randint(0, total)
        if total < size:
            reservoir.append((total, each, text))
        elif place < size:
            reservoir[place] = (total, each, text)
        total += 1
        on_progress(total)
    chosen = [(each, text) for _, each, text in sorted(reservoir, key=lambda kept: kept[0])]
    documents = [(each.id, text) for each, text in chosen]
    return Sampled(documents, total, _in_scope(scope, [dict(each.document) for each, _ in chosen]))


def sample_of_index(
    engine: Engine,
    index: str,
    fields: Sequence[str],
    filter: Json | None,
    size: int,
    on_reject: OnReject,
    scope: Scope | None = None,
) -> Sampled:
    """Sample ``size`` documents with a text in the fields; they need no fingerprints."""
    wanted = filter or _ALL
    engine.perform(Refresh(index))
    hits = run(sampled(index, size, [*fields, *_paths(scope)], wanted), engine)
    chosen = list(with_texts(hits, fields, on_reject))
    in_scope = _in_scope(scope, [hit.get("_source") or {} for hit, _ in chosen])
    return Sampled([(hit["_id"], text) for hit, text in chosen], engine.perform(Count(index, wanted)), in_scope)


def _paths(scope: Scope | None) -> tuple[str, ...]:
    return scope.paths if scope else ()


def _in_scope(scope: Scope | None, documents: Sequence[Json]) -> InScope | None:
    if scope is None:
        return None
    values = [scope.values_of(document) for document in documents]

    def in_scope(first: Integers, second: Integers) -> Flags:
        pairs = zip(first.tolist(), second.tolist(), strict=True)
        return np.array([scope.in_scope(values[a], values[b]) for a, b in pairs], dtype=np.bool_)

    return in_scope


def all_of_index(
    engine: Engine,
    index: str,
    stored: StoredDocuments,
    fields: Sequence[str],
    filter: Json | None,
    on_reject: OnReject,
    on_progress: OnProgress[int],
    patience: float,
) -> None:
    """Store all documents, which labels need; if several indices have the same id, the first document."""
    source = [*fields, *_paths(stored.scope)]
    for hit, text in with_texts(hits_of(engine, index, filter or _ALL, source, patience), fields, on_reject):
        stored.add(hit["_id"], text, hit.get("_source") or {})
        on_progress(len(stored))
