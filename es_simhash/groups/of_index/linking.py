"""Linking the documents that were read from an index, and making groups of the links."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from es_simhash._core.json_paths import Json
from es_simhash._core.prefetch import Stop
from es_simhash._core.stages import OnProgress
from es_simhash.documents.documents import Documents
from es_simhash.engines.base import StoppableEngine
from es_simhash.groups.forms import forms
from es_simhash.groups.of_index.canonical_order import Ranking
from es_simhash.groups.of_index.document_texts import DocumentReader, DocumentTexts
from es_simhash.groups.of_index.options import GroupOptions
from es_simhash.groups.of_index.reading import IndexReading
from es_simhash.groups.of_index.result import Grouped, LinkedDocuments
from es_simhash.groups.pairs.compare import Comparison, Pairs
from es_simhash.groups.pairs.document_links import Bounds, Links, link
from es_simhash.groups.pairs.fingerprint_store import FingerprintStore
from es_simhash.groups.pairs.nearness import Nearness
from es_simhash.groups.pairs.result import Counts
from es_simhash.groups.pairs.sorting import Numbers
from es_simhash.groups.pairs.spool import Spools
from es_simhash.scheme.verdict.verifier import Verifier


def grouped(
    engine: StoppableEngine, documents: Documents, options: GroupOptions, spools: Spools, read: IndexReading
) -> Grouped:
    """Link the documents that were read, and make groups."""
    reader, texts, exact = DocumentReader(engine, options.patience), None, None
    if verification := read.criteria.verification:
        texts = DocumentTexts(reader, documents, read.refs, spools, options.memory, options.strip)
        exact = texts.exact(Verifier(documents.scheme, verification, read.table))
    comparison = _StoppableComparison(engine.stop, read.store, read.criteria, exact)
    joined, new = read.joined()
    if read.saved and not options.shard:
        spools.stages = read.saved.stages(read.indices, _settled(options, read, new))
    links = link(read.store, read.criteria, comparison, options.memory, spools, Bounds(options.max_bucket, new))
    links.union.union(*joined)
    ranking = Ranking(options.canonical, read.refs, reader)
    ranking.read(links.union.groups())
    nearness = Nearness(read.store, read.criteria, exact)
    known = read.indices, read.note, joined, read.unread, read.part, options.shard is not None
    find_forms = None
    if texts and read.criteria.similarity is not None:
        find_forms = partial(forms, documents.scheme, nearness, texts.readable)
    found = LinkedDocuments(read.refs, links, nearness, ranking, read.table, *known, find_forms)
    counts = _counts(read.store, links, comparison)
    if read.part:
        counts = replace(counts, documents=read.part.documents - read.others)
    if options.shard:
        counts = replace(counts, documents=read.in_shard)
    result = Grouped(spools, found, counts, read.others, None if new is None else int(new.sum()))
    if read.saved and not options.shard:
        read.saved.remove()
        spools.stages.remove()
    return result


def _settled(options: GroupOptions, read: IndexReading, new: npt.NDArray[np.bool_] | None) -> Json:
    """Return all that decides which documents are linked, beside what was read: by it kept stages are known."""
    compared = None if new is None else np.packbits(new).tobytes().hex()
    table = read.table.id if read.table else None
    settings = [options.max_bucket, list(options.strip), table, compared]
    return {"settings": sha256(json.dumps(settings).encode()).hexdigest()}


class _StoppableComparison(Comparison):
    """A comparison that can also be stopped between requests."""

    def __init__(self, stop: Stop, *given: Any) -> None:
        super().__init__(*given)
        self._stop = stop

    def measured(self, codes: Numbers, advance: OnProgress[int] = lambda _: None) -> Iterator[Pairs]:
        """Yield the pairs whose similarity counts, in the order in which they come."""
        for pairs in super().measured(codes, advance):
            self._stop.check()
            yield pairs


def _counts(store: FingerprintStore, links: Links, comparison: Comparison) -> Counts:
    return Counts(
        documents=len(store),
        empty=0,
        identical=links.identical,
        near=links.near,
        groups=0,
        duplicates=0,
        compared=comparison.compared,
        verified=comparison.verified,
        refused=comparison.refused,
        left_out=links.left_out,
        cut_off=links.cut_off,
        unscoped=store.unscoped,
        valley=comparison.sample.valley,
    )
