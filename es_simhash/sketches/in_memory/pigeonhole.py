"""Search by blocks: at least one of k + 1 blocks agrees, so look up each (see `es_simhash.sketches.blocks`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from es_simhash._core import bit_codes
from es_simhash.sketches.blocks import Blocks
from es_simhash.sketches.in_memory.sorted_tables import TableSearch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from es_simhash._core.bit_codes import Codes


class Pigeonhole(TableSearch):
    """A sorted table per block; by default k + 1 blocks, the fewest that do: for 64 bits and k = 3, 4 of 16.

    With more blocks, ``blocks - k`` of them must agree, and the candidates are fewer.
    """

    def __init__(self, codes: Codes, bits: int, k: int, blocks: int | None = None) -> None:
        if blocks is None:
            blocks = max(min(k + 1, bits), bit_codes.words_per_code(bits))
        self._blocks = Blocks(bits, blocks)
        self._blocks.min_shared(k)
        super().__init__(codes, bits, k)

    def _keys(self, codes: Codes) -> Iterable[Codes]:
        return self._blocks.values(codes).T

    def _min_tables(self, k: int) -> int:
        return self._blocks.min_shared(k)
