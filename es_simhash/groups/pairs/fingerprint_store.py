"""What is kept of all documents, and the keys by which candidates are found among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np
import numpy.typing as npt

from es_simhash._core.bit_codes import Codes, words_per_code
from es_simhash.errors import InputError
from es_simhash.groups.pairs import choose_keys
from es_simhash.groups.pairs.candidates import POSITION_BITS, entries
from es_simhash.groups.pairs.condense import Condensed, value_type
from es_simhash.groups.pairs.sorting import Numbers, Read
from es_simhash.groups.pairs.spool import Columns, Rows, Spools
from es_simhash.scheme.fingerprint import STATUSES
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.settings import Settings
from es_simhash.sketches.minhash.common import VALUE_BITS

_EMPTY = STATUSES.index("empty")


class FingerprintStore:
    """The fingerprints of all documents; ``compared`` tells which of them are compared, once all are there.

    Of the signature's values ``value_bits`` bits are known: by default as many as are kept.
    """

    def __init__(self, settings: Settings, spools: Spools, value_bits: int = VALUE_BITS) -> None:
        self.settings = settings
        self._statuses: list[npt.NDArray[np.uint8]] = []
        self.contents = Columns(spools, 2, np.uint64)
        if settings.simhash:
            self.simhashes = Columns(spools, words_per_code(settings.simhash.bits), np.uint64)
        if settings.minhash:
            kept = value_type(settings.minhash)
            self.values = Columns(spools, settings.minhash.size, kept)
            self.value_bits = min(value_bits, 8 * kept.itemsize)
        self.compared = np.empty(0, dtype=np.bool_)

    def __len__(self) -> int:
        """The number of documents."""
        return len(self.contents)

    def add(self, condensed: Condensed) -> None:
        """Append what is kept of some documents."""
        self._statuses.append(condensed.statuses)
        self.contents.append(condensed.contents)
        if condensed.simhashes is not None:
            self.simhashes.append(condensed.simhashes)
        if condensed.values is not None:
            self.values.append(condensed.values)
        if len(self) > 1 << POSITION_BITS:
            raise InputError(f"There are more than {1 << POSITION_BITS:,} documents. Deduplicate them in parts.")

    def complete(self) -> None:
        """Say that all documents are there. Those with any features are compared."""
        self.compared = np.concatenate([np.empty(0, dtype=np.bool_), *(each != _EMPTY for each in self._statuses)])
        self._statuses.clear()

    def by_content(self) -> Read:
        """The entries to sort so that equal texts stand together."""
        return lambda: self._entries(self.contents.columns(0, 1))

    def by_key(self, criteria: Criteria) -> Iterator[Read]:
        """For each kind of key, the entries to sort so that documents with the same key stand together.

        There is one for each band, and one for each of the tables in which all within a distance meet.
        """
        if self.settings.minhash and criteria.similarity is not None:
            rows = self.settings.minhash.rows
            for band in range(self.settings.minhash.bands):
                yield partial(self._of_band, band * rows, (band + 1) * rows)
        for mask in self._masks(criteria.distance):
            yield partial(self._of_simhash, mask)

    def names_of_keys(self, criteria: Criteria) -> Iterator[str]:
        """What each kind of key is called, in the same order."""
        if self.settings.minhash and criteria.similarity is not None:
            yield from (f"band {band}" for band in range(self.settings.minhash.bands))
        yield from (f"bits {number}" for number in range(len(self._masks(criteria.distance))))

    def _masks(self, distance: int | None) -> list[Codes]:
        if distance is None or self.settings.simhash is None:
            return []
        return list(choose_keys.masks(choose_keys.prefix_tables(self.settings.simhash.bits, distance, len(self))))

    def _of_band(self, first: int, stop: int) -> Iterator[Numbers]:
        return self._entries(self.values.columns(first, stop))

    def _of_simhash(self, mask: Codes) -> Iterator[Numbers]:
        return self._entries(rows & mask for rows in self.simhashes.columns(0, len(mask)))

    def _entries(self, keys: Iterable[Rows]) -> Iterator[Numbers]:
        """The entries of the documents that are compared, whose keys are given as rows of numbers."""
        first = 0
        for rows in keys:
            yield entries(rows, first)[self.compared[first : first + len(rows)]]
            first += len(rows)
