"""The indices in a directory: each is a directory of its own, named as the index is.

Names keep to Elasticsearch's rules, which allow nothing that a file system would take for something else.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

from es_simhash.engines.embedded.index import EmbeddedIndex
from es_simhash.engines.embedded.mapping.index_mapping import IndexMapping
from es_simhash.engines.embedded.storage import check_files, durable_files, failures, mapping_file
from es_simhash.errors import EngineError, IndexStateError, InputError, MissingError
from es_simhash.plans.operations import FilesChecked

_FORBIDDEN = re.compile(r'[\\/*?"<>|\s,#:\x00-\x1f]')
_MAX_NAME_BYTES = 255
# Directories of indices that are being made, or taken away; no index can be named so.
_UNFINISHED = "_"


class Catalog:
    """The indices of a directory, opened when they are first used."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._open: dict[str, EmbeddedIndex] = {}

    def find(self, name: str) -> EmbeddedIndex | None:
        """The index of a name, if there is one."""
        index = self._open.get(name)
        if index and index.is_current():
            return index
        self._open.pop(name, None)
        try:
            self._open[name] = EmbeddedIndex(name, self._directory / check_name(name))
        except (FileNotFoundError, NotADirectoryError):
            return None
        return self._open[name]

    def one(self, name: str) -> EmbeddedIndex:
        """The index of a name, which stands for one only."""
        if "*" in name or "," in name:
            raise IndexStateError(f"{name!r} may stand for several indices, and one is needed. Name one.")
        if index := self.find(name):
            return index
        raise self._missing(name)

    def _missing(self, name: str) -> MissingError:
        return MissingError(
            f"There is no index {name!r} in {str(self._directory)!r}. "
            "Create it, or look whether the name and the directory are right."
        )

    def all(self, names: str) -> list[EmbeddedIndex]:
        """The indices that a name, a pattern with ``*``, or a list of them with commas stands for."""
        found: dict[str, EmbeddedIndex] = {}
        for name in names.split(","):
            several = self._matching(name)
            indices = [self.one(name)] if several is None else filter(None, map(self.find, several))
            found.update({index.name: index for index in indices})
        if not found:
            raise self._missing(names)
        return list(found.values())

    def check(self, names: str) -> list[FilesChecked]:
        """Look at the files of the same indices, whether they can be opened or not."""
        each = dict.fromkeys(name for part in names.split(",") for name in self._matching(part) or [check_name(part)])
        found = [self._directory / name for name in each if (self._directory / name / mapping_file.NAME).exists()]
        if not found:
            raise self._missing(names)
        return [check_files.check(directory) for directory in found]

    def _matching(self, pattern: str) -> list[str] | None:
        """The names of a pattern, those that begin with a dot only if it does, too; None if it is no pattern."""
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
        """Make a new index."""
        target = self._directory / check_name(name)
        mapping = IndexMapping.of(_mappings(name, body))
        if self.find(name):
            raise _exists(name)
        unfinished = self._unfinished()
        try:
            unfinished.mkdir(parents=True)
            EmbeddedIndex.create(unfinished, mapping)
            # What is renamed is there whole, or not at all.
            unfinished.rename(target)
        except (ValueError, OSError) as error:
            shutil.rmtree(unfinished, ignore_errors=True)
            if target.exists():
                raise _exists(name) from None
            raise failures.unwritable(target, error) from error
        durable_files.sync_names(self._directory)
        return self.one(name)

    def delete(self, name: str) -> None:
        """Take away an index and its documents."""
        index = self.one(name)
        index.acquire()
        unfinished = self._unfinished()
        try:
            index.directory.rename(unfinished)
        except OSError as error:
            raise failures.unwritable(index.directory, error) from error
        del self._open[name]
        index.store.give_up_writing()
        shutil.rmtree(unfinished)

    def _unfinished(self) -> Path:
        return self._directory / f"{_UNFINISHED}{uuid4().hex}"

    def close(self) -> None:
        """Close all indices that were opened."""
        with ExitStack() as closing:
            while self._open:
                _, index = self._open.popitem()
                closing.callback(index.close)


def check_name(name: str) -> str:
    """The name, if an index can have it."""
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
            "Leave it out; what can be given is mappings, and settings without analysis."
        )
    mappings: Mapping[str, Any] = body.get("mappings") or {}
    return mappings


def _exists(name: str) -> IndexStateError:
    return IndexStateError(
        f"There is already an index {name!r}. Add to its mapping, choose another name, or delete it."
    )
