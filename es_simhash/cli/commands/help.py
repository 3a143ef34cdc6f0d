"""``es-simhash help``: help for verbs, for connections and for shells."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from es_simhash.cli.options.connection import CONNECTION, ConnectionOption

_SHELLS = ("bash", "zsh", "fish")


@click.command(name="help")
@click.argument("topic", required=False, metavar="[VERB|connection|completion]")
@click.argument("shell", required=False, type=click.Choice(_SHELLS))
@click.pass_context
def command(ctx: click.Context, topic: str | None, shell: str | None) -> None:
    """Show help for a verb, list the connection options, or print the script that completes commands in a shell.

    Example: es-simhash help completion bash >> ~/.bashrc
    """
    if (topic == "completion") != (shell is not None):
        raise click.UsageError(f"Write help completion SHELL, with one of {', '.join(_SHELLS)}.")
    if shell:
        click.echo(_completion(shell))
    else:
        click.echo(connection_help(ctx) if topic == "connection" else _verb(ctx, topic))


def _verb(ctx: click.Context, name: str | None) -> str:
    from es_simhash.cli.program import app

    parent = ctx.parent or click.Context(app, info_name="es-simhash")
    if name is None:
        return app.get_help(parent)
    found = app.get_command(parent, name)
    if found is None:
        raise click.UsageError(f"There is no help for {name!r}. Choose a verb (see: es-simhash help), or connection.")
    return found.get_help(click.Context(found, info_name=name, parent=parent))


def connection_help(ctx: click.Context) -> str:
    """Format the help for the connection options."""
    formatter = ctx.make_formatter()
    formatter.write_text(
        "Connection options stand before the verb or after it; the one after it wins. Without --url, --cloud-id and "
        "--profile, ES_SIMHASH_URL, ELASTICSEARCH_URL or OPENSEARCH_URL names the server, else the embedded engine "
        "works in .es-simhash. Profiles have the same settings."
    )
    records = [
        option.record(ctx) if isinstance(option, ConnectionOption) else option.get_help_record(ctx)
        for option in CONNECTION
    ]
    with formatter.section("Connection options"):
        formatter.write_dl([record for record in records if record])
    return formatter.getvalue().rstrip()


def _completion(shell: str) -> str:
    from es_simhash.cli.program import app

    completion = get_completion_class(shell)
    assert completion
    return completion(app, {}, "es-simhash", "_ES_SIMHASH_COMPLETE").source()
