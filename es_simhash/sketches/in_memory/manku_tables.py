"""Search by the permuted tables of Manku, Jain and Das Sarma (see `es_simhash.sketches.manku`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from es_simhash._core import bit_codes
from es_simhash.sketches.in_memory.sorted_tables import TableSearch
from es_simhash.sketches.manku import PrefixTables

if TYPE_CHECKING:
    from collections.abc import Iterable

    from es_simhash._core.bit_codes import Codes


class MankuTables(TableSearch):
    """A sorted table per choice of blocks; by default of k + 3 blocks: 20 tables for 64 bits and k = 3."""

    def __init__(self, codes: Codes, bits: int, k: int, blocks: int | None = None) -> None:
        self._prefixes = PrefixTables(bits, min(k + 3, bits) if blocks is None else blocks, k)
        super().__init__(codes, bits, k)

    def _keys(self, codes: Codes) -> Iterable[Codes]:
        for prefix, width in zip(self._prefixes.prefixes(codes), self._prefixes.prefix_bits, strict=True):
            # The leading 64 bits of a wider prefix select well enough.
            yield bit_codes.extract(prefix, width, 0, min(width, 64))

    def _min_tables(self, _k: int) -> int:
        return 1
