"""Ids that several documents have, found in eight bytes a document."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

# Hashes that are looked at more closely, of those that occur again.
_MOST = 1_000


def repeated(ids: Callable[[], Iterable[str]]) -> tuple[int, int] | None:
    """Return the positions of two equal ids, the second as low as can be; None if all are distinct.

    They are asked for twice, if some have equal hashes.
    """
    hashes = np.fromiter(map(hash, ids()), np.int64)
    hashes.sort()
    again = hashes[1:][hashes[1:] == hashes[:-1]]
    # Hashes of different ids may be equal, too, but never this often.
    suspects = set(again[:_MOST].tolist())
    if not suspects:
        return None
    seen: dict[str, int] = {}
    for position, id_ in enumerate(ids()):
        if hash(id_) in suspects and seen.setdefault(id_, position) != position:
            return seen[id_], position
    return None
