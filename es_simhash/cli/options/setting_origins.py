"""Settings with their origin: the command line, a profile, or the environment; and the places that they name.

A profile is a table of named settings in a TOML file of the user:

    [profiles.production]
    url = "https://search.example.com"
    user = "indexer"
    password_file = "production.password"
    ca_certs = "ca.pem"

Settings have the names of the options. Paths are relative to the file's directory.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from es_simhash._core.environment import CONFIG, CONFIG_HOME
from es_simhash._core.urls import is_url
from es_simhash.errors import InputError

# The settings for the user and the password in a URL.
URL_USER, URL_PASSWORD = "url_user", "url_password"
_PARTS_OF_URLS = {URL_USER: "user", URL_PASSWORD: "password"}


@dataclass(frozen=True)
class Given:
    """The settings of one origin, by option name; their repr hides them, as some are secret.

    ``named`` returns the name of a setting there: ``--api-key`` or ``ES_SIMHASH_API_KEY``.
    """

    values: Mapping[str, Any] = field(repr=False)
    named: Callable[[str], str] = field(repr=False)

    @classmethod
    def of(cls, values: Mapping[str, Any], named: Callable[[str], str]) -> Given:
        """Select the settings that were given; refuse empty ones."""
        for name, value in values.items():
            if value == "":
                raise click.UsageError(f"{named(name)} is empty. Give it a value, or leave it out.")
        return cls({name: value for name, value in values.items() if value is not None and value is not False}, named)

    def name(self, setting: str) -> str:
        """Return the name of a setting at its origin."""
        part = _PARTS_OF_URLS.get(setting)
        return f"the {part} in {self.named('url')}" if part else self.named(setting)

    def names(self, settings: Iterable[str]) -> list[str]:
        """Return the names of the settings that were given."""
        return [self.name(setting) for setting in settings if setting in self.values]

    def one_of(self, settings: Iterable[str], what: str) -> str | None:
        """Return the one of these settings that was given, if any; refuse several, called ``what``."""
        given = [setting for setting in settings if setting in self.values]
        if len(given) > 1:
            first, *others = self.names(given)
            raise click.UsageError(
                f"{first} and {' and '.join(others)} are {len(given)} {what}, and one is needed. "
                f"Drop {' and '.join(others)}, or else {first}."
            )
        return given[0] if given else None

    def with_values(self, **values: Any) -> Given:
        """Return a copy with some settings replaced or added."""
        return replace(self, values={**self.values, **values})


@dataclass(frozen=True)
class Server:
    """A server's address, and the login settings in its URL."""

    address: str
    login: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def with_login(cls, address: str, user: str | None, password: str | None) -> Server:
        """Return the server with what its URL has of a login."""
        login = {URL_USER: user, URL_PASSWORD: password or None}
        return cls(address, {name: value for name, value in login.items() if value is not None})


def is_server(place: str) -> bool:
    """Return whether a place is the URL of a server; refuse what is neither that nor a directory."""
    try:
        return is_url(place)
    except InputError as error:
        raise click.UsageError(str(error)) from None


def server_at(url: str) -> Server:
    """Split a URL into an address, always with a port, and a login."""
    from es_simhash.engines import connect

    try:
        server = connect.Server.at(url, {})
    except InputError:
        raise click.UsageError(
            "The URL cannot be read. Write it as https://HOST:PORT, and log in with --user, or with characters such as "
            "/ # ? @ in the password percent-encoded."
        ) from None
    return Server.with_login(server.address, *server.options.get("basic_auth", (None, None)))


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


# ---- profiles

DISTRIBUTIONS = ("elasticsearch", "opensearch")

# The settings of a profile, and the type of each.
SETTINGS: dict[str, type] = {
    "url": str,
    "cloud_id": str,
    "user": str,
    "password": str,
    "password_file": str,
    "api_key": str,
    "api_key_file": str,
    "aws_sigv4": str,
    "ca_certs": str,
    "insecure": bool,
    "distribution": str,
}
_PATHS = ("ca_certs", "password_file", "api_key_file")
_TYPE_NAMES = {str: "a string", bool: "true or false"}


def config_file(environment: Mapping[str, str]) -> Path:
    """Return the path in ES_SIMHASH_CONFIG, else the one in the user's configuration directory."""
    if own := environment.get(CONFIG):
        return Path(own)
    directory = environment.get(CONFIG_HOME)
    return (Path(directory) if directory else Path.home() / ".config") / "es-simhash" / "config.toml"


def profile_named(name: str, environment: Mapping[str, str]) -> Given:
    """Return the settings of a profile, with absolute paths; refuse one that cannot be used."""
    path = config_file(environment)
    text, is_private = _read(path)
    profiles = _parsed(text, path).get("profiles")
    profile = profiles.get(name) if isinstance(profiles, dict) else None
    if not isinstance(profile, dict):
        known = ", ".join(profiles) if isinstance(profiles, dict) else ""
        raise click.UsageError(
            f"{path} has no profile {name}{f', but {known}' if known else ''}. "
            f"Choose one that it has, or write a table [profiles.{name}]."
        )
    where = f"[profiles.{name}]"
    _check(profile, f"{where} in {path}")
    if not is_private and (secret := _secret_among(profile)):
        raise click.UsageError(
            f"{path} holds a secret, {secret} in {where}, and others than its owner may read it. "
            f"Run: chmod 600 {shlex.quote(str(path))}"
        )
    given = Given.of(profile, lambda setting: f"{setting} in {where}")
    return given.with_values(**_whole_paths(profile, path.parent))


def _read(path: Path) -> tuple[str, bool]:
    """Read a file; return its text, and whether only its owner may read it."""
    try:
        with path.open(encoding="utf-8") as file:
            mode = os.fstat(file.fileno()).st_mode
            return file.read(), os.name == "nt" or not mode & 0o077
    except FileNotFoundError:
        raise click.UsageError(
            f"No profiles: {path} does not exist. Write it, with a table [profiles.NAME], "
            f"or name another file in {CONFIG}."
        ) from None
    except UnicodeDecodeError:
        raise click.UsageError(f"{path} is not UTF-8. Convert it to this encoding.") from None


def _parsed(text: str, path: Path) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise click.UsageError(
            f"{path} is nested too deeply. Write a table [profiles.NAME] for each profile."
        ) from None
    except tomllib.TOMLDecodeError as error:
        # The message has only the position: the text may be a secret.
        place = re.search(r"\(at ([^()]+)\)$", str(error))
        where = place[1] if place else "some place"
    raise click.UsageError(f"{path} is not TOML: it cannot be read at {where}. Correct it there.")


def _check(profile: Mapping[str, Any], where: str) -> None:
    """Refuse unknown settings and wrong types; the messages do not repeat values, which may be secret."""
    if unknown := [setting for setting in profile if setting not in SETTINGS]:
        raise click.UsageError(f"{where} has {unknown[0]}, which is not known. Known are {', '.join(SETTINGS)}.")
    for setting, value in profile.items():
        if not isinstance(value, SETTINGS[setting]):
            kind = _TYPE_NAMES[SETTINGS[setting]]
            raise click.UsageError(f"{where} has a {setting} that is not {kind}. Write it as {kind}.")
    if profile.get("distribution", DISTRIBUTIONS[0]) not in DISTRIBUTIONS:
        raise click.UsageError(f"{where} has an unknown distribution. Choose {' or '.join(DISTRIBUTIONS)}.")
    if not {"url", "cloud_id"} & profile.keys():
        raise click.UsageError(f"{where} names no target. Give it a url (also of a directory), or a cloud_id.")


def _secret_among(profile: Mapping[str, Any]) -> str | None:
    """Return the setting that is itself a secret, if there is one."""
    if re.search("://.*:.*@", profile.get("url", "")):
        return "the password in url"
    return next((setting for setting in ("password", "api_key") if setting in profile), None)


def _whole_paths(profile: Mapping[str, Any], directory: Path) -> dict[str, str]:
    """Return the paths among the settings, resolved against the directory of the profiles."""
    paths = [setting for setting in _PATHS if setting in profile]
    if "url" in profile and not is_server(profile["url"]):
        paths.append("url")
    return {setting: str(directory / Path(profile[setting]).expanduser()) for setting in paths}
