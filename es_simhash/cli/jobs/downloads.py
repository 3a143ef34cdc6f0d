"""Files at an address, downloaded to read them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPResponse
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import URLError
from urllib.parse import unquote, urlsplit
from urllib.request import urlopen

from es_simhash._core.humanize import with_unit
from es_simhash.documents.files.formats import format_by_name
from es_simhash.errors import InputError

MOST_BYTES = 1 << 30
_SECONDS, _BLOCK = 60, 1 << 18


def is_file_at(place: str) -> bool:
    """Return whether this is the address of a file, by its name.

    >>> is_file_at("https://example.org/news.csv.gz"), is_file_at("http://localhost:9200/news")
    (True, False)
    """
    address = urlsplit(place)
    return address.scheme in ("http", "https") and format_by_name(address.path) is not None


@contextmanager
def downloaded(address: str) -> Iterator[str]:
    """Download a file; yield its path, which lasts as long as the block."""
    name = Path(unquote(urlsplit(address).path)).name
    with TemporaryDirectory(prefix="es-simhash-") as folder:
        path = Path(folder) / name
        try:
            with urlopen(address, timeout=_SECONDS) as response, path.open("wb") as file:
                file.writelines(_blocks(response, address))
        except URLError as error:
            raise InputError(f"{address} cannot be downloaded: {error.reason}. Check the address.") from None
        yield str(path)


def _blocks(response: HTTPResponse, address: str) -> Iterator[bytes]:
    left = MOST_BYTES
    while block := response.read(_BLOCK):
        left -= len(block)
        if left < 0:
            raise InputError(f"{address} has more than {with_unit(MOST_BYTES)}. Download it, and try the file.")
        yield block
