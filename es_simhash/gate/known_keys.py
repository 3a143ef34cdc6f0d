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
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event

import numpy as np

from es_simhash._core.batches import StoppedError, chunks
from es_simhash._core.json_codec import Json, parse_json
from es_simhash.engines.base import Engine
from es_simhash.engines.embedded.engine import EmbeddedEngine
from es_simhash.engines.embedded.index import EmbeddedIndex, View
from es_simhash.live.measured_engine import unwatched
from es_simhash.plans.find import Candidates, TextSearch, all_candidates
from es_simhash.plans.find_options import SearchTerms
from es_simhash.plans.operations import Plan, Refresh, Search
from es_simhash.plans.reply_size import DocumentPart
from es_simhash.scheme import own_fields, query
from es_simhash.scheme.fingerprinting import Fingerprint
from es_simhash.scheme.verifier import lowest_estimate
from es_simhash.sketches.keys import Bands, KeyIndex, Keys

# Documents that are read at once into the table, and from the index; and pairs that are estimated at once.
_READ, _AT_ONCE, _ESTIMATED = 5_000, 1_000, 20_000
# With more documents that may be similar to one, the engine's own limits apply.
_MANY = 100
# The share of the time that may go into rebuilding tables, and seconds between two attempts.
_SHARE, _PAUSE = 0.1, 0.01


class _Table:
    """The fingerprints of documents, 400 bytes each with 36 bands of 3 rows: keys with their places, and the ids."""

    def __init__(self, bands: Bands) -> None:
        self._bands = bands
        self._index = KeyIndex(bands.count, bands.packed_type)
        self._ids: list[str] = []

    def add(self, keys: Keys, ids: Iterable[str]) -> None:
        """Add documents."""
        self._index.add(keys)
        self._ids += ids

    def similar(self, keys: Keys, shared: int, least: float) -> dict[int, set[str]]:
        """Return for rows of keys the ids that share this many bands, and are as similar by an estimate."""
        rows, places, _ = self._index.sharing(keys, shared)
        found: dict[int, set[str]] = defaultdict(set)
        for start in range(0, len(rows), _ESTIMATED):
            some, others = rows[start : start + _ESTIMATED], places[start : start + _ESTIMATED]
            near = self._bands.similarities(keys[some], self._index.keys_at(others)) >= least
            for row, place in zip(some[near].tolist(), others[near].tolist(), strict=True):
                found[row].add(self._ids[place])
        return found


@dataclass
class _Making:
    """A table, made or in the making, of this state of the index: nobody but the gate has changed it since."""

    index: EmbeddedIndex
    generation: int
    result: Future[tuple[_Table, float]]


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
        self._made: _Making | None = None
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
        # Documents written but not shown would appear later, without a change.
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
        keys, shared = self._packed([search.fingerprint for search in searches]), terms.shared_bands or 1
        ids = tables.similar(keys, shared, self._least)
        found = [Candidates()] * len(searches)
        if many := [place for place, some in ids.items() if len(some) > _MANY]:
            replies = yield from all_candidates(terms, [searches[place] for place in many], with_texts=with_texts)
            for place, reply in zip(many, replies, strict=True):
                found[place] = reply
        few = [place for place in ids if len(ids[place]) <= _MANY]
        hits = yield from _read_hits(
            terms, searches[0].source(DocumentPart.TEXTS), set().union(*(ids[place] for place in few))
        )
        for place in few:
            some = [hits[id_] for id_ in sorted(ids[place]) if id_ in hits]
            found[place] = Candidates(_sharing(terms, searches[place], some, shared), True, DocumentPart.TEXTS)
        return found

    def add(self, id_: str, fingerprint: Fingerprint) -> None:
        """Note a document that is to be written; until `flush` it is not needed, since the gate remembers it."""
        if fingerprint.status != "empty" and (self._made or self._making):
            self._written[id_] = fingerprint

    def note_written(self, count: int) -> None:
        """Take in how many documents the gate has written; their fingerprints were added."""
        for each in filter(None, (self._making, self._made)):
            each.generation += count

    def flush(self) -> None:
        """Add what was written to the table, before it is forgotten."""
        self._take_made()
        if self._written and self._made and not self._making:
            self._made.result.result()[0].add(self._packed(list(self._written.values())), list(self._written))
            self._written.clear()

    def _current(self) -> _Table | None:
        """Return the table if it has all documents of the index; else see to it that there will be one."""
        index = self._embedded.index(self._terms.index)
        generation = index.generation
        self._take_made()
        if self._made and self._made.index is index and self._made.generation == generation:
            return self._made.result.result()[0]
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
        # If the index cannot be read, searching it says so.
        if making.result.exception() is None:
            self._made = making
            self._due += making.result.result()[1] / _SHARE
            self.flush()

    def _packed(self, fingerprints: Sequence[Fingerprint]) -> Keys:
        return self._bands.packed(np.stack([each.signature for each in fingerprints]))

    def _read(self, view: View) -> tuple[_Table, float]:
        """Read the fingerprints of an index."""
        began, documents = time.monotonic(), self._terms.documents
        keys: list[Keys] = []
        ids: list[str] = []
        for _, some in chunks(view.documents(), _READ):
            if self._stops.is_set():
                raise StoppedError
            objects = [parse_json(source.decode()).get(documents.prefix) for _, source in some]
            stored = own_fields.read_all(documents.scheme, documents.scheme.id, objects)
            assert stored.keyed is not None
            if stored.places:
                keys.append(self._bands.packed(stored.keyed))
                ids += [some[place][0] for place in stored.places]
        tables = _Table(self._bands)
        if keys:
            tables.add(np.concatenate(keys), ids)
        return tables, time.monotonic() - began


def _read_hits(terms: SearchTerms, source: list[str] | bool, ids: set[str]) -> Plan[dict[str, Json]]:
    """Return the documents with these ids."""
    hits: dict[str, Json] = {}
    for _, some in chunks(sorted(ids), _AT_ONCE):
        body = query.body({"ids": {"values": some}}, size=len(some), source=source)
        hits |= {hit["_id"]: hit for hit in (yield Search(terms.index, body))["hits"]["hits"]}
    return hits


def _sharing(terms: SearchTerms, search: TextSearch, hits: Iterable[Json], least: int) -> list[Json]:
    """Return the hits that share enough keys with a search by what is stored of them, as the engine would."""
    wanted = set(own_fields.terms_in(search.fields, "band"))
    prefix = terms.documents.prefix
    stored = ((hit, own_fields.object_in(hit.get("_source"), prefix)) for hit in hits)
    return [hit for hit, own in stored if len(wanted.intersection(own_fields.terms_in(own, "band"))) >= least]
