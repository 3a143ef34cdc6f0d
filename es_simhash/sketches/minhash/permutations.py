"""MinHash by explicit permutations of a known universe, the textbook form.

The features are the rows of a table. A permutation lists the rows in another order, and the MinHash of a
document is the first row of that list which is a feature of the document (Leskovec, Rajaraman, Ullman, Mining
of Massive Datasets, 3.3.2). Under the order b e a d c of the rows a … e the documents {a, d}, {c}, {b, d, e}
and {a, c, d} have the MinHashes a, c, b and a.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from es_simhash.errors import HashError, SchemeError
from es_simhash.sketches.minhash.common import EMPTY, check_size, feature_hashes, filled, shuffle_keys

if TYPE_CHECKING:
    from es_simhash.sketches.minhash.common import Signatures
    from es_simhash.text.features import FeatureBatch

    Hashes = npt.NDArray[np.uint64]

Orders = npt.NDArray[np.uint32]
"""One permutation a line: the numbers of the rows, from 0, in their new order."""


def random_orders(size: int, rows: int) -> Orders:
    """Return ``size`` permutations of ``rows`` rows, the same for ever.

    Permutation i, counted from 0, is the rows r in the order of fmix64(i * 2**32 + r), where fmix64 is the
    finaliser of MurmurHash3.
    """
    check_size(size)
    orders = [np.argsort(shuffle_keys(number, rows)) for number in range(size)]
    return np.array(orders, dtype=np.uint32)


def signatures(batch: FeatureBatch, universe: Hashes, orders: Orders) -> Signatures:
    """Return the signatures: for each permutation the number of the row of ``universe`` that comes first."""
    lines, rows = orders.shape
    if rows != len(universe) or (np.sort(orders, axis=1) != np.arange(rows)).any():
        raise SchemeError(f"The orders do not permute {len(universe)} rows. Give each line the numbers from 0, once.")
    features = _row_numbers(feature_hashes(batch), universe)
    table = np.full((len(batch), lines), EMPTY, dtype=np.uint32)
    documents, starts = filled(batch.offsets)
    for line, order in enumerate(orders):
        rank = np.argsort(order)
        table[documents, line] = order[np.minimum.reduceat(rank[features], starts)]
    return table


def _row_numbers(hashes: Hashes, universe: Hashes) -> npt.NDArray[np.int64]:
    unknown = hashes[~np.isin(hashes, universe)]
    if len(unknown):
        raise HashError(f"The feature {unknown[0]} is not in the universe. Add it as a row.")
    sorter = np.argsort(universe)
    if (np.diff(universe[sorter]) == 0).any():
        raise HashError("Two rows of the universe are the same feature. Leave one out.")
    return sorter[np.searchsorted(universe, hashes, sorter=sorter)]
