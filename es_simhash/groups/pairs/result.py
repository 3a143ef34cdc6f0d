"""What a deduplication found: pairs, groups, which documents to keep, and how many there are of what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType

import numpy as np
import numpy.typing as npt

from es_simhash.groups.pairs.compare import Pairs
from es_simhash.groups.pairs.nearness import Nearness
from es_simhash.groups.pairs.spool import Records, Spools, Strings
from es_simhash.groups.union_find import Groups


@dataclass(frozen=True)
class Counts:
    """How many there are of what.

    ``empty`` documents have no features and are in no pair. ``identical`` pairs are of equal texts: each such text
    but the first is paired with the one before it, and compared with no other. ``near`` is the number of all other
    pairs. Among ``compared`` candidates, ``verified`` were decided by their texts. Keys that very many documents
    share would have made ``left_out`` more comparisons; a pair counts there once for each key that it shares. Documents
    were ``cut_off`` from these because too many have a key, once for each key.
    """

    documents: int
    empty: int
    identical: int
    near: int
    groups: int
    duplicates: int
    compared: int
    verified: int
    left_out: int
    cut_off: int = 0


class Duplicates:
    """The near-duplicates among documents, which are told by their positions, counted from 0.

    The ids and the pairs may lie in temporary files: close it, or use it in a ``with`` statement.
    """

    def __init__(
        self,
        spools: Spools,
        ids: Strings,
        pairs: Records,
        groups: Groups,
        counts: Counts,
        nearness: Nearness,
    ) -> None:
        self._spools = spools
        self.nearness = nearness
        self._ids = ids
        self._pairs = pairs
        self.groups = groups
        self.counts = counts

    @property
    def is_canonical(self) -> npt.NDArray[np.bool_]:
        """Whether each document is one to keep: the first of its group, or in none."""
        return self.groups.is_first

    def pairs(self) -> Iterator[Pairs]:
        """The pairs that were found, some at a time, first the identical ones.

        They come as numpy arrays with the fields ``first`` and ``second``, the positions; ``distance`` if SimHash
        counts; and ``similarity``, with its ``standard_error`` (0 if it ``is_exact``), if MinHash does.
        """
        return iter(self._pairs)

    def ids(self) -> Iterator[str]:
        """The ids of all documents."""
        return iter(self._ids)

    def groups_of_ids(self) -> Iterator[list[str]]:
        """The ids of each group's documents, the one that stands for it first."""
        for group in self.groups:
            yield self.ids_of(group)

    def ids_of(self, positions: Sequence[int]) -> list[str]:
        """The ids of documents, in whatever order."""
        return self._ids.at(positions)

    def close(self) -> None:
        """Remove what was kept in temporary files."""
        self._spools.close()

    def __enter__(self) -> Duplicates:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
