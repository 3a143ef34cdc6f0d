"""Logging in: by user and password, by API key, or by signatures for AWS."""

from __future__ import annotations

import base64
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import click

from es_simhash.cli.options.setting_origins import URL_PASSWORD, URL_USER, Given

USERS = ("user", URL_USER)
WAYS = (*USERS, "api_key", "api_key_file", "aws_sigv4")
PASSWORDS = ("password", URL_PASSWORD, "password_file")
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


def login_at(address: str, deliberate: Sequence[Given], environment: Given) -> Login | None:
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


def _login(way: str, origin: Given, environment: Given, address: str) -> Login:
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


def _password(user: str, address: str, *origins: Given) -> str:
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
