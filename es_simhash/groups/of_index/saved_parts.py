"""Parts of an index saved in files, so that a run that was stopped need not read them again."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from es_simhash._core.json_codec import parse_json
from es_simhash._core.json_paths import Json
from es_simhash.errors import InputError, StorageError
from es_simhash.groups.of_index.document_refs import RefColumns
from es_simhash.groups.of_index.stored_fingerprints import FingerprintRows
from es_simhash.groups.pairs.condense import Condensed
from es_simhash.groups.pairs.scope_rows import ScopeRows
from es_simhash.groups.pairs.stages import KeptStages
from es_simhash.plans.operations import Slice

# The approximate number of documents of a part.
PART = 200_000
_ARRAYS = ("statuses", "contents", "simhashes", "values")
_SCOPE = "scope_"


def concatenated(pages: Sequence[FingerprintRows]) -> FingerprintRows:
    """Concatenate pages."""
    return FingerprintRows(
        RefColumns.concatenated([page.refs for page in pages]),
        Condensed(*(_joined([getattr(page.condensed, name) for page in pages]) for name in _ARRAYS)),
        sum(page.others for page in pages),
        ScopeRows.concatenated(scopes) if (scopes := [page.scopes for page in pages if page.scopes]) else None,
    )


def _joined(arrays: list[Any]) -> Any:
    return None if arrays[0] is None else np.concatenate(arrays)


class SavedParts:
    """A directory with parts of indices; ``what`` has the scheme, query and settings with which they were read."""

    def __init__(self, directory: str | Path, what: Json) -> None:
        self._directory = Path(directory)
        self._name = sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:16]
        self._files: list[Path] = []

    def parts(self, index: str, documents: int, shard: tuple[int, int]) -> list[Slice]:
        """Divide an index of this many documents into parts, as an earlier run or another shard did; return a shard's.

        The machines of shards need not know of each other: they count nearly as many documents, and so choose the same
        power of two.
        """
        number, shards = shard
        counts = {
            int(path.stem.rpartition("of")[2]) for path in self._directory.glob(f"{self._prefix(index)}-*of*.npz")
        }
        count = min(counts, default=shards * max(2, 1 << (max(documents - 1, 0) // (PART * shards)).bit_length()))
        if len(counts) > 1 or count % shards:
            raise InputError(
                f"{self._directory} has parts of {index!r} by {' and '.join(map(str, sorted(counts)))}, which do not "
                f"fit together{f', or not {shards} shards' if shards > 1 else ''}. Delete those that are fewer "
                f"({self._prefix(index)}-*of*.npz), and read their shards again with the directory that has the others."
            )
        own = count // shards
        return [Slice(part, count) for part in range(number * own, (number + 1) * own)]

    def stages(self, indices: Iterable[str], of: Json) -> KeptStages:
        """Open the stages of linking the parts that were loaded and saved; those of other parts count no more."""
        parts = [[path.name, path.stat().st_size, path.stat().st_mtime_ns] for path in self._files]
        name = sha256("/".join(sorted(indices)).encode()).hexdigest()[:16]
        stages = KeptStages(self._directory / f"{self._name}-{name}-links")
        try:
            stages.begin({"parts": parts, **of})
        except BaseException:
            stages.close()
            raise
        return stages

    def load(self, index: str, part: Slice) -> tuple[FingerprintRows, list[int] | None] | None:
        """Load a saved part, and the changes of the index's shards before it was read.

        None if it is missing, or damaged, as by a power cut: then it is read from the index again.
        """
        path = self._path(index, part)
        if not path.exists():
            return None
        try:
            found = _read(path)
        except (OSError, EOFError, ValueError, KeyError, TypeError, BadZipFile, zlib.error):
            return None
        self._files.append(path)
        return found

    def save(self, index: str, part: Slice, rows: FingerprintRows, changes: list[int] | None) -> None:
        """Save a part completely, or not at all."""
        path = self._path(index, part)
        arrays = {name: getattr(rows.condensed, name) for name in _ARRAYS}
        if rows.scopes:
            arrays |= {f"{_SCOPE}{each.name}": getattr(rows.scopes, each.name) for each in fields(ScopeRows)}
        documents = [rows.refs.to_json(), rows.others, changes]
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_suffix(".unfinished")
            with unfinished.open("wb") as file:
                whole = {name: array for name, array in arrays.items() if array is not None}
                np.savez(file, documents=np.frombuffer(json.dumps(documents).encode(), dtype=np.uint8), **whole)
            os.replace(unfinished, path)
        except OSError as error:
            raise StorageError(
                f"Parts of {index!r} cannot be saved in {self._directory}: {error.strerror}. "
                "Name a directory with enough room, or do without."
            ) from error
        self._files.append(path)

    def remove(self) -> None:
        """Delete the files that this run has loaded and saved."""
        for path in self._files:
            path.unlink(missing_ok=True)

    def _prefix(self, index: str) -> str:
        # Names of indices may have a colon, which not all file systems allow.
        return f"{self._name}-{sha256(index.encode()).hexdigest()[:16]}"

    def _path(self, index: str, part: Slice) -> Path:
        return self._directory / f"{self._prefix(index)}-{part.number}of{part.count}.npz"


def _read(path: Path) -> tuple[FingerprintRows, list[int] | None]:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        documents, others, changes = parse_json(arrays["documents"].tobytes())
        found: dict[str, Any] = dict.fromkeys(_ARRAYS) | {name: arrays[name] for name in arrays if name in _ARRAYS}
        scope = {name.removeprefix(_SCOPE): arrays[name] for name in arrays if name.startswith(_SCOPE)}
    scopes = ScopeRows(**scope) if scope else None
    return FingerprintRows(RefColumns.from_json(documents), Condensed(**found), others, scopes), changes
