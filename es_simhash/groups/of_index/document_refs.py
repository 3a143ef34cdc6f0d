"""References to many documents, with the versions that were read and the groups they were in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash._core.json_paths import Json
from es_simhash.groups.pairs.spool import Columns, Spools, Strings
from es_simhash.live.sweep.document_ref import DocumentRef
from es_simhash.scheme.group_fields import GROUP, stored_in

_NO_VERSION = -1


class DocumentRefs:
    """References to documents by their positions; they may lie in temporary files."""

    def __init__(self, spools: Spools) -> None:
        self._names = Strings(spools)
        self._routings = Strings(spools)
        self._versions = Columns(spools, 2, np.int64)
        self._groups = Strings(spools)
        self._with_fields: list[int] = []
        self._grouped: list[int] = []
        self._count = 0

    def __len__(self) -> int:
        """Return the number of documents."""
        return self._count

    def append(self, refs: Sequence[DocumentRef], stored: Sequence[Json]) -> None:
        """Append documents, with their stored objects of our fields."""
        for ref, own in zip(refs, stored, strict=True):
            self._names.append(f"{ref.index}/{ref.id}")
            self._routings.append(ref.routing or "")
            if group := stored_in(own):
                self._groups.append(json.dumps(group))
                self._with_fields.append(self._count)
                if GROUP in group:
                    self._grouped.append(self._count)
            self._count += 1
        versions = [[each.version.get(name, _NO_VERSION) for name in _VERSION] for each in refs]
        self._versions.append(np.array(versions, dtype=np.int64).reshape(-1, len(_VERSION)))

    def flush(self) -> None:
        """Finish appending, so that all can be read."""
        for strings in (self._names, self._routings, self._groups):
            strings.flush()

    def take(self, positions: Sequence[int]) -> list[DocumentRef]:
        """Return the references to documents, in the order of ``positions``."""
        versions = self._versions.at(np.array(positions, dtype=np.int64)).tolist()
        return list(map(_ref, self._names.at(positions), self._routings.at(positions), versions))

    def keys(self, positions: Sequence[int]) -> list[tuple[str, str]]:
        """Return the index and the id of documents, in the order of ``positions``."""
        split = (name.partition("/") for name in self._names.at(positions))
        return [(index, id_) for index, _, id_ in split]

    def stored_groups(self) -> Iterator[tuple[int, Json]]:
        """Yield the positions of documents with fields of groups, and these fields."""
        for position, group in zip(self._with_fields, self._groups, strict=True):
            yield position, json.loads(group)

    def joined(self) -> tuple[Integers, Integers]:
        """Return the documents that are in a group, each with the first of its group."""
        firsts: dict[str, int] = {}
        pairs = [
            (firsts.setdefault(own[GROUP], position), position)
            for position, own in self.stored_groups()
            if GROUP in own
        ]
        first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return first, second

    def changed_after(self, first: int, changes: Sequence[int]) -> npt.NDArray[np.bool_]:
        """Return which documents from a position on are in no group, and were added or changed after these changes.

        If the engine does not number changes, these are all documents in no group.
        """
        numbers = np.concatenate([np.empty(0), *(rows[:, 0] for rows in self._versions.columns(0, 1))])
        new = (numbers == _NO_VERSION) | (numbers > min(changes, default=_NO_VERSION))
        new[self._grouped] = False
        return new[first:]


_VERSION = ("if_seq_no", "if_primary_term")


def _ref(name: str, routing: str, version: list[int]) -> DocumentRef:
    index, _, id_ = name.partition("/")
    known = {} if version[0] == _NO_VERSION else dict(zip(_VERSION, version, strict=True))
    return DocumentRef(index, id_, routing or None, known)
