"""The condensed fingerprints of all documents, and the keys by which candidates are found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from es_simhash._core.bit_codes import Codes, words_per_code
from es_simhash.errors import InputError
from es_simhash.groups.pairs import choose_keys
from es_simhash.groups.pairs.candidates import POSITION_BITS, entries
from es_simhash.groups.pairs.condense import Condensed, value_type
from es_simhash.groups.pairs.scope_columns import ScopeColumns
from es_simhash.groups.pairs.sorting import Numbers
from es_simhash.groups.pairs.spool import Spools
from es_simhash.groups.pairs.stored_rows import Columns, Records, Rows
from es_simhash.scheme.fingerprint import STATUSES
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.scope import Scope
from es_simhash.scheme.settings import Settings
from es_simhash.sketches.minhash.common import VALUE_BITS

_EMPTY = STATUSES.index("empty")
# The stage that ends when a store is complete.
READ = "read"
# The rows kept at hand take this many times the memory of a spool; the fewest of them are a power of two.
_AS_ROWS, _LEAST_TILE = 9, 11


class FingerprintStore:
    """The fingerprints of all documents; once complete, ``compared`` marks those that are compared.

    ``value_bits`` bits of the signature's values are known: by default as many as are stored. With a scope, ``scopes``
    has that of each document.
    """

    def __init__(
        self, settings: Settings, spools: Spools, value_bits: int = VALUE_BITS, scope: Scope | None = None
    ) -> None:
        self.settings = settings
        self._stages = spools.stages
        self.scopes = ScopeColumns(scope, spools) if scope else None
        self._statuses = Records(spools, np.uint8, "statuses")
        tables: list[tuple[int, npt.DTypeLike]] = [(2, np.uint64)]
        if settings.simhash:
            tables.append((words_per_code(settings.simhash.bits), np.uint64))
        if settings.minhash:
            dtype = value_type(settings.minhash)
            tables.append((settings.minhash.size, dtype))
            self.value_bits = min(value_bits, 8 * dtype.itemsize)
        row_bytes = [width * np.dtype(kind).itemsize for width, kind in tables]
        self._rows_at_hand = _AS_ROWS * spools.limit // sum(row_bytes)
        made = [
            Columns(spools, width, kind, self._rows_at_hand * size, f"fingerprints-{number}")
            for number, ((width, kind), size) in enumerate(zip(tables, row_bytes, strict=True))
        ]
        self._columns = tuple(made)
        self.contents = made.pop(0)
        if settings.simhash:
            self.simhashes = made.pop(0)
        if settings.minhash:
            self.values = made.pop(0)
        self.compared = self._has_text = np.empty(0, dtype=np.bool_)

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.contents)

    def add(self, condensed: Condensed) -> None:
        """Append condensed documents."""
        self._statuses.append(condensed.statuses)
        self.contents.append(condensed.contents)
        if condensed.simhashes is not None:
            self.simhashes.append(condensed.simhashes)
        if condensed.values is not None:
            self.values.append(condensed.values)
        if len(self) > 1 << POSITION_BITS:
            raise InputError(f"There are more than {1 << POSITION_BITS:,} documents. Deduplicate them in parts.")

    def complete(self) -> None:
        """Finish appending. Documents with any features are compared, unless their scope is unknown."""
        if not self.is_kept:
            for columns in self._columns:
                columns.complete()
        self._has_text = np.concatenate([np.empty(0, dtype=np.bool_), *(each != _EMPTY for each in self._statuses)])
        self.contents.settle()
        self.compared = self._has_text.copy()
        if self.scopes:
            self.scopes.complete()
            self.compared &= self.scopes.known

    @property
    def is_kept(self) -> bool:
        """Whether an earlier run has read all documents, and kept them."""
        return self._stages.note(READ) is not None

    @property
    def tile_bits(self) -> int:
        """The number of documents, as a power of two, whose rows can be kept at hand; `POSITION_BITS` if all can."""
        if len(self) <= self._rows_at_hand:
            return POSITION_BITS
        return max(self._rows_at_hand.bit_length() - 1, _LEAST_TILE)

    def keep(self, rows: range | None) -> None:
        """From now on, keep the rows of these documents at hand once they are read; or those that are read first."""
        for columns in self._columns:
            columns.keep(rows)

    @property
    def empty(self) -> int:
        """The number of documents without features."""
        return len(self) - int(self._has_text.sum())

    @property
    def unscoped(self) -> int:
        """The number of other documents whose scope is unknown."""
        return int((self._has_text & ~self.scopes.known).sum()) if self.scopes else 0

    def by_content(self) -> Iterator[Numbers]:
        """Yield entries that, sorted, bring equal texts together."""
        return self._entries(self.contents.columns(range(1)))

    def by_key(self, criteria: Criteria) -> Iterator[Iterator[Numbers]]:
        """Yield, for each kind of key, the entries that, sorted, bring documents with the same key together.

        There is one for each table of values of the signature, and one for each table of SimHash prefixes.
        """
        for places in self._tables(criteria):
            yield self._entries(self.values.columns(places))
        for mask in self._masks(criteria.distance):
            yield self._of_simhash(mask)

    @property
    def compared_count(self) -> int:
        """The number of documents that are compared."""
        return int(np.count_nonzero(self.compared))

    def names_of_keys(self, criteria: Criteria) -> Iterator[str]:
        """Yield the name of each kind of key, in the same order."""
        yield from (f"values {', '.join(map(str, places))}" for places in self._tables(criteria))
        yield from (f"bits {number}" for number in range(len(self._masks(criteria.distance))))

    def _tables(self, criteria: Criteria) -> list[Sequence[int]]:
        if self.settings.minhash is None or criteria.similarity is None:
            return []
        return choose_keys.value_tables(self.settings.minhash, criteria)

    def _masks(self, distance: int | None) -> list[Codes]:
        if distance is None or self.settings.simhash is None:
            return []
        return choose_keys.prefix_tables(self.settings.simhash.bits, distance, len(self)).masks

    def _of_simhash(self, mask: Codes) -> Iterator[Numbers]:
        return self._entries(rows & mask for rows in self.simhashes.columns(range(len(mask))))

    def _entries(self, keys: Iterable[Rows]) -> Iterator[Numbers]:
        """Yield the entries of compared documents, whose keys are rows of numbers."""
        first = 0
        for rows in keys:
            kept = self.compared[first : first + len(rows)]
            found = entries(rows, first, kept)
            yield self.scopes.mixed(found, first, kept) if self.scopes else found
            first += len(rows)
