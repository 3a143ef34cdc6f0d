"""The state of a gate in its folder: the journal, and what was set aside of it.

**The journal** has what the gate said yes to, on disk before the yes leaves: a file of records, appended and never
changed. A record has the length of its payload and the CRC-32 of it, four bytes each, little-endian; the payload is a
JSON list of events, deflated. Each record is written at once, so a process that is killed, or a machine that loses its
power, leaves at most the last one torn: it is cut off when the journal is opened next. Nobody was answered by it.
Damage before a whole record is an error. A journal that has grown to twice what is still needed is replaced by one with
just that.

**What no gate can use** of it is put into a file, so that the gate goes on. A line of JSON each: the ``reason``, the
document's ``id`` and the ``record``. Anything not Unicode, or not an event, is a text of JSON; anything else one of
base64; what is nested too deeply to be written has its id alone.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from es_simhash._core.batches import chunks
from es_simhash._core.json_codec import Json, parse_json
from es_simhash.engines.embedded import durable_files
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


_HEAD = struct.Struct("<II")
# More costs time, and saves little of a text.
_LEVEL = 1
# Events that are deflated together when a journal is rewritten.
_TOGETHER = 100
# Below this, a journal is not rewritten.
_SMALL = 1 << 20
# Deflated data begins with this.
_DEFLATED = b"\x78"
# A payload is at most this long, and its JSON; a longer one is not a payload.
_LONGEST = 1 << 30
# If the system can, it leaves the times of the file out, which nobody reads.
_sync = getattr(os, "fdatasync", os.fsync)


class Journal:
    """A journal that is open for appending; ``events`` are those that it had when it was opened.

    Unless it ``syncs``, a record is safe from the end of the process, not from that of the machine.
    """

    def __init__(self, path: Path, syncs: bool = True) -> None:
        self.path = path
        self._syncs = syncs
        # How many documents were accepted since the journal was rewritten.
        self._accepted = 0
        self._file: IO[bytes] | None = None
        try:
            self._open()
        except StorageError:
            self.close()
            raise
        except OSError as error:
            self.close()
            raise _unwritable(path, error) from error

    def _open(self) -> None:
        # Without a buffer, nothing of a record that could not be written can come later.
        self._file = self.path.open("ab", buffering=0)
        self.size = end_of_records(self.path)
        if self._file.tell() > self.size:
            self._file.truncate(self.size)

    def events(self, reject: Callable[[Any, str], object] = lambda record, reason: None) -> Iterator[Json]:
        """Read all events from the beginning; ``reject`` gets what is none, or the payload that holds none, and why."""
        accepted = 0
        for payload in _payloads(self.path):
            try:
                found = _decoded(payload)
            except (ValueError, zlib.error) as error:
                reject(payload, f"Not a list of events as deflated JSON: {error}.")
                continue
            for event in found:
                if not isinstance(event, dict):
                    reject(event, f"An event is an object, not {type(event).__name__}.")
            events = [event for event in found if isinstance(event, dict)]
            accepted += _accepted_in(events)
            yield from events
        self._accepted = accepted

    def append(self, events: Sequence[Json], *, durable: bool = True) -> None:
        """Append a record; it is on disk when this returns, unless it need not be ``durable``."""
        if not events:
            return
        assert self._file
        record = _record(events)
        try:
            done = 0
            while done < len(record):
                done += self._file.write(record[done:]) or 0
            if durable and self._syncs:
                _sync(self._file.fileno())
        except BaseException as error:
            # What may have been written of it goes.
            self._file.truncate(self.size)
            if isinstance(error, OSError):
                raise _unwritable(self.path, error) from error
            raise
        self.size += len(record)
        self._accepted += _accepted_in(events)

    def is_overgrown(self, remembered: int) -> bool:
        """Return whether the journal has grown enough to be rewritten for as many documents as are remembered."""
        return self.size > _SMALL + 2 * self.size * remembered / max(1, self._accepted)

    def replace(self, events: Iterable[Json]) -> None:
        """Rewrite the journal with these events alone; they may be read from this one."""
        assert self._file
        new, accepted = self.path.with_suffix(".new"), 0
        try:
            with new.open("wb") as file:
                for _, some in chunks(events, _TOGETHER):
                    file.write(_record(some))
                    accepted += _accepted_in(some)
                file.flush()
                os.fsync(file.fileno())
            os.replace(new, self.path)
            self._file.close()
            self._open()
            self._accepted = accepted
        except OSError as error:
            new.unlink(missing_ok=True)
            raise _unwritable(self.path, error) from error

    def close(self) -> None:
        """Close the file."""
        if self._file:
            self._file.close()


def end_of_records(path: Path) -> int:
    """Return where the whole records of a journal end; damage before the last one is an error."""
    end = 0
    for payload in _payloads(path):
        end += _HEAD.size + len(payload)
    return end


def _record(events: Sequence[Json]) -> bytes:
    text = json.dumps(list(events), ensure_ascii=False, separators=(",", ":"), default=str)
    payload = zlib.compress(text.encode("utf-8", "surrogatepass"), _LEVEL)
    return _HEAD.pack(len(payload), zlib.crc32(payload)) + payload


def _accepted_in(events: Iterable[Json]) -> int:
    return sum("gone" not in event for event in events)


def _decoded(payload: bytes) -> list[Any]:
    text = zlib.decompressobj().decompress(payload, _LONGEST)
    found = parse_json(text.decode("utf-8", "surrogatepass"))
    if not isinstance(found, list):
        raise ValueError(f"it is {type(found).__name__}")
    return found


def _payloads(path: Path) -> Iterator[bytes]:
    """Yield the payloads of whole records; the last may be torn."""
    length = path.stat().st_size
    with path.open("rb") as file:
        while len(head := file.read(_HEAD.size)) == _HEAD.size:
            size, checksum = _HEAD.unpack(head)
            start, rest = file.tell(), length - file.tell()
            payload = file.read(size) if 0 < size <= min(rest, _LONGEST) else b""
            if payload and zlib.crc32(payload) == checksum:
                yield payload
                continue
            # Torn, if the rest was not written or is still empty.
            file.seek(start)
            if 0 < len(payload) < rest or _has_record(file.read()):
                raise StorageError(
                    f"The journal {str(path)!r} is damaged at byte {start - _HEAD.size:,}. Restore it from a copy; or "
                    "move it away: the gate then forgets what it accepted and the index does not show."
                )
            return


def _has_record(data: bytes) -> bool:
    """Return whether a whole record begins anywhere."""
    place = data.find(_DEFLATED, _HEAD.size)
    while place >= 0:
        size, checksum = _HEAD.unpack_from(data, place - _HEAD.size)
        if 0 < size <= len(data) - place and zlib.crc32(memoryview(data)[place : place + size]) == checksum:
            return True
        place = data.find(_DEFLATED, place + 1)
    return False


def _unwritable(path: Path, error: OSError) -> StorageError:
    return StorageError(
        f"The journal {str(path)!r} cannot be written: {error.strerror}. Nothing was accepted. Make room, or correct "
        "its permissions; the gate goes on by itself."
    )


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
