"""The fingerprints of an embedded index, in memory, so that only what may be similar is read from it.

A text of a common topic shares two keys with some twenty of a million others, nearly all of them by chance. To read
these takes milliseconds; to estimate their similarities in memory, microseconds. What may be similar enough is then
read from the index and compared as always, so a verdict is that of `Index.find`. (But for a key that two different
bands share by chance, as they do in one of ten thousand pairs, which then have another in common, too.)

The table is made in a thread; until it is ready, and whenever others have written to the index since, the engine
searches. What the gate itself writes is added.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event

import numpy as np

from es_simhash._core.batched import chunks
from es_simhash._core.json_codec import parse_json
from es_simhash._core.json_paths import Json
from es_simhash._core.prefetch import StoppedError
from es_simhash.engines.base import Engine
from es_simhash.engines.embedded.engine import EmbeddedEngine
from es_simhash.engines.embedded.index import EmbeddedIndex, View
from es_simhash.gate.key_table import KeyTables, Packed, packed
from es_simhash.live.telemetry.engine import unwatched
from es_simhash.plans.candidates import Candidates, all_candidates
from es_simhash.plans.check import KeyPlaces
from es_simhash.plans.find import TextSearch
from es_simhash.plans.operations import Plan, Refresh, Search
from es_simhash.plans.search_experience import Part
from es_simhash.plans.search_terms import SearchTerms
from es_simhash.scheme import own_fields, query
from es_simhash.scheme.fingerprint import Fingerprint
from es_simhash.scheme.verdict.plausible import lowest_estimate

# Documents that are read at once into the table, and from the index.
_READ, _AT_ONCE = 5_000, 1_000
# With more documents that may be similar to one, the engine's own limits apply.
_MANY = 100
# The share of the time that may go into making tables anew, and seconds between two attempts.
_SHARE, _PAUSE = 0.1, 0.01


@dataclass
class _Making:
    """A table in the making, of this state of the index."""

    index: EmbeddedIndex
    generation: int
    result: Future[tuple[KeyTables, float]]


class KnownKeys:
    """Fetches the candidates of a gate before an embedded index."""

    def __init__(self, engine: Engine, embedded: EmbeddedEngine, terms: SearchTerms, least: float) -> None:
        minhash = terms.documents.scheme.minhash
        assert minhash
        self._engine = engine
        self._embedded = embedded
        self._terms = terms
        self._least = least
        self._bands = minhash.layout
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="es-simhash-gate-keys")
        self._stops = Event()
        self._making: _Making | None = None
        self._made: tuple[EmbeddedIndex, KeyTables] | None = None
        # That of the index if nobody else has changed it since the table was made.
        self._generation = -1
        self._due = 0.0
        self._written: dict[str, Fingerprint] = {}

    @staticmethod
    def of(engine: Engine, terms: SearchTerms, *, grouping: bool) -> KnownKeys | None:
        """Return the table of an index where it helps: one that is embedded, and whose candidates have to be similar.

        ``grouping`` changes other documents as well, so that it is not known what the gate alone has changed.
        """
        embedded, minhash, criteria = unwatched(engine), terms.documents.scheme.minhash, terms.criteria
        if not isinstance(embedded, EmbeddedEngine) or grouping or minhash is None or criteria.distance is not None:
            return None
        if terms.verification is None or terms.documents.scheme.layout.keys == "fields":
            return None
        least = lowest_estimate(criteria, minhash, minhash.layout.value_bits)
        return KnownKeys(engine, embedded, terms, least) if least > 0 else None

    def start(self) -> None:
        """Read the index, in a thread."""
        index = self._embedded.index(self._terms.index)
        generation = index.generation
        # What is written but not shown would appear later, without a change.
        self._engine.perform(Refresh(self._terms.index))
        self._making = _Making(index, generation, self._thread.submit(self._read, View.of(index)))

    def wait(self) -> None:
        """Wait until the index is read, if it is being read."""
        if making := self._making:
            making.result.exception()

    @property
    def is_reading(self) -> bool:
        """Whether the index is being read."""
        making = self._making
        return making is not None and not making.result.done()

    def close(self) -> None:
        """Stop reading."""
        self._stops.set()
        self._thread.shutdown()

    def candidates(
        self, terms: SearchTerms, searches: Sequence[TextSearch], *, with_texts: bool
    ) -> Plan[list[Candidates]]:
        """Return the candidates of each search that may be similar enough."""
        tables = self._current()
        if tables is None or not searches:
            return (yield from all_candidates(terms, searches, with_texts=with_texts))
        ids: dict[int, set[str]] = defaultdict(set)
        keys, shared = self._packed([search.fingerprint for search in searches]), terms.shared_bands or 1
        for place, id_ in tables.similar(keys, shared, self._least):
            ids[place].add(id_)
        found = [Candidates()] * len(searches)
        if many := [place for place, some in ids.items() if len(some) > _MANY]:
            replies = yield from all_candidates(terms, [searches[place] for place in many], with_texts=with_texts)
            for place, reply in zip(many, replies, strict=True):
                found[place] = reply
        few = [place for place in ids if len(ids[place]) <= _MANY]
        hits = yield from _read_hits(terms, [searches[place] for place in few], set().union(*(ids[i] for i in few)))
        for place, some in zip(few, hits, strict=True):
            found[place] = Candidates(some, True, Part.TEXTS)
        return found

    def add(self, id_: str, fingerprint: Fingerprint) -> None:
        """Note a document that is to be written; until `flush` it is not needed, since the gate remembers it."""
        if fingerprint.status != "empty" and (self._made or self._making):
            self._written[id_] = fingerprint

    def note_written(self, count: int) -> None:
        """Take in how many documents the gate has written; their fingerprints were added."""
        self._generation += count
        if self._making:
            self._making.generation += count

    def flush(self) -> None:
        """Add what was written to the table, before it is forgotten."""
        self._take_made()
        if self._written and self._made and not self._making:
            self._made[1].add(self._packed(list(self._written.values())), list(self._written))
            self._written.clear()

    def _current(self) -> KeyTables | None:
        """Return the table if it has all documents of the index; else see to it that there will be one."""
        index = self._embedded.index(self._terms.index)
        generation = index.generation
        self._take_made()
        if self._made and self._made[0] is index and self._generation == generation:
            return self._made[1]
        if self._making is None:
            self._made = None
            self._written.clear()
            if time.monotonic() >= self._due:
                self.start()
        return None

    def _take_made(self) -> None:
        making = self._making
        if making is None or not making.result.done():
            return
        self._making = None
        self._due = time.monotonic() + _PAUSE
        # Where the index cannot be read, searching it says so.
        if making.result.exception() is None:
            tables, seconds = making.result.result()
            self._made, self._generation = (making.index, tables), making.generation
            self._due += seconds / _SHARE
            self.flush()

    def _packed(self, fingerprints: Sequence[Fingerprint]) -> Packed:
        return packed(self._bands, np.stack([each.signature for each in fingerprints]))

    def _read(self, view: View) -> tuple[KeyTables, float]:
        """Read the fingerprints of an index."""
        began, documents = time.monotonic(), self._terms.documents
        keys: list[Packed] = []
        ids: list[str] = []
        for _, some in chunks(view.documents(), _READ):
            if self._stops.is_set():
                raise StoppedError
            objects = [parse_json(source.decode()).get(documents.prefix) for _, source in some]
            stored = own_fields.read_all(documents.scheme, documents.scheme.id, objects)
            assert stored.keyed is not None
            if stored.places:
                keys.append(packed(self._bands, stored.keyed))
                ids += [some[place][0] for place in stored.places]
        tables = KeyTables(self._bands)
        if keys:
            tables.add(np.concatenate(keys), ids)
        return tables, time.monotonic() - began


def _read_hits(terms: SearchTerms, searches: Sequence[TextSearch], ids: set[str]) -> Plan[list[list[Json]]]:
    """Return of the documents with these ids those that share a key with each search, with their texts."""
    hits: list[Json] = []
    for _, some in chunks(sorted(ids), _AT_ONCE):
        body = query.body({"ids": {"values": some}}, size=len(some), source=searches[0].source(Part.TEXTS))
        hits += (yield Search(terms.index, body))["hits"]["hits"]
    return divided(terms, searches, hits)


def divided(terms: SearchTerms, searches: Sequence[TextSearch], hits: Sequence[Json]) -> list[list[Json]]:
    """Return for each search the hits that share enough keys with it."""
    by_key = KeyPlaces()
    for place, hit in enumerate(hits):
        stored = own_fields.object_in(hit.get("_source"), terms.documents.prefix)
        by_key.add(own_fields.keys_in(stored, "band"), place)
    least = terms.shared_bands or 1
    counts = (by_key.shared(own_fields.keys_in(search.fields, "band")) for search in searches)
    return [[hits[place] for place in sorted(shared) if shared[place] >= least] for shared in counts]
