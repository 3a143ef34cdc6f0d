"""Texts with planted copies, and what each way to find near-duplicates returns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from statistics import mean

import numpy as np

from benchmarks.measuring import Latency, in_turns_but_slow
from benchmarks.nodes import Json, Server
from benchmarks.planted import EDITS, Pair, plant
from benchmarks.ways import Ours, Way
from es_simhash import Scheme
from es_simhash._core.arrays import Codes
from es_simhash.sketches.hamming import distances

COUNTED = 300
# What takes longer is timed on fewer queries.
SLOW_MS = 50
SCHEME = Scheme()
SIMILARITY = SCHEME.minhash.similarity if SCHEME.minhash else 1.0


@dataclass(frozen=True)
class Corpus:
    """Texts with planted pairs."""

    name: str
    texts: list[str]
    pairs: list[Pair]

    @classmethod
    def of(cls, name: str, texts: Sequence[str], planted: int) -> Corpus:
        """Plant pairs among texts."""
        return cls(name, *plant(texts, planted))

    @cached_property
    def simhashes(self) -> Codes:
        """The SimHashes of the texts."""
        batches = [batch.simhashes for batch in SCHEME.fingerprint_batches(self.texts)]
        return np.concatenate([batch for batch in batches if batch is not None])

    def documents(self, count: int | None = None) -> Iterator[Json]:
        """Make actions that index the texts, or the first ``count``."""
        return ({"_id": str(i), "_source": {"body": text}} for i, text in enumerate(islice(self.texts, count)))

    @property
    def queries(self) -> list[str]:
        """The originals of the planted pairs."""
        return [self.texts[pair.original] for pair in self.pairs]


@dataclass
class Found:
    """Results of a way for each query, without the query itself."""

    ids: list[set[int]]
    candidates: float
    recalls: list[float] = field(default_factory=list)
    recall: float = 0.0
    precision: float = 0.0


# --- indices ---


def by_index(contenders: Sequence[Way]) -> dict[str, Way]:
    """Return the first way of each index, which fills it."""
    return {way.index: way for way in reversed(contenders)}


def fill(server: Server, contenders: Sequence[Way], corpus: Corpus) -> dict[str, int]:
    """Make the indices; return their sizes in bytes."""
    for index, way in by_index(contenders).items():
        way.create(index)
        server.fill(index, way.actions(index, corpus.documents()))
        way.prepare()
    return {index: server.size(index) for index in by_index(contenders)}


# --- latency ---


def latencies_of(server: Server, contenders: Sequence[Way], texts: Sequence[str], rounds: int) -> dict[str, Latency]:
    """Measure how long each way takes to find; the first half of the texts warms up."""
    half, ways = len(texts) // 2, {way.name: way.find for way in contenders}
    return in_turns_but_slow(ways, texts[half:], rounds, texts[:half], SLOW_MS, server.cpu)


# --- recall and precision ---


def what_is_found(way: Way, corpus: Corpus) -> Found:
    texts, originals = corpus.queries, [pair.original for pair in corpus.pairs]
    ids = [set(map(int, way.find(text))) - {place} for text, place in zip(texts, originals, strict=True)]
    found = Found(ids, mean(map(way.candidates, texts[:COUNTED])))
    found.recalls = [_recall_at(edits, ids, corpus.pairs) for edits in EDITS]
    distance = way.distance if isinstance(way, Ours) else None
    wanted = _alike(corpus) if distance is None else _within(distance, corpus)
    # The ten that peers return may have no room for all of many; a wanted document that is missing counts as such.
    hits = [len(each & near) for each, near in zip(ids, wanted, strict=True)]
    found.recall = sum(hits) / max(1, sum(map(len, wanted)))
    found.precision = _precision(ids, corpus)
    return found


def _recall_at(edits: float, ids: Sequence[set[int]], pairs: Sequence[Pair]) -> float:
    return mean(pair.copy in near for near, pair in zip(ids, pairs, strict=True) if pair.edits == edits)


def _alike(corpus: Corpus) -> list[set[int]]:
    """Return the copy of each pair, if it is similar enough."""
    return [{pair.copy} if _jaccard(corpus, pair.original, pair.copy) >= SIMILARITY else set() for pair in corpus.pairs]


def _within(distance: int, corpus: Corpus) -> list[set[int]]:
    """Return, for each pair, all documents within the distance of its original."""
    codes = corpus.simhashes
    near = [np.flatnonzero(distances(codes[pair.original], codes) <= distance) for pair in corpus.pairs]
    return [set(places.tolist()) - {pair.original} for places, pair in zip(near, corpus.pairs, strict=True)]


def _precision(ids: Sequence[set[int]], corpus: Corpus) -> float:
    returned = [(pair.original, other) for near, pair in zip(ids, corpus.pairs, strict=True) for other in near]
    return mean(_jaccard(corpus, *both) >= SIMILARITY for both in returned) if returned else 1.0


def _jaccard(corpus: Corpus, a: int, b: int) -> float:
    return SCHEME.exact_jaccard(corpus.texts[a], corpus.texts[b])
