"""Kibana, or OpenSearch Dashboards, as a second server next to the target of a command."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from es_simhash._core.urls import credentials
from es_simhash.cli.options.places import Server
from es_simhash.cli.options.setting_origins import URL_PASSWORD, URL_USER, Given
from es_simhash.cli.options.target import Target, target_of, target_with

if TYPE_CHECKING:
    from es_simhash.cli.reports.dashboards.kibana import Kibana

Command = TypeVar("Command", bound=Callable[..., Any])

KIBANA_URL = "--kibana-url"


@dataclass(frozen=True)
class KibanaTarget:
    """The address of Kibana, and its login."""

    kibana: Kibana
    server: Target

    def import_options(self) -> Mapping[str, Any]:
        """Return the keywords of an `Importer` for the login; ask for a password that was not given."""
        login, tls = self.server.login, self.server.tls
        options = login.options() if login else {}
        if login and "headers" not in options:
            raise click.UsageError(
                f"Kibana does not accept a login with {login.source}. Write the saved objects to a file with --output, "
                "and import that by hand."
            )
        return {
            "headers": options.get("headers") or {},
            "ca_certs": tls.get("ca_certs"),
            "insecure": tls.get("verify_certs") is False,
        }


kibana_url_option = click.option(
    KIBANA_URL, metavar="URL", help="Link groups to Kibana or OpenSearch Dashboards at this URL."
)


def kibana_options(command: Command) -> Command:
    """Add the options of Kibana; the command gets ``target`` and ``kibana``, or None."""

    @click.option(
        KIBANA_URL,
        metavar="URL",
        help="URL of Kibana or OpenSearch Dashboards, or of any page in the space or tenant.",
    )
    @wraps(command)
    def with_kibana(connection: Given, kibana_url: str | None, **given: Any) -> Any:
        target: Target | None
        if kibana_url is None:
            target, kibana = target_of(connection, os.environ), None
        else:
            target, kibana = _with_kibana(kibana_url, connection)
        return command(target=target, kibana=kibana, **given)

    return with_kibana  # type: ignore[return-value]


def _with_kibana(url: str, connection: Given) -> tuple[Target | None, KibanaTarget]:
    from es_simhash.cli.reports.dashboards.kibana import Kibana

    kibana = Kibana.at(url)
    user, password = credentials(url) or (None, None)
    login = {URL_USER: user, URL_PASSWORD: password or None}
    known = {name: value for name, value in login.items() if value is not None}
    target, server = target_with(Server(kibana.address, known), KIBANA_URL, connection, os.environ)
    return target, KibanaTarget(kibana, server)
