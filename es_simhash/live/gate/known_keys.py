"""The keys that an embedded index has, in memory: only these are searched for, and new texts have hardly any.

To look a key up in the index takes five microseconds, and a text has 32 of them. The filter leaves out keys that no
document has, so that every search finds what it would find with all of them.

It is made of the index's own list of keys, in a thread; until it is ready, and whenever others have written to the
index since, all keys are searched for. What the gate itself writes is added.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import chain, product
from threading import Event

import numpy as np
import numpy.typing as npt

from es_simhash._core import digits
from es_simhash._core.json_paths import Json
from es_simhash._core.prefetch import StoppedError
from es_simhash.engines.base import Engine
from es_simhash.engines.embedded.engine import EmbeddedEngine
from es_simhash.engines.embedded.index import EmbeddedIndex, View
from es_simhash.errors import FormatError
from es_simhash.live.gate.key_filter import KeyFilter
from es_simhash.plans.candidates import Candidates, all_candidates
from es_simhash.plans.find import TextSearch
from es_simhash.plans.operations import Plan, Refresh
from es_simhash.plans.search_terms import SearchTerms
from es_simhash.plans.shared_candidates import shared_candidates
from es_simhash.scheme import own_fields

_Keys = npt.NDArray[np.uint64]

# Documents that there is room for at least, and beyond those of the index as a multiple.
_LEAST, _GROWTH = 50_000, 2
# Documents from which keys are read by their first two digits; more at once would keep requests waiting.
_MANY = 100_000
# The share of the time that may go into making filters anew.
_SHARE = 0.1
_DIGITS = frozenset(digits.BASE64URL)


@dataclass
class _Making:
    """A filter in the making: of this state of the index, and of what the gate has written ``since``."""

    index: EmbeddedIndex
    generation: int
    result: Future[tuple[KeyFilter, float]]
    since: list[_Keys] = field(default_factory=list)


class KnownKeys:
    """Fetches candidates by the keys that an index has; for the gate, which writes to it."""

    def __init__(self, engine: EmbeddedEngine, terms: SearchTerms) -> None:
        minhash = terms.documents.scheme.minhash
        assert minhash
        self._engine = engine
        self._terms = terms
        self._bands = minhash.layout
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="es-simhash-gate-keys")
        self._stops = Event()
        self._making: _Making | None = None
        self._made: tuple[EmbeddedIndex, KeyFilter] | None = None
        # That of the index if nobody else has changed it since its keys were read.
        self._generation = -1
        self._due = 0.0

    @staticmethod
    def of(engine: Engine, terms: SearchTerms, *, grouping: bool) -> KnownKeys | None:
        """Return the known keys of an index where they help: one that is embedded, and searched by bands alone.

        ``grouping`` changes other documents as well, so that it is not known what the gate alone has changed.
        """
        is_by_bands = terms.criteria.distance is None and terms.options.candidates == "keys"
        if not isinstance(engine, EmbeddedEngine) or not is_by_bands or grouping:
            return None
        return KnownKeys(engine, terms)

    def start(self) -> None:
        """Read the keys of the index, in a thread."""
        # What is written but not shown would appear later, without a change.
        index = self._engine.index(self._terms.index)
        generation = index.generation
        self._engine.perform(Refresh(self._terms.index))
        self._making = _Making(index, generation, self._thread.submit(self._read, View.of(index)))

    def wait(self) -> None:
        """Wait until keys are read that are being read."""
        if making := self._making:
            making.result.exception()

    @property
    def is_reading(self) -> bool:
        """Whether keys are being read."""
        making = self._making
        return making is not None and not making.result.done()

    def close(self) -> None:
        """Stop reading."""
        self._stops.set()
        self._thread.shutdown()

    def candidates(
        self, terms: SearchTerms, searches: Sequence[TextSearch], *, with_texts: bool
    ) -> Plan[list[Candidates]]:
        """Return the candidates of each search; those of several are asked for in one query."""
        known = self._current()
        if known is None or not searches:
            return (yield from all_candidates(terms, searches, with_texts=with_texts))
        narrowed = self._narrowed(searches, known)
        replies = iter((yield from shared_candidates(terms, list(narrowed.values()), with_texts=with_texts)))
        return [next(replies) if place in narrowed else Candidates() for place in range(len(searches))]

    def add(self, fields: Iterable[Json]) -> None:
        """Add the keys in the fields of documents that are to be written."""
        keys = self._numbers([key for each in fields for _, key in own_fields.terms_in(each, "band")])
        if self._made:
            self._made[1].add(keys)
        if self._making:
            self._making.since.append(keys)

    def note_written(self, count: int) -> None:
        """Take in how many documents the gate has written; their keys were added."""
        self._generation += count
        if self._making:
            self._making.generation += count

    def _current(self) -> KeyFilter | None:
        """Return the filter if it has all keys of the index; else see to it that there will be one."""
        index = self._engine.index(self._terms.index)
        generation = index.generation
        self._take_made()
        if self._made and self._made[0] is index and self._generation == generation and self._made[1].room >= 0:
            return self._made[1]
        if self._making is None and time.monotonic() >= self._due:
            self.start()
        return None

    def _take_made(self) -> None:
        making = self._making
        if making is None or not making.result.done():
            return
        self._making = None
        # Where the index cannot be read, searching it says so.
        if making.result.exception() is None:
            known, seconds = making.result.result()
            for keys in making.since:
                known.add(keys)
            self._made, self._generation = (making.index, known), making.generation
            self._due = time.monotonic() + seconds / _SHARE

    def _narrowed(self, searches: Sequence[TextSearch], known: KeyFilter) -> dict[int, TextSearch]:
        """Return the searches, by their places, that have a key of the index, with such keys only."""
        terms = [own_fields.terms_in(search.fields, "band") for search in searches]
        there = known.may_have(self._numbers([key for each in terms for _, key in each]))
        places = np.repeat(np.arange(len(searches)), [len(each) for each in terms])
        flat = list(chain.from_iterable(terms))
        found: dict[int, dict[str, list[str]]] = {}
        for at in np.flatnonzero(there).tolist():
            name, key = flat[at]
            found.setdefault(int(places[at]), {}).setdefault(name, []).append(key)
        return {
            place: replace(searches[place], fields=_with_keys(searches[place].fields, keys))
            for place, keys in found.items()
        }

    def _numbers(self, keys: Sequence[str]) -> _Keys:
        return digits.values_of("".join(keys), self._bands.key_digits, digits.BASE64URL)

    def _read(self, view: View) -> tuple[KeyFilter, float]:
        """Read the keys that an index lists, which may be some of deleted documents, too."""
        began = time.monotonic()
        documents = self._terms.documents
        count = view.searcher.num_docs
        known = KeyFilter(self._bands.count * (_LEAST + _GROWTH * count))
        for name in own_fields.names_of_bands(documents.scheme):
            for beginning in product(digits.BASE64URL, repeat=1 if count < _MANY else 2):
                if self._stops.is_set():
                    raise StoppedError
                tokens = view.tokens(f"{documents.prefix}.{name}", "".join(beginning))
                known.add(self._readable(tokens))
        return known, time.monotonic() - began

    def _readable(self, tokens: Sequence[str]) -> _Keys:
        """Return keys as numbers; what is no key of the scheme stands for no document that it finds."""
        keys = [token for token in tokens if len(token) == self._bands.key_digits]
        try:
            return self._numbers(keys)
        except FormatError:
            return self._numbers([key for key in keys if set(key) <= _DIGITS])


def _with_keys(fields: Json, keys: dict[str, list[str]]) -> Json:
    """Return fields with these keys of bands only."""
    rest = {name: value for name, value in fields.items() if not name.startswith("band")}
    return {**rest, **{name: " ".join(each) for name, each in keys.items()}}
