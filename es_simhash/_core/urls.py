"""URLs of servers: which text is one, and its parts.

What a URL seems to hold is never repeated in a message: it may be a part of a password.
"""

from __future__ import annotations

import re
from urllib.parse import SplitResult, unquote, urlsplit

from es_simhash.errors import InputError

_URL = re.compile("https?://", re.IGNORECASE)
# Between the URLs of several nodes; in a password, a slash would be percent-encoded.
_BETWEEN = re.compile(r",\s*(?=https?://)", re.IGNORECASE)
# Meant as an address, but no directory: localhost:9200, user:password@host, https:/host, ftp://host.
_LIKE_AN_ADDRESS = re.compile(r"[^/\\]*[:@]")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


def is_url(place: str) -> bool:
    """Return whether a place is a URL and no directory; refuse what looks like an address, but is not a URL."""
    if _URL.match(place):
        return True
    if _LIKE_AN_ADDRESS.match(place) and not _DRIVE.match(place):
        raise InputError(
            "The URL begins with neither http:// nor https://. Write, say, http://localhost:9200, or put ./ before "
            "the name of a directory that has : or @ in it."
        )
    return False


def each_url(urls: str) -> list[str]:
    """Return the URLs in a list with commas, such as those of a cluster's nodes."""
    return _BETWEEN.split(urls)


def split_url(url: str) -> SplitResult | None:
    """Return the parts of a URL with a host; None if it cannot be read, as where its password has a ``/`` in it."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # is read here
    except ValueError:
        return None
    return parts if _URL.match(url) and parts.hostname and "@" not in parts.path else None


def origin(parts: SplitResult, port: int | None) -> str:
    """Return scheme, host and port, without credentials."""
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{port}" if port else "")


def without_logins(urls: str) -> str:
    """Return the URLs of a server's nodes without their logins, which are secrets; a directory as it is.

    >>> without_logins("https://bob:secret@a.example:9200,http://b.example")
    'https://a.example:9200,http://b.example'
    """
    if not _URL.match(urls):
        return urls
    parts = map(urlsplit, each_url(urls))
    return ",".join(each._replace(netloc=each.netloc.rpartition("@")[2]).geturl() for each in parts)


def credentials(url: str) -> tuple[str, str | None] | None:
    """Return the user and the password that a URL holds."""
    parts = urlsplit(url)
    if parts.username is None:
        return None
    return unquote(parts.username), None if parts.password is None else unquote(parts.password)
