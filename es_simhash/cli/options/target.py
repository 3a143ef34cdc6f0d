"""The engine that options, a profile and the environment name, and how to log in there.

A profile is a table of named settings in a TOML file of the user:

    [profiles.production]
    url = "https://search.example.com"
    user = "indexer"
    password_file = "production.password"
    ca_certs = "ca.pem"

Settings have the names of the options. Paths are relative to the file's directory.
"""

from __future__ import annotations

import base64
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from es_simhash._core.environment import API_KEY, CONFIG, CONFIG_HOME, PASSWORD, PROFILE, URLS
from es_simhash._core.urls import is_url
from es_simhash.cli.show import output as log
from es_simhash.cli.show.output import Output
from es_simhash.errors import InputError

if TYPE_CHECKING:
    from es_simhash.engines.base import Engine
    from es_simhash.index import Index


DEFAULT_DIRECTORY = ".es-simhash"
_DEFAULT = "the default"

_PLACES = ("url", "cloud_id")
_TLS = ("ca_certs", "insecure")

# The settings for the user and the password in a URL.
URL_USER, URL_PASSWORD = "url_user", "url_password"

USERS = ("user", URL_USER)
WAYS = (*USERS, "api_key", "api_key_file", "aws_sigv4")
PASSWORDS = ("password", URL_PASSWORD, "password_file")

_FOR_SERVERS = (*WAYS, *PASSWORDS, *_TLS, "distribution")


@dataclass(frozen=True)
class Target:
    """The engine of a command: ``place`` is a server's address or a directory, ``source`` what named it."""

    place: str
    source: str
    distribution: str | None = None
    login: Login | None = None
    tls: Mapping[str, Any] = field(default_factory=dict)

    @property
    def description(self) -> str:
        """The engine and what named it, without any secret."""
        kind = "the server" if self.place.startswith(("http://", "https://")) else "the embedded engine in"
        return f"{kind} {self.place} ({self.source}){f', {self.login.who}' if self.login else ''}"

    def connect(self, run_id: str | None = None) -> Engine:
        """Connect to the engine, whose slow logs and tasks name the run; ask for a password that was not given."""
        from es_simhash.engines.connect import connect

        login = self.login.options() if self.login else {}
        named = {"opaque_id": run_id} if is_server(self.place) else {}
        return connect(self.place, distribution=self.distribution, **login, **self.tls, **named)  # type: ignore[arg-type]

    def announce(self, output: Output) -> None:
        """Print which engine is used, and warn if its certificate is not checked."""
        output.note(f"Using {self.description}.", event="engine", engine=self.place)
        if self.tls.get("verify_certs") is False:
            log.write(
                "warning",
                "warning",
                f"Warning: the certificate of {self.place} is not checked (insecure): anyone in between can read "
                "and change everything. Name the right certificates with --ca-certs instead.",
            )

    @contextmanager
    def opened(self, output: Output) -> Iterator[Engine]:
        """Announce the engine, connect to it, and close it afterwards."""
        self.announce(output)
        from es_simhash.errors import MissingError

        engine = output.run.engine(self.connect(output.run.id), self.place)
        try:
            yield engine
        except MissingError as error:
            if self.source != _DEFAULT or "no document" in str(error):
                raise
            remedy = f"No server is named, so the embedded engine in {self.place} was asked: name yours with --url."
            raise MissingError(f"{error} {remedy}") from error
        finally:
            engine.close()

    @contextmanager
    def index(self, output: Output, name: str, **known: Any) -> Iterator[Index]:
        """Open an index of the engine for the block; ``known`` are the keywords of `Index`."""
        from es_simhash.index import Index

        with explaining_a_file(name), self.opened(output) as engine:
            yield Index(name, engine, **known)


@contextmanager
def explaining_a_file(name: str) -> Iterator[None]:
    """Say what is for files, if there is no index of this name, but a file."""
    from es_simhash.errors import InputError, MissingError

    try:
        yield
    except (InputError, MissingError) as error:
        has_no_index = "cannot be named" in str(error) or (
            isinstance(error, MissingError) and "no document" not in str(error)
        )
        if has_no_index and Path(name).is_dir():
            raise MissingError(f"{error} To read the files in the directory of this name, write {name}/.") from error
        if not has_no_index or not Path(name).is_file():
            raise
        file = shlex.quote(name)
        raise InputError(
            f"{name} is a file, and no index has this name. To find the near-duplicates in a file: es-simhash try "
            f"{file}, or es-simhash dedup {file}. To compare two of its documents: es-simhash explain {file} ID ID. To "
            f"search it, load it into an index first: es-simhash load INDEX {file}"
        ) from error


def target_of(options: OriginSettings, variables: Mapping[str, str]) -> Target:
    """Return the target that the command line names, else a profile, the environment, or the default."""
    origins = [*_deliberate(options, variables), _environment(variables)]
    named = next((origin for origin in origins if origin.one_of(_PLACES, "targets")), None)
    if named is None:
        return _embedded(DEFAULT_DIRECTORY, _DEFAULT, origins)
    if "cloud_id" in named.values:
        server, source = deployment(named.values["cloud_id"]), named.name("cloud_id")
    elif is_server(named.values["url"]):
        server, source = server_at(named.values["url"]), named.name("url")
    else:
        return _embedded(named.values["url"], named.name("url"), origins)
    # A login in a URL is for this URL only, so that of an unused variable is not sent.
    origins = [origin.with_values(**server.login) if origin is named else origin for origin in origins]
    *deliberate, environment = origins
    login = login_at(server.address, deliberate, environment)
    distribution = _distribution(source if "cloud_id" in named.values else None, login, origins)
    return Target(server.address, source, distribution, login, _tls(server.address, origins))


def _deliberate(options: OriginSettings, variables: Mapping[str, str]) -> list[OriginSettings]:
    """Return the command line, and the profile if it applies: a target overrides a default profile."""
    chosen = options.one_of((*_PLACES, "profile"), "targets")
    profile = options.values["profile"] if chosen == "profile" else variables.get(PROFILE)
    if chosen in _PLACES or not profile:
        return [options]
    return [options, profile_named(profile, variables)]


def _environment(variables: Mapping[str, str]) -> OriginSettings:
    """Return the settings of environment variables, except empty ones."""
    names = {"api_key": API_KEY, "password": PASSWORD}
    if url := next((name for name in URLS if variables.get(name)), None):
        names["url"] = url
    values = {setting: variables.get(name) or None for setting, name in names.items()}
    return OriginSettings.of(values, names.__getitem__)


def _embedded(directory: str, source: str, origins: Sequence[OriginSettings]) -> Target:
    target = Target(directory, source)
    *deliberate, _ = origins
    if idle := [name for origin in deliberate for name in origin.names(_FOR_SERVERS)]:
        raise click.UsageError(
            f"{' and '.join(idle)} would be for a server, but this is {target.description}. "
            f"Drop {'it' if len(idle) == 1 else 'them'}, or name a server with --url."
        )
    return target


def _tls(address: str, origins: Sequence[OriginSettings]) -> Mapping[str, Any]:
    """Return the options for the server's certificate that differ from the defaults."""
    for origin in origins:
        way = origin.one_of(_TLS, "ways to check certificates")
        if way is None:
            continue
        if address.startswith("http://"):
            raise click.UsageError(
                f"{origin.name(way)} is about certificates, and {address} has none. Write https://, or drop it."
            )
        if way == "insecure":
            return {"verify_certs": False, "ssl_show_warn": False}
        return {"ca_certs": _checked_certificates(origin.values[way])}
    return {}


def _checked_certificates(path: str) -> str:
    """Return the path of a file with certificates; refuse one that cannot be read as such."""
    import ssl

    try:
        ssl.create_default_context(cafile=path)
    except OSError:
        raise click.UsageError(
            f"{path} cannot be read as certificates. Name a file with certificates as PEM."
        ) from None
    return path


def _distribution(cloud_id: str | None, login: Login | None, origins: Sequence[OriginSettings]) -> str | None:
    """Return the distribution of the server, if settings name it; refuse contradictions."""
    named = {cloud_id: "elasticsearch"} if cloud_id else {}
    if login and login.distribution:
        named[login.source] = login.distribution
    if origin := next((origin for origin in origins if "distribution" in origin.values), None):
        named[origin.name("distribution")] = origin.values["distribution"]
    if len(set(named.values())) > 1:
        raise click.UsageError(
            f"{', but '.join(f'{name} is for {what}' for name, what in named.items())}. Drop one of them."
        )
    return next(iter(named.values()), None)


# Characters of a secret in a file. Tokens have a few thousand at most.
_LONGEST = 1 << 16

Options = Mapping[str, Any]


@dataclass(frozen=True)
class Login:
    """A login: a description, the setting it comes from, and the options for a client.

    The options are secret, and made only with the client: a password may have to be asked for. ``distribution`` is set
    if only one distribution has such a login.
    """

    who: str
    source: str
    options: Callable[[], Options] = field(repr=False)
    distribution: str | None = None


def login_at(address: str, deliberate: Sequence[OriginSettings], environment: OriginSettings) -> Login | None:
    """Return the login for a server, from the first deliberate origin that has one, else from the environment.

    A password comes from the origin of its user, or from the environment; else it is asked for.
    """
    for origin in (*deliberate, environment):
        way = origin.one_of(WAYS, "ways to log in")
        password = origin.one_of(PASSWORDS, "passwords")
        if password and way not in USERS and origin is not environment:
            raise click.UsageError(f"{origin.name(password)} is there without a user. Name the user too, or drop it.")
        if way:
            return _login(way, origin, environment, address)
    return None


def _login(way: str, origin: OriginSettings, environment: OriginSettings, address: str) -> Login:
    name, value = origin.name(way), origin.values[way]
    match way:
        case "api_key":
            return Login(f"with {name}", name, lambda: _by_api_key(value, name))
        case "api_key_file":
            return Login(f"with {name}", name, lambda: _by_api_key(secret_in(value), value))
        case "aws_sigv4":
            return Login(f"with {name}", name, lambda: _by_signatures(value, address), "opensearch")
    if not value or ":" in value:  # as in user:password, so it is not repeated
        raise click.UsageError(
            f"{name[0].upper()}{name[1:]} is empty or contains a colon, which no user name does. "
            "Give the name alone, and the password by ES_SIMHASH_PASSWORD or --password-file."
        )

    def by_password() -> Options:
        # Not by the clients' own options: opensearch-py accepts Latin-1 only. Undecodable bytes are sent unchanged.
        password = _password(value, address, origin, environment)
        return _authorized("Basic", f"{value}:{password}".encode(errors="surrogateescape"))

    return Login(f"as {value}", name, by_password)


def _by_api_key(key: str, name: str) -> Options:
    if not re.fullmatch("[!-~]+", key):
        raise click.UsageError(f"{name} is not an API key. Give the key as the engine encoded it, or as ID:KEY.")
    if ":" in key:
        return _authorized("ApiKey", key.encode())
    return {"headers": {"authorization": f"ApiKey {key}"}}


def _authorized(scheme: str, login: bytes) -> Options:
    """Return a header, which both clients send; their own options differ."""
    return {"headers": {"authorization": f"{scheme} {base64.b64encode(login).decode()}"}}


def _by_signatures(region: str, address: str) -> Options:
    from es_simhash.errors import MissingExtraError

    try:
        import boto3
        from botocore.exceptions import BotoCoreError
        from opensearchpy import Urllib3AWSV4SignerAuth
    except ImportError as error:
        raise MissingExtraError(str(error.name), "aws") from None
    try:
        credentials = boto3.Session().get_credentials()
    except BotoCoreError as error:
        raise click.UsageError(
            f"The AWS credentials cannot be read: {str(error).rstrip('.')}. Correct that in the environment or ~/.aws."
        ) from None
    if credentials is None:
        raise click.UsageError(
            "boto3 finds no AWS credentials. "
            "Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run: aws configure"
        )
    return {"http_auth": Urllib3AWSV4SignerAuth(credentials, region, aws_service(address))}


def aws_service(address: str) -> str:
    """Return the service to sign requests for: OpenSearch Serverless (aoss), or a domain (es)."""
    return "aoss" if ".aoss." in str(urlsplit(address).hostname) else "es"


def _password(user: str, address: str, *origins: OriginSettings) -> str:
    for origin in origins:
        match origin.one_of(PASSWORDS, "passwords"):
            case None:
                continue
            case "password_file":
                return secret_in(origin.values["password_file"])
            case kind:
                return str(origin.values[kind])
    if not sys.stdin.isatty():
        raise click.UsageError(
            f"The password of {user} is missing, and without a terminal nobody can be asked for it. "
            "Set ES_SIMHASH_PASSWORD, or name a file that holds it with --password-file."
        )
    return str(click.prompt(f"Password for {user} at {address}", hide_input=True, err=True))


def secret_in(path: str) -> str:
    """Read the only line of a file."""
    try:
        with open(path, encoding="utf-8") as file:
            secret = file.read(_LONGEST + 2).rstrip("\r\n")
    except UnicodeDecodeError:
        secret = ""
    if not 0 < len(secret) <= _LONGEST or "\n" in secret:
        raise click.UsageError(f"{path} is not one line of text. Write the secret into it, and nothing else.")
    return secret


_PARTS_OF_URLS = {URL_USER: "user", URL_PASSWORD: "password"}


@dataclass(frozen=True)
class OriginSettings:
    """The settings of one origin, by option name; their repr hides them, as some are secret.

    ``named`` returns the name of a setting there: ``--api-key`` or ``ES_SIMHASH_API_KEY``.
    """

    values: Mapping[str, Any] = field(repr=False)
    named: Callable[[str], str] = field(repr=False)

    @classmethod
    def of(cls, values: Mapping[str, Any], named: Callable[[str], str]) -> OriginSettings:
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

    def with_values(self, **values: Any) -> OriginSettings:
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


def profile_named(name: str, environment: Mapping[str, str]) -> OriginSettings:
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
    given = OriginSettings.of(profile, lambda setting: f"{setting} in {where}")
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
