"""Checks that the files of an index are undamaged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeAlias
from zlib import crc32

from es_simhash._core.json_codec import parse_json
from es_simhash.engines.embedded.storage import mapping_file, seal
from es_simhash.engines.embedded.storage.seal import Seal
from es_simhash.engines.embedded.storage.tantivy_files import LIST, META, DamagedError, living_files, verify_footer
from es_simhash.engines.embedded.storage.writer_claim import is_claimed
from es_simhash.errors import IndexStateError
from es_simhash.plans.operations import Damage, FilesChecked

# Number of attempts, since a writer may remove files while they are read.
_TRIES = 10

# These describe the other files, and are created again.
_NOT_NEEDED = (seal.NAME, LIST)

_CHANGED = "changed since the index was closed"

# The name of a file, and a check that raises `DamagedError`.
_Check: TypeAlias = tuple[str, Callable[[Path], object]]


def check_unless_sealed(directory: Path, is_own: bool = False) -> None:
    """Raise for a damaged file of an index that its last writer did not close; ``is_own`` means that we write.

    For a properly closed index only the list of segments is compared, which has no checksum of its own.
    """
    if _is_sealed(directory) or (not is_own and is_claimed(directory)):
        return
    if damaged := _checked(directory, _list_and_segments).damaged:
        # This raises if another process has just deleted the index.
        directory.stat()
        raise _error(directory, damaged[0])


def check(directory: Path) -> FilesChecked:
    """Read all files of an index, and compare them with their checksums."""
    return _checked(directory, _everything)


def _is_sealed(directory: Path) -> bool:
    """Return whether an index was closed properly; raise if its list of segments has changed since."""
    sealed = _seal_of(directory)
    if sealed is None or sealed.fits(directory):
        return sealed is not None
    raise _error(directory, Damage(directory.name, META, _CHANGED))


def _seal_of(directory: Path) -> Seal | None:
    """Return the seal; None if it is missing, damaged or outdated."""
    try:
        sealed = seal.load(directory / seal.NAME)
    except (FileNotFoundError, DamagedError):
        return None
    try:
        return None if sealed.is_outdated(directory) else sealed
    except FileNotFoundError:
        return None
    except DamagedError:
        return sealed


def _error(directory: Path, damage: Damage) -> IndexStateError:
    return IndexStateError(
        f"The file {str(directory / damage.file)!r} of an index is damaged: {damage.reason}. "
        "Restore the index from a copy, or delete its directory and load the documents again."
    )


def _checked(directory: Path, checks: Callable[[Path], Iterator[_Check]]) -> FilesChecked:
    """Return the result of the checks; repeat them if files were removed in the meantime."""
    for _ in range(_TRIES - 1):
        before = _content(directory / META)
        checked = _checked_once(directory, checks)
        if not checked.damaged or before == _content(directory / META):
            return checked
    return _checked_once(directory, checks)


def _checked_once(directory: Path, checks: Callable[[Path], Iterator[_Check]]) -> FilesChecked:
    files = size = 0
    damaged = []
    for name, check in checks(directory):
        path = directory / name
        files += 1
        is_needed = name not in _NOT_NEEDED
        try:
            size += path.stat().st_size
            check(path)
        except FileNotFoundError:
            damaged.append(Damage(directory.name, name, "missing", is_needed))
        except DamagedError as error:
            damaged.append(Damage(directory.name, name, str(error), is_needed))
    return FilesChecked(files, size, damaged)


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _everything(directory: Path) -> Iterator[_Check]:
    sealed = _seal_of(directory)
    yield mapping_file.NAME, mapping_file.load
    checks: tuple[_Check, ...] = ((seal.NAME, seal.load), (LIST, partial(_check_list, sealed)))
    yield from (each for each in checks if (directory / each[0]).exists())
    yield META, partial(_check_meta, sealed)
    yield from _segments(directory, sealed)


def _list_and_segments(directory: Path) -> Iterator[_Check]:
    yield META, partial(_check_meta, None)
    yield from _segments(directory, None)


def _segments(directory: Path, sealed: Seal | None) -> Iterator[_Check]:
    try:
        names = set(living_files(directory))
    except (FileNotFoundError, DamagedError):
        # The check of the list itself reports this.
        names = set()
    if sealed and sealed.fits(directory):
        names |= sealed.sums.keys() - {META, LIST}
    for name in sorted(names):
        yield name, partial(_check_segment, sealed)


def _check_segment(sealed: Seal | None, path: Path) -> None:
    _compare(sealed, path, verify_footer(path))


def _check_meta(sealed: Seal | None, path: Path) -> None:
    living_files(path.parent)
    _compare(sealed, path, path.read_bytes())


def _check_list(sealed: Seal | None, path: Path) -> None:
    content = path.read_bytes()
    try:
        parse_json(content)
    except ValueError as error:
        raise DamagedError(f"not JSON: {error}") from None
    _compare(sealed, path, content)


def _compare(sealed: Seal | None, path: Path, content: bytes) -> None:
    if sealed and sealed.sums.get(path.name, crc32(content)) != crc32(content):
        raise DamagedError(_CHANGED)
