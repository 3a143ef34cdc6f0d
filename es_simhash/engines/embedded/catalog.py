"""The indices in a directory: each is a subdirectory with the name of the index.

Names follow Elasticsearch's rules, which exclude every character with a meaning to file systems.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from threading import RLock
from typing import Any
from uuid import uuid4

from es_simhash.engines.embedded.index import EmbeddedIndex
from es_simhash.engines.embedded.mapping.index_mapping import IndexMapping
from es_simhash.engines.embedded.storage import check_files, durable_files, mapping_file, system_errors
from es_simhash.errors import EngineError, IndexStateError, InputError, MissingError
from es_simhash.plans.operations import FilesChecked

_FORBIDDEN = re.compile(r'[\\/*?"<>|\s,#:\x00-\x1f]')
_MAX_NAME_BYTES = 255
# The prefix of indices being created or deleted, which no index name can have.
_UNFINISHED = "_"


class Catalog:
    """The indices of a directory, opened on first use, by one thread at a time."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._open: dict[str, EmbeddedIndex] = {}
        self._opening = RLock()

    def find(self, name: str) -> EmbeddedIndex | None:
        """Return the index of a name; None if there is none."""
        index = self._open.get(name)
        if index and index.is_current():
            return index
        with self._opening:
            if self._open.get(name) is not index:
                return self.find(name)  # another thread was quicker
            self._open.pop(name, None)
            try:
                self._open[name] = found = EmbeddedIndex(name, self._directory / check_name(name))
            except (FileNotFoundError, NotADirectoryError):
                return None
            return found

    def one(self, name: str) -> EmbeddedIndex:
        """Return the index of a name that stands for one index only."""
        if "*" in name or "," in name:
            raise IndexStateError(f"{name!r} may stand for several indices, and one is needed. Name one.")
        if index := self.find(name):
            return index
        raise self._missing(name)

    def _missing(self, name: str) -> MissingError:
        return MissingError(
            f"There is no index {name!r} in {str(self._directory)!r}. Create it, or check the name and the directory."
        )

    def all(self, names: str) -> list[EmbeddedIndex]:
        """Return the indices behind a name, a pattern with ``*``, or a comma-separated list."""
        found: dict[str, EmbeddedIndex] = {}
        for name in names.split(","):
            several = self._matching(name)
            indices = [self.one(name)] if several is None else filter(None, map(self.find, several))
            found.update({index.name: index for index in indices})
        if not found:
            raise self._missing(names)
        return list(found.values())

    def check(self, names: str) -> list[FilesChecked]:
        """Check the files of indices, including those that cannot be opened."""
        each = dict.fromkeys(name for part in names.split(",") for name in self._matching(part) or [check_name(part)])
        found = [self._directory / name for name in each if (self._directory / name / mapping_file.NAME).exists()]
        if not found:
            raise self._missing(names)
        return [check_files.check(directory) for directory in found]

    def _matching(self, pattern: str) -> list[str] | None:
        """Return the names that match a pattern, with dotted names only if it has a dot, too; None for a plain name."""
        if "*" not in pattern and pattern not in ("", "_all"):
            return None
        parts = ["", ""] if pattern in ("", "_all") else pattern.split("*")
        expression = re.compile(".*".join(map(re.escape, parts)), re.DOTALL)
        names = [name for name in self._names() if expression.fullmatch(name)]
        return [name for name in names if pattern.startswith(".") or not name.startswith(".")]

    def _names(self) -> list[str]:
        try:
            return sorted(path.name for path in self._directory.iterdir() if not path.name.startswith(_UNFINISHED))
        except FileNotFoundError:
            return []

    def create(self, name: str, body: Mapping[str, Any]) -> EmbeddedIndex:
        """Create an index."""
        target = self._directory / check_name(name)
        mapping = IndexMapping.of(_mappings(name, body))
        if self.find(name):
            raise _exists(name)
        unfinished = self._unfinished()
        try:
            unfinished.mkdir(parents=True)
            EmbeddedIndex.create(unfinished, mapping)
            # Renaming is atomic.
            unfinished.rename(target)
        except (ValueError, OSError) as error:
            shutil.rmtree(unfinished, ignore_errors=True)
            if target.exists():
                raise _exists(name) from None
            raise system_errors.unwritable(target, error) from error
        durable_files.sync_names(self._directory)
        return self.one(name)

    def delete(self, name: str) -> None:
        """Delete an index and its documents."""
        index = self.one(name)
        index.acquire()
        unfinished = self._unfinished()
        try:
            index.directory.rename(unfinished)
        except OSError as error:
            raise system_errors.unwritable(index.directory, error) from error
        self._open.pop(name, None)
        index.store.give_up_writing()
        shutil.rmtree(unfinished)

    def _unfinished(self) -> Path:
        return self._directory / f"{_UNFINISHED}{uuid4().hex}"

    def close(self) -> None:
        """Close all open indices."""
        with ExitStack() as closing:
            while self._open:
                _, index = self._open.popitem()
                closing.callback(index.close)


def check_name(name: str) -> str:
    """Return the name; raise if an index cannot have it."""
    if (
        not name
        or name in (".", "..")
        or name[0] in "-_+"
        or _FORBIDDEN.search(name)
        or name != name.lower()
        or len(name.encode()) > _MAX_NAME_BYTES
    ):
        raise InputError(
            f"An index cannot be named {name!r}. Choose a name in lower case, of at most {_MAX_NAME_BYTES} bytes, "
            'without spaces and \\ / * ? " < > | , # : and not beginning with - _ or +.'
        )
    return name


def _mappings(name: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    settings = body.get("settings") or {}
    unknown = sorted(set(body) - {"mappings", "settings"})
    if "analysis" in settings or "analysis" in settings.get("index", {}):
        unknown.append("settings.analysis")
    if unknown:
        raise EngineError(
            f"The embedded engine cannot create the index {name!r} with {unknown!r}. "
            "Leave it out; supported: mappings, and settings without analysis."
        )
    mappings: Mapping[str, Any] = body.get("mappings") or {}
    return mappings


def _exists(name: str) -> IndexStateError:
    return IndexStateError(
        f"There is already an index {name!r}. Add to its mapping, choose another name, or delete it."
    )
