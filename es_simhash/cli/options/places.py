"""Places to work at: what the URL of a server is, and what a directory is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import click

from es_simhash.cli.options.given import URL_PASSWORD, URL_USER

# What somebody meant as an address, but no directory: localhost:9200, user:password@host, https:/host, ftp://host.
_LIKE_AN_ADDRESS = re.compile(r"[^/\\]*[:@]")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


@dataclass(frozen=True)
class Server:
    """A server's address, and the settings of a login that its URL held."""

    address: str
    login: Mapping[str, str] = field(default_factory=dict, repr=False)


def is_server(place: str) -> bool:
    """Whether a place is the URL of a server; what is neither that nor a directory is refused."""
    if re.match("https?://", place, re.IGNORECASE):
        return True
    if _LIKE_AN_ADDRESS.match(place) and not _DRIVE.match(place):
        # It may hold a password, so it is not repeated.
        raise click.UsageError(
            "The URL begins with neither http:// nor https://. Write, say, https://localhost:9200, or put ./ before "
            "the name of a directory that has : or @ in it."
        )
    return False


def server_at(url: str) -> Server:
    """A URL taken apart; the address has always a port."""
    from es_simhash.engines import connect_url
    from es_simhash.errors import InputError

    try:
        server = connect_url.Server.at(url, {})
    except InputError:
        raise click.UsageError(
            "The URL cannot be read. Write it as https://HOST:PORT, and log in with --user, or with characters such as "
            "/ # ? @ in the password percent-encoded."
        ) from None
    user, password = server.options.get("basic_auth", (None, None))
    login = {URL_USER: user, URL_PASSWORD: password or None}
    return Server(server.address, {name: value for name, value in login.items() if value is not None})


def deployment(cloud_id: str) -> Server:
    """The address of a deployment in Elastic Cloud."""
    from es_simhash.errors import MissingExtraError

    try:
        from elastic_transport.client_utils import parse_cloud_id
    except ImportError:
        raise MissingExtraError("elasticsearch", "elasticsearch") from None
    try:
        found = parse_cloud_id(cloud_id).es_address
    except ValueError:
        found = None
    if not found:
        raise click.UsageError(
            "The cloud ID cannot be read. Copy it from the page of the deployment; it is NAME:, and then letters and "
            "digits."
        )
    host, port = found
    return Server(f"https://{host}:{port}")
