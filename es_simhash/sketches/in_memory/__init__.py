"""Five exact searches of a set of fingerprints in memory; `Search` is their common interface.

``SEARCHES[name](codes, bits, k)`` builds the search of that name for distances up to ``k``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from es_simhash.sketches.in_memory.base import Search, SearchResult
from es_simhash.sketches.in_memory.bit_positions import BitPositions
from es_simhash.sketches.in_memory.brute_force import BruteForce
from es_simhash.sketches.in_memory.manku_tables import MankuTables
from es_simhash.sketches.in_memory.pigeonhole import Pigeonhole
from es_simhash.sketches.in_memory.variants import Variants

if TYPE_CHECKING:
    from collections.abc import Callable

    from es_simhash._core.bit_codes import Codes

SEARCHES: dict[str, Callable[[Codes, int, int], Search]] = {
    "brute_force": BruteForce,
    "bit_positions": BitPositions,
    "variants": Variants,
    "pigeonhole": Pigeonhole,
    "manku_tables": MankuTables,
}
"""Each search by its name."""

__all__ = ["SEARCHES", "Search", "SearchResult"]
