"""Opening an index with the tantivy library, even where nothing can be written.

The library locks a file while it opens the others, so that none of them is removed before. On a read-only file
system, or in another user's directory, it receives a directory of links to them instead.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import mkdtemp

import tantivy

from es_simhash.engines.embedded.storage import system_errors
from es_simhash.engines.embedded.storage.tantivy_files import META
from es_simhash.errors import EngineError

# Number of attempts, since files may be removed while they are linked without a lock.
_TRIES = 10


def opened(directory: Path) -> tuple[tantivy.Index, bool]:
    """Open the index in a directory; return whether it is read-only, too."""
    try:
        return _with_lock(directory), False
    except (ValueError, OSError) as error:
        if not system_errors.is_forbidden(error):
            raise
    return _without_lock(directory), True


def _with_lock(directory: Path) -> tantivy.Index:
    index = tantivy.Index.open(str(directory))
    index.config_reader("manual")
    return index


def _without_lock(directory: Path) -> tantivy.Index:
    for _ in range(_TRIES - 1):
        before = (directory / META).read_bytes()
        try:
            return _by_links(directory)
        except (ValueError, FileNotFoundError):
            if before == (directory / META).read_bytes():
                raise
    return _by_links(directory)


def _by_links(directory: Path) -> tantivy.Index:
    """Open the index through links; its files stay open, so the links can go."""
    links = _temporary()
    try:
        # The library's locks and its list of files begin with a dot; a reader needs neither.
        for file in directory.glob("[!.]*"):
            if file.name == META:
                shutil.copyfile(file, links / META)
            else:
                (links / file.name).symlink_to(file.resolve())
        return _with_lock(links)
    finally:
        for _ in range(_TRIES):
            # A thread of the library may look for changes, and create a lock again, during the removal.
            shutil.rmtree(links, ignore_errors=True)
            if not links.exists():
                break


def _temporary() -> Path:
    try:
        return Path(mkdtemp(prefix="es-simhash-"))
    except OSError as error:
        raise EngineError(
            f"A read-only index is opened through a temporary directory, which cannot be created: {error}. "
            "Set TMPDIR to a directory that can be written."
        ) from error
