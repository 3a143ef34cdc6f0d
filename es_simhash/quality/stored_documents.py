"""Documents that are read once and looked at several times: their texts lie in a temporary file if they are large."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from types import TracebackType
from typing import Any

import numpy as np

from es_simhash._core.arrays import Integers
from es_simhash._core.environment import MEMORY
from es_simhash._core.json_paths import Json, values_at
from es_simhash.errors import InputError
from es_simhash.groups.canonical import FIRST, Canonical
from es_simhash.groups.of_texts import Document, Documents, checked, each_document
from es_simhash.groups.pairs.scope_columns import ScopeColumns
from es_simhash.groups.pairs.scope_rows import ScopeRows
from es_simhash.groups.pairs.spool import Spools
from es_simhash.groups.pairs.stored_strings import Strings
from es_simhash.scheme.scope import Scope
from es_simhash.sketches.weighted_sets import Prepare, SetCache

# The texts may have this share of the memory, and cached features of them as much as in a deduplication.
_TEXTS_SHARE, _FEATURES_SHARE = 32, 4
_DIGEST_BYTES = 16


class StoredDocuments:
    """Documents, each with an id of its own and a text: close it, or use it in a ``with`` statement.

    With a ``scope``, or a ``canonical`` order by fields, each has its values as well. About ``memory`` bytes are used
    at a time.
    """

    def __init__(self, memory: int = MEMORY, scope: Scope | None = None, canonical: Canonical = FIRST) -> None:
        self.scope = scope
        self.canonical = canonical
        self._values: list[Json] = []
        self._memory = memory
        self._spools = Spools(memory // _TEXTS_SHARE)
        self._texts = Strings(self._spools)
        self._places: dict[str, int] = {}
        self._digests: dict[bytes, int] = {}
        self._originals: list[int] = []

    @classmethod
    def of(
        cls, documents: Documents, memory: int = MEMORY, scope: Scope | None = None, canonical: Canonical = FIRST
    ) -> StoredDocuments:
        """Store documents, as `dedup` takes them."""
        stored = cls(memory, scope, canonical)
        try:
            paths = stored._paths
            for position, document in enumerate(each_document(documents, paths, bool(paths))):
                if not stored.add(*checked(document, position, bool(paths), str)):
                    raise InputError("Several documents have the same id. Give each document an id of its own.")
        except BaseException:
            stored.close()
            raise
        return stored

    def add(self, id_: str, text: str, values: Mapping[str, Any] | None = None) -> bool:
        """Add a document, with an object that has the values asked for; return False if its id is taken."""
        if id_ in self._places:
            return False
        if self._paths:
            self._values.append({path: list(values_at(values, path)) for path in self._paths})
        place = self._places[id_] = len(self._places)
        self._texts.append(text)
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()
        self._originals.append(self._digests.setdefault(digest, place))
        return True

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self._places)

    def __iter__(self) -> Iterator[Document]:
        """Yield each document, as `dedup` takes it."""
        columns = (self._places, self.texts, self._values) if self._paths else (self._places, self.texts)
        return zip(*columns, strict=True)

    @property
    def _paths(self) -> list[str]:
        """The fields whose values are kept."""
        fields = self.canonical.fields
        ranked = () if isinstance(fields, bool) else fields
        return [*(self.scope.paths if self.scope else ()), *ranked]

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

    def scopes(self) -> ScopeColumns | None:
        """Return the scope of these documents, if there is one."""
        if not self.scope:
            return None
        columns = ScopeColumns(self.scope, self._spools)
        columns.add(ScopeRows.read(self.scope, self._values))
        columns.complete()
        return columns

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
