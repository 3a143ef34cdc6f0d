"""URLs of servers, and directories of the embedded engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import click

from es_simhash._core.urls import is_url
from es_simhash.cli.options.setting_origins import URL_PASSWORD, URL_USER
from es_simhash.errors import InputError


@dataclass(frozen=True)
class Server:
    """A server's address, and the login settings in its URL."""

    address: str
    login: Mapping[str, str] = field(default_factory=dict, repr=False)


def is_server(place: str) -> bool:
    """Return whether a place is the URL of a server; refuse what is neither that nor a directory."""
    try:
        return is_url(place)
    except InputError as error:
        raise click.UsageError(str(error)) from None


def server_at(url: str) -> Server:
    """Split a URL into an address, always with a port, and a login."""
    from es_simhash.engines import connect_url

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
    """Return the address of a deployment in Elastic Cloud."""
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
