"""References to many documents, with the versions that were read and the groups they were in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from es_simhash._core.arrays import Integers
from es_simhash._core.json_codec import parse_json
from es_simhash._core.json_paths import Json
from es_simhash.groups.pairs.encoded import encoded
from es_simhash.groups.pairs.spool import Spools
from es_simhash.groups.pairs.stored_rows import Columns
from es_simhash.groups.pairs.stored_strings import Strings
from es_simhash.live.sweep.document_ref import DocumentRef
from es_simhash.scheme import group_fields
from es_simhash.scheme.group_fields import GROUP, SIZE, is_settled, stored_in

_VERSION = ("if_seq_no", "if_primary_term")
_NO_VERSION = -1
_GROUP_NAMES = frozenset(group_fields.NAMES)


@dataclass(frozen=True, eq=False)
class RefColumns:
    """References to some documents, as columns: their names, routings and versions.

    A name is an index and an id. ``groups`` has the fields of groups of those that have some, by their places here.
    """

    names: list[str]
    routings: list[str]
    versions: Integers
    groups: dict[int, Json]

    @classmethod
    def of(cls, hits: Sequence[Json], stored: Sequence[Json]) -> RefColumns:
        """Refer to the documents of hits, with their stored objects of our fields."""
        return cls(
            [f"{hit['_index']}/{hit['_id']}" for hit in hits],
            [hit.get("_routing") or "" for hit in hits],
            _versions([(hit.get("_seq_no", _NO_VERSION), hit.get("_primary_term", _NO_VERSION)) for hit in hits]),
            {place: stored_in(own) for place, own in enumerate(stored) if not _GROUP_NAMES.isdisjoint(own)},
        )

    @classmethod
    def concatenated(cls, parts: Sequence[RefColumns]) -> RefColumns:
        """Concatenate references."""
        firsts = accumulate((len(part) for part in parts), initial=0)
        return cls(
            [name for part in parts for name in part.names],
            [routing for part in parts for routing in part.routings],
            np.concatenate([part.versions for part in parts]),
            {
                first + place: group
                for first, part in zip(firsts, parts, strict=False)
                for place, group in part.groups.items()
            },
        )

    @classmethod
    def from_json(cls, documents: Sequence[tuple[Json, Json]]) -> RefColumns:
        """Read what `to_json` wrote."""
        refs = [ref for ref, _ in documents]
        return cls(
            [f"{ref['index']}/{ref['id']}" for ref in refs],
            [ref["routing"] or "" for ref in refs],
            _versions([tuple(ref["version"].get(name, _NO_VERSION) for name in _VERSION) for ref in refs]),
            {place: group for place, (_, group) in enumerate(documents) if group},
        )

    def to_json(self) -> list[tuple[Json, Json]]:
        """Write each document's reference, and the fields of its group."""
        refs = map(_ref, self.names, self.routings, self.versions.tolist())
        return [(asdict(ref), self.groups.get(place, {})) for place, ref in enumerate(refs)]

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.names)


class DocumentRefs:
    """References to documents by their positions; they may lie in temporary files."""

    def __init__(self, spools: Spools) -> None:
        self._names = Strings(spools)
        self._routings = Strings(spools)
        self._versions = Columns(spools, 2, np.int64)
        self._groups = Strings(spools)
        self._with_fields: list[int] = []
        self._settled: list[int] = []
        self._provisional: list[int] = []
        self._count = 0

    def __len__(self) -> int:
        """Return the number of documents."""
        return self._count

    def append(self, refs: RefColumns) -> None:
        """Append documents."""
        for place, group in refs.groups.items():
            if group:
                self._groups.append(json.dumps(group))
                self._with_fields.append(self._count + place)
                if is_settled(group):
                    self._settled.append(self._count + place)
                elif GROUP in group:
                    self._provisional.append(self._count + place)
        self._names.extend(encoded(refs.names))
        self._routings.extend(encoded(refs.routings))
        self._versions.append(refs.versions)
        self._count += len(refs)

    def flush(self) -> None:
        """Finish appending, so that all can be read."""
        self._groups.flush()

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
            yield position, parse_json(group)

    def joined(self) -> tuple[tuple[Integers, Integers], npt.NDArray[np.bool_]]:
        """Return the documents that are in a group, each with the first of its group; provisional ones join nothing.

        Return with them whether their groups are whole: what a lost document connected may be apart.
        """
        groups: dict[str, int] = {}
        rows = [
            (position, groups.setdefault(own[GROUP], len(groups)), own[SIZE])
            for position, own in self.stored_groups()
            if is_settled(own)
        ]
        second, numbers, sizes = np.array(rows, dtype=np.int64).reshape(-1, 3).T
        _, firsts = np.unique(numbers, return_index=True)
        is_right = np.bincount(numbers, minlength=len(groups))[numbers] == sizes
        are_whole = np.ones(len(groups), dtype=np.bool_)
        are_whole[numbers[~is_right]] = False
        return (second[firsts[numbers]], second), are_whole[numbers]

    def changed_after(self, first: int, changes: Sequence[int]) -> npt.NDArray[np.bool_]:
        """Return which documents from a position on are in no group, and were added or changed after these changes.

        If the engine does not number changes, these are all documents in no group. Those in a provisional group are
        new in any case.
        """
        numbers = np.concatenate([np.empty(0), *(rows[:, 0] for rows in self._versions.columns(range(1)))])
        new = (numbers == _NO_VERSION) | (numbers > min(changes, default=_NO_VERSION))
        new[self._settled], new[self._provisional] = False, True
        return new[first:]


def _versions(rows: list[tuple[int, ...]]) -> Integers:
    return np.array(rows, dtype=np.int64).reshape(-1, len(_VERSION))


def _ref(name: str, routing: str, version: list[int]) -> DocumentRef:
    index, _, id_ = name.partition("/")
    known = {} if version[0] == _NO_VERSION else dict(zip(_VERSION, version, strict=True))
    return DocumentRef(index, id_, routing or None, known)
