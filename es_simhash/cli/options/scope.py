"""The options that say which pairs of documents count at all: within a field, across one, in a window of time."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from es_simhash.scheme.scope import Scope

Command = TypeVar("Command", bound=Callable[..., Any])


def scope_options(command: Command) -> Command:
    """Add the options of a scope; the command gets it as ``scope``, None without any of them."""

    @wraps(command)
    def with_scope(
        within: tuple[str, ...], across: tuple[str, ...], window: str | None, date: str | None, **given: Any
    ) -> Any:
        return command(scope=Scope.of(within, across, window, date), **given)

    date = click.option("--date", metavar="PATH", help="Field with the date that --window is for.")
    return _with_fields(date(with_scope))  # type: ignore[return-value]


def scope_options_by_date(command: Command) -> Command:
    """Add the options of a scope to a command whose ``--date``, as ``date_field``, has another use as well."""

    @wraps(command)
    def with_scope(
        within: tuple[str, ...], across: tuple[str, ...], window: str | None, date_field: str | None, **given: Any
    ) -> Any:
        scope = Scope.of(within, across, window, date_field if window else None)
        return command(scope=scope, date_field=date_field, **given)

    return _with_fields(with_scope)  # type: ignore[return-value]


def _with_fields(command: Command) -> Command:
    options = (
        click.option(
            "--within",
            multiple=True,
            metavar="PATH",
            help="Compare only documents with the same value in this field; repeatable.",
        ),
        click.option(
            "--across",
            multiple=True,
            metavar="PATH",
            help="Compare only documents with different values in this field; repeatable.",
        ),
        click.option(
            "--window",
            metavar="LENGTH",
            help="Compare only documents at most this far apart, such as 72h or 3d, by --date.",
        ),
    )
    for option in reversed(options):
        option(command)
    return command


def scope_value_option(command: Command) -> Command:
    """Add the values of a text in the fields of the scope; the command gets them as ``scope_values``, by field."""
    return click.option(
        "--scope-value",
        "scope_values",
        multiple=True,
        metavar="PATH=VALUE",
        callback=_values,
        help="A value that the text has in a field of the scope; repeatable.",
    )(command)


def _values(_context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for each in given:
        path, equals, value = each.partition("=")
        if not path or not equals:
            raise click.BadParameter(f"{each!r} does not name a field and its value. Write it as tenant=acme.")
        values.setdefault(path, []).append(value)
    return values


def policy_options(command: Command) -> Command:
    """Add what an index demands of every command: its scope, no scope, and when groups are made."""
    options = (
        click.option("--no-scope", is_flag=True, help="Remove the scope of the index; its documents stay."),
        click.option("--groups", type=click.Choice(["batch", "online"]), help="When groups are made."),
    )
    for option in reversed(options):
        option(command)
    return scope_options(command)
