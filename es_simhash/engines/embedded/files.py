"""The files of an index: written durably, sealed when closed, and checked when opened."""

from __future__ import annotations

import json
import os
import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias
from zlib import crc32

from es_simhash._core.json_codec import parse_json
from es_simhash.engines.embedded import durable_files
from es_simhash.engines.embedded.mapping import IndexMapping
from es_simhash.errors import IndexStateError
from es_simhash.plans.operations import Damage, FilesChecked

# ---- the mapping, which is replaced atomically

MAPPING = "mapping.json"
_FORMAT = 1
# The file ends with the CRC-32 of what precedes it; files of older versions have none.
_SUM = re.compile(rb', "crc": (\d+)}\Z')
Stamp: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True)
class StoredMapping:
    """A mapping, and the identity of its index: a new index of the same name has another."""

    identity: str
    mapping: IndexMapping


def mapping_stamp(directory: Path) -> Stamp:
    """Return a value that changes whenever the mapping is written."""
    stat = os.stat(os.path.join(directory, MAPPING))  # quicker than by Path, which each request would notice
    return stat.st_ino, stat.st_mtime_ns, stat.st_size


def read_mapping(directory: Path) -> StoredMapping:
    """Read the mapping as last written."""
    path = directory / MAPPING
    try:
        return load_mapping(path)
    except DamagedError as error:
        raise IndexStateError(
            f"The mapping in {str(path)!r} cannot be read: {error}. "
            "Restore the file from a copy, or read the index with the version of es_simhash that wrote it."
        ) from error


def load_mapping(path: Path) -> StoredMapping:
    """Read the mapping in a file; raise `DamagedError` if it is damaged or missing."""
    content = path.read_bytes()
    try:
        stored = parse_json(content)
        if sum_ := _SUM.search(content):
            is_as_written = int(sum_[1]) == crc32(content[: sum_.start()])
        else:
            is_as_written = stored.keys() == {"format", "identity", "mapping"}
        if not is_as_written:
            raise ValueError("checksum mismatch")
        if stored["format"] != _FORMAT:
            raise ValueError(f"it has the format {stored['format']!r}, not {_FORMAT}")
        return StoredMapping(stored["identity"], IndexMapping(stored["mapping"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedError(str(error)) from error


def write_mapping(directory: Path, stored: StoredMapping) -> None:
    """Replace the mapping, durably."""
    values = {"format": _FORMAT, "identity": stored.identity, "mapping": stored.mapping.body}
    text = json.dumps(values, ensure_ascii=False).removesuffix("}").encode()
    durable_files.replace(directory / MAPPING, text + b', "crc": %d}' % crc32(text))


# ---- the seal, which shows that an index was closed properly
#
# It is removed before the first write, and restored on closing. So without a seal, a process is writing, or the last
# writer was killed. It holds, for each segment file, the CRC-32 of its footer, which contains that of the rest; for
# each other file, the CRC-32 of all of it. Its last line is the CRC-32 of the lines before.

SEAL = "seal"


@dataclass(frozen=True)
class Seal:
    """The number of the last commit, and the checksum of each file."""

    opstamp: int
    sums: Mapping[str, int]

    def fits(self, directory: Path) -> bool:
        """Return whether the list of segments is unchanged."""
        return self.sums[META] == crc32((directory / META).read_bytes())

    def is_outdated(self, directory: Path) -> bool:
        """Return whether a version without seals has committed since; raise `DamagedError` if that is unknown.

        Every commit has another number, and other files.
        """
        return self.opstamp != _meta(directory)["opstamp"] and {*living_files(directory)} != self.sums.keys() - {
            META,
            LIST,
        }


def seal(directory: Path) -> None:
    """Write the checksums of the files, durably."""
    sums = {name: crc32((directory / name).read_bytes()) for name in (META, LIST)}
    for name in living_files(directory):
        with (directory / name).open("rb") as file:
            sums[name] = crc32(_footer(file))
    content = json.dumps({"opstamp": _meta(directory)["opstamp"], "sums": sums}, indent=0, sort_keys=True).encode()
    durable_files.replace(directory / SEAL, content + _last_line(content))


def unseal(directory: Path) -> None:
    """Mark the index as being written."""
    try:
        (directory / SEAL).unlink()
    except FileNotFoundError:
        return
    # Otherwise it might reappear after a power cut, with other files.
    durable_files.sync_names(directory)


def load_seal(path: Path) -> Seal:
    """Read the seal of an index; raise `DamagedError` if it is damaged."""
    content, newline, last = path.read_bytes().rpartition(b"\n")
    if newline + last != _last_line(content):
        raise DamagedError("checksum mismatch")
    match _parsed(content):
        case {"opstamp": int() as number, "sums": dict() as sums} if {META, LIST} <= sums.keys():
            return Seal(number, sums)
    raise DamagedError("unexpected structure")


def _last_line(content: bytes) -> bytes:
    return f"\n{crc32(content)}".encode()


# ---- the tantivy library's files: its list of segments, and the checksums at the ends of segment files
#
# The list is replaced with every commit; each has a higher ``opstamp``. A segment file is written once, and ends with a
# footer: a JSON object whose ``crc`` is the CRC-32 of everything before it, then the length of this JSON and a magic
# number, each with 32 bits, little-endian.

META = "meta.json"
# The files that the library created, and so may remove.
LIST = ".managed.json"


def living_files(directory: Path) -> list[str]:
    """Return the files of all segments of the last commit; others are obsolete, or belong to the next commit."""
    try:
        segments = [_names(segment) for segment in _meta(directory)["segments"]]
    except (KeyError, TypeError, AttributeError):
        raise DamagedError("unexpected structure") from None
    return sorted(
        name
        for name in os.listdir(directory)
        for stem, deletes in segments
        if name.startswith(stem) and (not name.endswith(".del") or name == deletes)
    )


def _names(segment: dict[str, Any]) -> tuple[str, str]:
    """Return the stem of a segment's files, and the name of its file of deleted documents."""
    stem = segment["segment_id"].replace("-", "") + "."
    return stem, f"{stem}{segment['deletes']['opstamp']}.del" if segment["deletes"] else ""


def _meta(directory: Path) -> dict[str, Any]:
    meta = _parsed((directory / META).read_bytes())
    if not isinstance(meta, dict) or not isinstance(meta.get("opstamp"), int):
        raise DamagedError("opstamp missing")
    return meta


_END = struct.Struct("<II")
_MAGIC = 1337
# Real footers have about a hundred bytes.
_MAX_LENGTH = 50_000
_CHUNK = 1 << 20


class DamagedError(Exception):
    """A damaged file; the message gives the symptom."""


def verify_footer(path: Path) -> bytes:
    """Read a whole file and return its footer; raise `DamagedError` if the checksum does not match."""
    with path.open("rb") as file:
        end = _footer(file)
        try:
            expected = parse_json(end[: -_END.size])["crc"]
        except (ValueError, KeyError, TypeError):
            raise DamagedError("unreadable footer") from None
        left = file.seek(0, 2) - len(end)
        file.seek(0)
        found = 0
        while left:
            chunk = file.read(min(_CHUNK, left))
            if not chunk:
                raise DamagedError("truncated while it was read")
            found, left = crc32(chunk, found), left - len(chunk)
    if found != expected:
        raise DamagedError(f"its checksum is {found}, and {expected} was written")
    return end


def _footer(file: BinaryIO) -> bytes:
    """Return the whole footer of a file; raise `DamagedError` if it has none."""
    size = file.seek(0, 2)
    if size < _END.size:
        raise DamagedError(f"it has only {size} bytes")
    file.seek(size - _END.size)
    length, magic = _END.unpack(file.read(_END.size))
    if magic != _MAGIC or length > min(_MAX_LENGTH, size - _END.size):
        raise DamagedError("unexpected end of file")
    file.seek(size - _END.size - length)
    return file.read(length + _END.size)


# ---- checks that files are undamaged

# Number of attempts, since a writer may remove files while they are read.
_TRIES = 10

# These describe the other files, and are created again.
_NOT_NEEDED = (SEAL, LIST)


_CHANGED = "changed since the index was closed"


def check_unless_sealed(directory: Path, is_own: bool = False) -> None:
    """Raise for a damaged file of an index that its last writer did not close; ``is_own`` means that we write.

    For a properly closed index only the list of segments is compared, which has no checksum of its own.
    """
    if _is_sealed(directory) or (not is_own and durable_files.is_claimed(directory)):
        return
    if damaged := _checked(directory, everything=False).damaged:
        # This raises if another process has just deleted the index.
        directory.stat()
        raise _damage_error(directory, damaged[0])


def check(directory: Path) -> FilesChecked:
    """Read all files of an index, and compare them with their checksums."""
    return _checked(directory, everything=True)


def _is_sealed(directory: Path) -> bool:
    """Return whether an index was closed properly; raise if its list of segments has changed since."""
    sealed = _seal_of(directory)
    if sealed is None or sealed.fits(directory):
        return sealed is not None
    raise _damage_error(directory, Damage(directory.name, META, _CHANGED))


def _seal_of(directory: Path) -> Seal | None:
    """Return the seal; None if it is missing, damaged or outdated."""
    try:
        sealed = load_seal(directory / SEAL)
    except (FileNotFoundError, DamagedError):
        return None
    try:
        return None if sealed.is_outdated(directory) else sealed
    except FileNotFoundError:
        return None
    except DamagedError:
        return sealed


def _damage_error(directory: Path, damage: Damage) -> IndexStateError:
    return IndexStateError(
        f"The file {str(directory / damage.file)!r} of an index is damaged: {damage.reason}. "
        "Restore the index from a copy, or delete its directory and load the documents again."
    )


def _checked(directory: Path, everything: bool) -> FilesChecked:
    """Return the result of the checks; repeat them if files were removed in the meantime."""
    for _ in range(_TRIES - 1):
        before = _content(directory / META)
        checked = _checked_once(directory, everything)
        if not checked.damaged or before == _content(directory / META):
            return checked
    return _checked_once(directory, everything)


def _checked_once(directory: Path, everything: bool) -> FilesChecked:
    sealed = _seal_of(directory) if everything else None
    checks = _checks(directory, sealed, everything)
    size, damaged = 0, []
    for name, check in checks.items():
        path = directory / name
        is_needed = name not in _NOT_NEEDED
        try:
            size += path.stat().st_size
            content = check(path)
            if sealed and isinstance(content, bytes) and sealed.sums.get(name, crc32(content)) != crc32(content):
                raise DamagedError(_CHANGED)
        except FileNotFoundError:
            damaged.append(Damage(directory.name, name, "missing", is_needed))
        except DamagedError as error:
            damaged.append(Damage(directory.name, name, str(error), is_needed))
    return FilesChecked(len(checks), size, damaged)


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _checks(directory: Path, sealed: Seal | None, everything: bool) -> dict[str, Callable[[Path], object]]:
    """Return the check of each file, which may return what the seal has the checksum of."""
    checks: dict[str, Callable[[Path], object]] = {}
    if everything:
        checks[MAPPING] = load_mapping
        described = {SEAL: load_seal, LIST: _list_content}
        checks |= {name: check for name, check in described.items() if (directory / name).exists()}
    try:
        names = set(living_files(directory))
    except (FileNotFoundError, DamagedError):
        # The check of the list itself reports this.
        names = set()
    if sealed and sealed.fits(directory):
        names |= sealed.sums.keys() - {META, LIST}
    return {**checks, META: _meta_content, **dict.fromkeys(sorted(names), verify_footer)}


def _meta_content(path: Path) -> bytes:
    living_files(path.parent)
    return path.read_bytes()


def _list_content(path: Path) -> bytes:
    content = path.read_bytes()
    _parsed(content)
    return content


def _parsed(content: bytes) -> Any:
    try:
        return parse_json(content)
    except ValueError as error:
        raise DamagedError(f"not JSON: {error}") from None
