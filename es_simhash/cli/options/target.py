"""The engine that connection options, a profile and the environment name."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from es_simhash._core.environment import API_KEY, PASSWORD, PROFILE, URLS
from es_simhash.cli.options.logins import PASSWORDS, WAYS, Login, login_at
from es_simhash.cli.options.setting_origins import Given, deployment, is_server, profile_named, server_at
from es_simhash.cli.show import log
from es_simhash.cli.show.output import Output

if TYPE_CHECKING:
    from es_simhash.engines.base import Engine
    from es_simhash.index import Index

DEFAULT_DIRECTORY = ".es-simhash"
_DEFAULT = "the default"

_PLACES = ("url", "cloud_id")
_TLS = ("ca_certs", "insecure")
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


def target_of(options: Given, variables: Mapping[str, str]) -> Target:
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


def _deliberate(options: Given, variables: Mapping[str, str]) -> list[Given]:
    """Return the command line, and the profile if it applies: a target overrides a default profile."""
    chosen = options.one_of((*_PLACES, "profile"), "targets")
    profile = options.values["profile"] if chosen == "profile" else variables.get(PROFILE)
    if chosen in _PLACES or not profile:
        return [options]
    return [options, profile_named(profile, variables)]


def _environment(variables: Mapping[str, str]) -> Given:
    """Return the settings of environment variables, except empty ones."""
    names = {"api_key": API_KEY, "password": PASSWORD}
    if url := next((name for name in URLS if variables.get(name)), None):
        names["url"] = url
    values = {setting: variables.get(name) or None for setting, name in names.items()}
    return Given.of(values, names.__getitem__)


def _embedded(directory: str, source: str, origins: Sequence[Given]) -> Target:
    target = Target(directory, source)
    *deliberate, _ = origins
    if idle := [name for origin in deliberate for name in origin.names(_FOR_SERVERS)]:
        raise click.UsageError(
            f"{' and '.join(idle)} would be for a server, but this is {target.description}. "
            f"Drop {'it' if len(idle) == 1 else 'them'}, or name a server with --url."
        )
    return target


def _tls(address: str, origins: Sequence[Given]) -> Mapping[str, Any]:
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


def _distribution(cloud_id: str | None, login: Login | None, origins: Sequence[Given]) -> str | None:
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
