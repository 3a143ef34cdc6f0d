"""Documents that are read once and looked at several times: their texts lie in a temporary file if they are large."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from types import TracebackType

import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash._core.environment import MEMORY
from es_simhash.errors import DocumentError, InputError
from es_simhash.groups.pairs.spool import Spools, Strings
from es_simhash.sketches.set_cache import Prepare, SetCache

# The texts may have this share of the memory, and cached features of them as much as in a deduplication.
_TEXTS_SHARE, _FEATURES_SHARE = 32, 4
_DIGEST_BYTES = 16


class StoredDocuments:
    """Documents, each with an id of its own and a text: close it, or use it in a ``with`` statement.

    About ``memory`` bytes are used at a time.
    """

    def __init__(self, memory: int = MEMORY) -> None:
        self._memory = memory
        self._spools = Spools(memory // _TEXTS_SHARE)
        self._texts = Strings(self._spools)
        self._places: dict[str, int] = {}
        self._digests: dict[bytes, int] = {}
        self._originals: list[int] = []

    @classmethod
    def of(cls, documents: Iterable[tuple[str, str]], memory: int = MEMORY) -> StoredDocuments:
        """Store documents, (id, text) pairs."""
        stored = cls(memory)
        try:
            for position, document in enumerate(documents):
                if not isinstance(document, tuple) or list(map(type, document)) != [str, str]:
                    raise DocumentError("is not a pair of an id and a text, both strings. Give such pairs.", position)
                if not stored.add(*document):
                    raise InputError("Several documents have the same id. Give each document an id of its own.")
        except BaseException:
            stored.close()
            raise
        return stored

    def add(self, id_: str, text: str) -> bool:
        """Add a document; return False if its id is taken."""
        if id_ in self._places:
            return False
        place = self._places[id_] = len(self._places)
        self._texts.append(text)
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()
        self._originals.append(self._digests.setdefault(digest, place))
        return True

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self._places)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Yield each document, as (id, text)."""
        return zip(self._places, self.texts, strict=True)

    def some(self, places: Integers) -> StoredDocuments:
        """Return the documents at these positions, which ascend: new ones, or these if they are all."""
        if len(places) == len(self):
            return self
        chosen = set(places.tolist())
        return StoredDocuments.of((each for place, each in enumerate(self) if place in chosen), self._memory)

    @property
    def ids(self) -> list[str]:
        """The ids."""
        return list(self._places)

    @property
    def originals(self) -> Integers:
        """For each document the position of the first with an equal text."""
        return np.array(self._originals, dtype=np.int64)

    @property
    def texts(self) -> Strings:
        """The texts, read each time anew."""
        self._texts.flush()
        return self._texts

    def texts_at(self, places: Sequence[int]) -> list[str]:
        """Return the texts at these positions."""
        return self.texts.at(places)

    def sizes(self) -> Integers:
        """Return the size of each text in bytes."""
        return self.texts.sizes(np.arange(len(self)))

    def features(self, prepare: Prepare) -> SetCache:
        """Return what compares these texts by their features."""
        return SetCache(prepare, self.texts.take, self.texts.sizes, self._memory // _FEATURES_SHARE)

    def close(self) -> None:
        """Delete the temporary files."""
        self._spools.close()

    def __enter__(self) -> StoredDocuments:
        """Return the documents, to be closed at the end of the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
