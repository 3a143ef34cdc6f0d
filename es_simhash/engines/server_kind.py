"""Which kind of server answers at an address, asked without any client, since loading one takes a fifth of a second."""

from __future__ import annotations

from contextlib import closing
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from es_simhash._core.json_codec import parse_json

Distribution: TypeAlias = Literal["elasticsearch", "opensearch"]

# The seconds after which the server is left to a client, and how much of its answer is read.
_PATIENCE, _MOST = 2.0, 1 << 16


def apparent_kind(address: str) -> Distribution | None:
    """Return the kind that a server seems to be; None if it cannot be reached so, or does not show it.

    It is asked without credentials, and its certificate is not verified: a client does both before anything counts.
    """
    import ssl
    from http.client import HTTPConnection, HTTPException, HTTPSConnection

    parts = urlsplit(address)
    host, port = parts.hostname or "", parts.port
    if parts.scheme == "https":
        unverified = ssl.create_default_context()
        unverified.check_hostname, unverified.verify_mode = False, ssl.CERT_NONE
        connection: HTTPConnection = HTTPSConnection(host, port, timeout=_PATIENCE, context=unverified)
    else:
        connection = HTTPConnection(host, port, timeout=_PATIENCE)
    with closing(connection):
        try:
            connection.request("GET", f"{parts.path}/", headers={"accept": "application/json"})
            reply = connection.getresponse()
            return _kind_of(dict(reply.getheaders()), reply.read(_MOST))
        except (OSError, HTTPException, ValueError):
            return None


def speaks_tls(address: str) -> bool:
    """Return whether the server at an ``http://`` address begins TLS, where it may have broken off what was asked."""
    import socket
    import ssl

    parts = urlsplit(address)
    unverified = ssl.create_default_context()
    unverified.check_hostname, unverified.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            socket.create_connection((parts.hostname or "", parts.port or 80), timeout=_PATIENCE) as plain,
            unverified.wrap_socket(plain, server_hostname=parts.hostname),
        ):
            return True
    except OSError:
        return False


def _kind_of(headers: dict[str, str], body: bytes) -> Distribution | None:
    named = {name.lower(): value for name, value in headers.items()}
    if named.get("x-elastic-product") == "Elasticsearch":
        return "elasticsearch"
    # Without credentials, OpenSearch's security only names itself.
    if "opensearch" in named.get("www-authenticate", "").lower():
        return "opensearch"
    match parse_json(body):
        case {"version": {"distribution": "opensearch"}}:
            return "opensearch"
    return None
