"""The folder of a gate's state: one process at a time, and one index for ever."""

from __future__ import annotations

import json
import os
from pathlib import Path

from es_simhash._core.json_codec import parse_json
from es_simhash._core.json_paths import Json
from es_simhash.engines.embedded.storage import durable_files
from es_simhash.errors import InUseError, StorageError

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]

_LOCK, _OWNER, _JOURNAL, _REJECTED = "lock", "gate.json", "journal", "rejected.jsonl"


class StateFolder:
    """A folder that is locked until it is closed; on Windows nothing keeps a second process out."""

    def __init__(self, path: Path, owner: Json) -> None:
        self.path = path
        self._descriptor: int | None = None
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._lock()
            self._check(owner)
        except OSError as error:
            self.close()
            if isinstance(error, StorageError):
                raise
            raise StorageError(
                f"The folder {str(path)!r} cannot hold a gate's state: {error.strerror}. Name another one by --state."
            ) from error
        except BaseException:
            self.close()
            raise

    @property
    def journal(self) -> Path:
        """The file of the journal."""
        return self.path / _JOURNAL

    @property
    def rejected(self) -> Path:
        """The file of what the journal held and no gate can use."""
        return self.path / _REJECTED

    def close(self) -> None:
        """Let other processes have the folder."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _lock(self) -> None:
        self._descriptor = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        if fcntl is None:
            return
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InUseError(
                f"Another gate uses the folder {str(self.path)!r}. Stop it first, or name another folder by --state."
            ) from None

    def _check(self, owner: Json) -> None:
        """Note whose folder it is, or refuse that of another index."""
        file = self.path / _OWNER
        if not file.exists():
            durable_files.replace(file, json.dumps(owner).encode())
            return
        try:
            found = parse_json(file.read_bytes())
        except ValueError:
            found = None
        if found != owner:
            raise StorageError(
                f"The folder {str(self.path)!r} holds the state of another gate: {found}, not {owner}. "
                "Name another folder by --state."
            )
