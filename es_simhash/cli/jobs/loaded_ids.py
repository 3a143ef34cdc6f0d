"""The ids of loaded documents: one of an earlier file must not be replaced by another document with the same id."""

from __future__ import annotations

from array import array

import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash.documents.files import FileDocument


class LoadedIds:
    """The ids of the documents so far, as hashes of 64 bits: eight bytes a document.

    The hash has another key in each process. Of a hundred million ids, two different ones have the same hash in one run
    of some thousand; the second is then rejected, and named.
    """

    def __init__(self) -> None:
        self._earlier: Integers = np.empty(0, dtype=np.int64)
        self._own = array("q")
        self._path: str | None = None
        self.replaced = 0

    def is_of_another_file(self, each: FileDocument) -> bool:
        """Note an id; return whether a document of an earlier file has it."""
        path = each.key.partition(":")[0]
        if path != self._path:
            self.end()
            self._path = path
        hashed = hash(each.id)
        if len(self._earlier):
            place = int(self._earlier.searchsorted(hashed))
            if place < len(self._earlier) and self._earlier[place] == hashed:
                return True
        self._own.append(hashed)
        return False

    def end(self) -> None:
        """Count the documents of a file that replaced an earlier one of the same file."""
        own = np.frombuffer(self._own, dtype=np.int64) if self._own else self._earlier[:0]
        distinct = np.unique(own)
        self.replaced += len(own) - len(distinct)
        self._earlier = np.union1d(self._earlier, distinct)
        self._own = array("q")
