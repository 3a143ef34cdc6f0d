"""What a journal holds and no gate can use: put into a file beside it, with the reason, so that the gate goes on.

A line of JSON each: the ``reason``, the document's ``id`` and the ``record``. What is not Unicode, or no event, is a
text of JSON, and what is not JSON one of base64; what is nested too deeply to be written has its id alone.
"""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from es_simhash.errors import EngineError, InputError, StorageError
from es_simhash.gate.pending import Key

_READ = 1 << 20


class SetAside:
    """The file, which is made when it is needed; ``count`` is the number of its lines."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.count = _lines_in(path)

    def add(self, records: Iterable[tuple[Any, str]]) -> None:
        """Add events, or payloads that hold none, each with the reason; they are on disk when this returns."""
        lines = [_line(record, reason) for record, reason in records]
        if not lines:
            return
        try:
            with self.path.open("ab") as file:
                file.write(b"".join(lines))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise _unusable(self.path, error) from error
        self.count += len(lines)


def answered(ask: Callable[[Sequence[Key]], Iterable[Key]], keys: Sequence[Key], refused: dict[Key, str]) -> list[Key]:
    """Return what the engine answers about some documents of an index.

    Those for whose sake it refuses the question for good, and not the same one about another id, are ``refused``.
    """
    try:
        return list(ask(keys))
    except (EngineError, InputError) as error:
        if not is_for_good(error):
            raise
        if len(keys) == 1:
            list(ask([(keys[0][0], token_urlsafe())]))
            refused[keys[0]] = str(error)
            return []
    half = len(keys) // 2
    return answered(ask, keys[:half], refused) + answered(ask, keys[half:], refused)


def is_for_good(error: EngineError | InputError) -> bool:
    """Return whether a request was refused for what is in it, so that it will be again."""
    return isinstance(error, InputError) or (type(error) is EngineError and error.is_of_request)


def _line(record: Any, reason: str) -> bytes:
    try:
        return _encoded({"reason": reason, **_shown(record)})
    except RecursionError:
        action = record.get("action") if isinstance(record, dict) else None
        return _encoded({"reason": reason, "id": str(action.get("_id")) if isinstance(action, dict) else None})


def _shown(record: Any) -> dict[str, Any]:
    if isinstance(record, bytes):
        return {"record": b64encode(record).decode()}
    try:
        json.dumps(record, ensure_ascii=False, allow_nan=False).encode()
        return {"id": record["action"]["_id"], "record": record}
    except (ValueError, TypeError, KeyError):
        return {"record": json.dumps(record)}


def _encoded(form: dict[str, Any]) -> bytes:
    return json.dumps(form).encode() + b"\n"


def _lines_in(path: Path) -> int:
    try:
        with path.open("rb") as file:
            return sum(part.count(b"\n") for part in iter(lambda: file.read(_READ), b""))
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise _unusable(path, error) from error


def _unusable(path: Path, error: OSError) -> StorageError:
    return StorageError(
        f"The file {str(path)!r}, for what the gate cannot use of its journal, cannot be read and written: "
        f"{error.strerror}. Make room, or correct its permissions; then start the gate again."
    )
